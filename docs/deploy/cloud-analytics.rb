# Homebrew formula of cloud-analytics. `bun run release --url …` fills in version, address and checksums.
class CloudAnalytics < Formula
  desc "Analytics of AI coding sessions: quality, cost and security"
  homepage "@URL@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@URL@/cloud-analytics-@VERSION@-darwin-arm64"
      sha256 "@SHA256_DARWIN_ARM64@"
    end
    on_intel do
      url "@URL@/cloud-analytics-@VERSION@-darwin-x64"
      sha256 "@SHA256_DARWIN_X64@"
    end
  end

  on_linux do
    on_arm do
      url "@URL@/cloud-analytics-@VERSION@-linux-arm64"
      sha256 "@SHA256_LINUX_ARM64@"
    end
    on_intel do
      url "@URL@/cloud-analytics-@VERSION@-linux-x64"
      sha256 "@SHA256_LINUX_X64@"
    end
  end

  def install
    bin.install Dir["cloud-analytics-*"].first => "cloud-analytics"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/cloud-analytics --version")
  end
end
