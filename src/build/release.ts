// Builds the files of a release into dist/release: the executable of every target, SHA256SUMS, and NOTES.md
// from CHANGELOG.md. It neither tags nor publishes; it prints the git commands that do. Run: `bun run
// release`.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { messageOf } from '../errors.ts'
import { VERSION } from '../version.ts'
import { compile } from './compile.ts'
import { ROOT } from './files.ts'
import { TARGETS, type Target } from './targets.ts'

const FOLDER = 'dist/release'

/** The file name of a version's executable for `target`. */
export const releaseName = (version: string, target: Target): string => `cloud-analytics-${version}-${target}`

/** The text below `## <version>` or `## <version> - <date>`; undefined without heading or text. */
export function notesOf(changelog: string, version: string): string | undefined {
  const [, ...sections] = changelog.split(/^## /m)
  for (const section of sections) {
    const [heading = '', ...lines] = section.split('\n')
    if (heading.trim().split(' ')[0] === version) return lines.join('\n').trim() || undefined
  }
  return undefined
}

/** A file's content, read in chunks: an executable has 140 MB. */
async function sha256Of(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256')
  for await (const chunk of Bun.file(path).stream()) hasher.update(chunk)
  return hasher.digest('hex')
}

/** The content of SHA256SUMS, in the form that `sha256sum --check` reads, by file name. */
export async function sumsOf(paths: readonly string[]): Promise<string> {
  const lines: string[] = []
  for (const path of [...paths].sort()) lines.push(`${await sha256Of(path)}  ${basename(path)}\n`)
  return lines.join('')
}

async function release(): Promise<string> {
  const changes = await Bun.$`git status --porcelain`.cwd(ROOT).text()
  if (changes !== '') throw new Error(`uncommitted changes:\n${changes.trimEnd()}`)
  const notes = notesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), VERSION)
  if (notes === undefined) throw new Error(`CHANGELOG.md has no section "## ${VERSION}" with text`)

  const folder = join(ROOT, FOLDER)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const executables: string[] = []
  for (const target of TARGETS) {
    const path = join(folder, releaseName(VERSION, target))
    await compile(target, path)
    executables.push(path)
  }
  writeFileSync(join(folder, 'NOTES.md'), `${notes}\n`)
  const sums = await sumsOf(executables)
  writeFileSync(join(folder, 'SHA256SUMS'), sums)
  return `${sums}
${FOLDER} is complete. To tag it and push the tag:
  git tag -a v${VERSION} --cleanup=whitespace -F ${FOLDER}/NOTES.md
  git push origin v${VERSION}
`
}

if (import.meta.main) {
  try {
    process.stdout.write(await release())
  } catch (error) {
    process.stderr.write(`release: ${messageOf(error)}\n`)
    process.exitCode = 1
  }
}
