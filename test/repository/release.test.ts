import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VERSION } from '../../src/base/version.ts'
import { checksums, notesOf, releaseName, releaseProblems } from '../../src/build/release.ts'
import { makeSbom } from '../../src/build/sbom.ts'

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

test('CHANGELOG.md has notes for the version of package.json, or for the next one while it is made', () => {
  const changelog = readFileSync(join(import.meta.dir, '../../CHANGELOG.md'), 'utf8')
  expect(notesOf(changelog, VERSION.endsWith('-dev') ? 'Unreleased' : VERSION)).toStartWith('- ')
})

test('sums are those that sha256sum verifies', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cloud-analytics-release-'))
  try {
    const paths = (['linux-x64', 'linux-arm64'] as const).map((target) => {
      const path = join(folder, releaseName('0.1.0', target))
      writeFileSync(path, `the executable of ${target}`)
      return path
    })
    const sums = await checksums(paths, folder)
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

test('verify names what is missing, another file, too much, or another bill of materials', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cloud-analytics-release-'))
  const path = (name: string) => join(folder, name)
  const names = ['program', 'npm/program.tgz', 'sbom.cdx.json']
  try {
    expect(await releaseProblems(folder)).toEqual(['SHA256SUMS is missing'])
    await Bun.write(path('program'), 'one')
    await Bun.write(path('npm/program.tgz'), 'two')
    writeFileSync(path('sbom.cdx.json'), makeSbom(VERSION))
    writeFileSync(path('SHA256SUMS'), await checksums(names.map(path), folder))
    writeFileSync(path('NOTES.md'), '')
    expect(await releaseProblems(folder)).toEqual([])

    writeFileSync(path('program'), 'onE')
    rmSync(path('npm/program.tgz'))
    writeFileSync(path('more'), '')
    expect(await releaseProblems(folder)).toEqual([
      'more is not in SHA256SUMS',
      'npm/program.tgz is missing',
      'program is another file than SHA256SUMS says',
    ])
    const command = [process.execPath, join(import.meta.dir, '../../src/build/release.ts'), 'verify', folder]
    expect(Bun.spawnSync(command)).toMatchObject({ exitCode: 1 })

    for (const name of ['more', 'program']) rmSync(path(name))
    writeFileSync(path('sbom.cdx.json'), makeSbom('0.0.0'))
    writeFileSync(path('SHA256SUMS'), await checksums([path('sbom.cdx.json')], folder))
    expect(await releaseProblems(folder)).toEqual([
      `sbom.cdx.json is not the bill of materials of this commit (${VERSION})`,
    ])
    writeFileSync(path('sbom.cdx.json'), makeSbom(VERSION))
    writeFileSync(path('SHA256SUMS'), await checksums([path('sbom.cdx.json')], folder))
    expect(Bun.spawnSync(command)).toMatchObject({ exitCode: 0 })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
