import { expect, test } from 'bun:test'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installerOf, releaseName, releaseUrl } from '../../src/build/release.ts'
import { makeSbom } from '../../src/build/sbom.ts'
import { hostTarget, TARGETS } from '../../src/build/targets.ts'
import { testsFolder } from '../support/at-end.ts'

// Packs a release and installs it as a user would. The executable is a script that prints its arguments and exits
// with 7.

const ROOT = join(import.meta.dir, '../..')
const VERSION = '1.2.3'
const folder = testsFolder().path

const executable = join(folder, releaseName(VERSION, hostTarget()))
writeFileSync(executable, '#!/bin/sh\nprintf "%s|" "$@"\nexit 7\n')
chmodSync(executable, 0o755)
const sum = new Bun.CryptoHasher('sha256').update(readFileSync(executable)).digest('hex')
const sums = new Map(
  TARGETS.map((target) => [target as string, target === hostTarget() ? sum : '0'.repeat(64)]),
)
const fromFolder = { version: VERSION, url: `file://${folder}`, sums }

function runInstaller(text: string, bin: string) {
  writeFileSync(join(folder, 'install.sh'), text)
  const { exitCode, stdout, stderr } = Bun.spawnSync({ cmd: ['sh', join(folder, 'install.sh'), bin] })
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() }
}

test('the install script installs what it has the checksum of', () => {
  const bin = join(folder, 'a folder/bin')
  const installed = runInstaller(installerOf(fromFolder), bin)
  expect(installed).toEqual({
    code: 0,
    out: `${bin}/cloud-analytics\n`,
    err: `install.sh: ${bin} is not in PATH\n`,
  })
  const { exitCode, stdout } = Bun.spawnSync({ cmd: [join(bin, 'cloud-analytics'), 'a b'] })
  expect([exitCode, stdout.toString()]).toEqual([7, 'a b|'])
})

test('the install script refuses another file, and leaves nothing', () => {
  const bin = join(folder, 'refused')
  const text = installerOf({
    ...fromFolder,
    sums: new Map([...sums].map(([key]) => [key, 'f'.repeat(64)])),
  })
  const { code, err } = runInstaller(text, bin)
  expect([code, err]).toEqual([
    1,
    `install.sh: the download has not the SHA-256 ${'f'.repeat(64)}: nothing is installed\n`,
  ])
  expect([...new Bun.Glob('*').scanSync({ cwd: bin, dot: true })]).toEqual([])
})

test('the install script has a checksum for every file that it names', () => {
  const text = installerOf({ version: VERSION, url: 'https://files.example/v1', sums })
  expect(text).not.toMatch(/@[A-Z0-9_]+@/)
  expect(text).toContain('https://files.example/v1')
  expect(text).toContain(sum)
  expect(() => installerOf({ ...fromFolder, sums: new Map() })).toThrow('nothing for @SHA256_')
  expect(releaseUrl('https://files.example/v1/')).toBe('https://files.example/v1')
  expect(releaseUrl(undefined)).toBeUndefined()
  expect(() => releaseUrl('https://x/"; rm -rf /')).toThrow('--url must begin')
})

test('the bill of materials has every package of THIRD_PARTY_NOTICES, with the hash of the lock file', () => {
  const sbom: {
    components: { name: string; version: string; purl: string; hashes?: { content: string }[] }[]
  } = JSON.parse(makeSbom(VERSION))
  const listed = sbom.components.map(({ name, version }) => `${name} ${version}`)
  const notices = readFileSync(join(ROOT, 'THIRD_PARTY_NOTICES'), 'utf8')
  const labels = [...notices.matchAll(/^((?:@[\w.-]+\/)?[\w.-]+ \d+\.\d+\.\d+\S*) \(/gm)].map(
    ([, label]) => label,
  )
  expect(labels.length).toBeGreaterThan(30)
  expect(labels.filter((label) => !listed.includes(label ?? ''))).toEqual([])
  const lock = readFileSync(join(ROOT, 'bun.lock'), 'utf8')
  for (const { purl, hashes } of sbom.components) {
    if (!purl.startsWith('pkg:npm/')) continue
    expect(lock).toContain(`sha512-${Buffer.from(hashes?.[0]?.content ?? '', 'hex').toString('base64')}`)
  }
  expect(new Set(sbom.components.map(({ purl }) => purl)).size).toBe(sbom.components.length)
  // development tools are not in the executable
  expect(listed.some((label) => label.startsWith('typescript '))).toBe(false)
})
