import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { notesOf, releaseName, sumsOf } from '../../src/build/release.ts'
import { VERSION } from '../../src/version.ts'

const CHANGELOG = `# Changelog

## Unreleased

## 0.10.0 - 2026-12-24

- Ten.

### Fixed

- A heading of a lower level belongs to the section.

## 0.1.0 - 2026-11-22

- One.
`

test('notes are the section of the version, without its heading', () => {
  expect(notesOf(CHANGELOG, '0.1.0')).toBe('- One.')
  expect(notesOf(CHANGELOG, '0.10.0')).toBe(
    '- Ten.\n\n### Fixed\n\n- A heading of a lower level belongs to the section.',
  )
  expect(notesOf('## 2.0.0\n- Two.\n', '2.0.0')).toBe('- Two.')
})

test('a version without a section or without text has no notes', () => {
  expect(notesOf(CHANGELOG, '0.1')).toBeUndefined()
  expect(notesOf(CHANGELOG, '0.2.0')).toBeUndefined()
  expect(notesOf(CHANGELOG, 'Unreleased')).toBeUndefined()
  expect(notesOf('', '0.1.0')).toBeUndefined()
})

test('CHANGELOG.md has notes for the version of package.json', () => {
  const changelog = readFileSync(join(import.meta.dir, '../../CHANGELOG.md'), 'utf8')
  expect(notesOf(changelog, VERSION)).toStartWith('- ')
})

test('sums are those that sha256sum verifies', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cloud-analytics-release-'))
  try {
    const paths = (['linux-x64', 'linux-arm64'] as const).map((target) => {
      const path = join(folder, releaseName('0.1.0', target))
      writeFileSync(path, `the executable of ${target}`)
      return path
    })
    const sums = await sumsOf(paths, folder)
    expect(sums).toMatch(
      /^[0-9a-f]{64} {2}cloud-analytics-0\.1\.0-linux-arm64\n[0-9a-f]{64} {2}cloud-analytics-0\.1\.0-linux-x64\n$/,
    )
    writeFileSync(join(folder, 'SHA256SUMS'), sums)
    const check = Bun.spawnSync({ cmd: ['sha256sum', '--check', '--strict', 'SHA256SUMS'], cwd: folder })
    expect(check.exitCode).toBe(0)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
