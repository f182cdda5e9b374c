#!/bin/sh
# Installs cloud-analytics @VERSION@ for Linux or macOS:  sh install.sh [FOLDER]
# FOLDER is ~/.local/bin unless given. The download is compared with the SHA-256 that this script holds.
set -eu

version='@VERSION@'
from='@URL@'
folder=${1:-$HOME/.local/bin}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

case "$(uname -s)" in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) fail "there is no build for $(uname -s); for Windows see cloud-analytics-$version-windows-x64.exe" ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) cpu=x64 ;;
  arm64 | aarch64) cpu=arm64 ;;
  *) fail "there is no build for $(uname -m)" ;;
esac
target=$system-$cpu
# ldd of musl prints its name, on standard error
if [ "$system" = linux ] && ldd --version 2>&1 | grep -qi musl; then
  target=$target-musl
fi

case "$target" in
  linux-x64) sum=@SHA256_LINUX_X64@ ;;
  linux-arm64) sum=@SHA256_LINUX_ARM64@ ;;
  linux-x64-musl) sum=@SHA256_LINUX_X64_MUSL@ ;;
  linux-arm64-musl) sum=@SHA256_LINUX_ARM64_MUSL@ ;;
  darwin-x64) sum=@SHA256_DARWIN_X64@ ;;
  darwin-arm64) sum=@SHA256_DARWIN_ARM64@ ;;
esac

mkdir -p "$folder"
# beside the program, so that it gets its name in one step
file=$(mktemp "$folder/.cloud-analytics.XXXXXX")
trap 'rm -f "$file"' EXIT
curl --fail --location --silent --show-error --output "$file" "$from/cloud-analytics-$version-$target" ||
  fail "cannot download $from/cloud-analytics-$version-$target"
if command -v sha256sum >/dev/null; then
  actual=$(sha256sum "$file")
else
  actual=$(shasum -a 256 "$file")
fi
[ "${actual%% *}" = "$sum" ] || fail "the download has not the SHA-256 $sum: nothing is installed"
chmod 755 "$file"
mv -f "$file" "$folder/cloud-analytics"
echo "$folder/cloud-analytics"
case ":$PATH:" in
  *":$folder:"*) ;;
  *) echo "install.sh: $folder is not in PATH" >&2 ;;
esac
