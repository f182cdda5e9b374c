// Builds the files of a release into dist/release: the executable of every target, the bill of materials, SHA256SUMS, and
// NOTES.md from CHANGELOG.md; with `--url`, where they will be downloaded, also an install script. It neither tags nor publishes; it prints the commands that do. Run: `bun run release --url https://…`.
// `bun run release verify FOLDER` checks the files of a release.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf } from '../base/errors.ts'
import { VERSION } from '../base/version.ts'
import { compile } from './compile.ts'
import { ROOT } from './files.ts'
import { makeSbom } from './sbom.ts'
import { endingOf, TARGETS, type Target } from './targets.ts'

const FOLDER = 'dist/release'
const BILL = 'sbom.cdx.json'

export const releaseName = (version: string, target: Target): string =>
  `cloud-analytics-${version}-${target}${endingOf(target)}`

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

/** The content of SHA256SUMS, in the form that `sha256sum --check` reads, by the path below `folder`. */
export async function checksums(paths: readonly string[], folder: string): Promise<string> {
  const lines: string[] = []
  for (const path of [...paths].sort()) lines.push(`${await sha256Of(path)}  ${relative(folder, path)}\n`)
  return lines.join('')
}

/** The file of docs/deploy that a release fills in. */
const INSTALLER = 'install.sh'

interface Filling {
  version: string
  /** The address from which the executables can be downloaded, without a slash at the end. */
  url: string
  /** The SHA-256 of each executable in hex, by target. */
  sums: ReadonlyMap<string, string>
}

/** The text of the install script with its `@PLACEHOLDERS@` filled in. Throws for one that has no value. */
export function installerOf({ version, url, sums }: Filling): string {
  const values = new Map([
    ['VERSION', version],
    ['URL', url],
  ])
  for (const [target, sum] of sums) values.set(`SHA256_${target.toUpperCase().replaceAll('-', '_')}`, sum)
  return readFileSync(join(ROOT, 'docs/deploy', INSTALLER), 'utf8').replace(
    /@([A-Z0-9_]+)@/g,
    (_text, placeholder) => {
      const value = values.get(placeholder)
      if (value === undefined) throw new Error(`${INSTALLER}: nothing for @${placeholder}@`)
      return value
    },
  )
}

async function release(url: string | undefined): Promise<string> {
  const changes = await Bun.$`git status --porcelain`.cwd(ROOT).text()
  if (changes !== '') throw new Error(`uncommitted changes:\n${changes.trimEnd()}`)
  const notes = notesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), VERSION)
  if (notes === undefined) throw new Error(`CHANGELOG.md has no section "## ${VERSION}" with text`)

  const folder = join(ROOT, FOLDER)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const files: string[] = []
  const sums = new Map<string, string>()
  for (const target of TARGETS) {
    const path = join(folder, releaseName(VERSION, target))
    await compile(target, path, { isRelease: true })
    sums.set(target, await sha256Of(path))
    files.push(path)
  }
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    files.push(join(folder, name))
  }
  write(BILL, makeSbom(VERSION))
  if (url !== undefined) write(INSTALLER, installerOf({ version: VERSION, url, sums }))
  writeFileSync(join(folder, 'NOTES.md'), `${notes}\n`)
  const list = await checksums(files, folder)
  writeFileSync(join(folder, 'SHA256SUMS'), list)
  const missing = url === undefined ? `\nWithout --url there is no ${INSTALLER}.\n` : ''
  return `${list}
${FOLDER} is complete.${missing} To tag it and push the tag:
  git tag -a v${VERSION} --cleanup=whitespace -F ${FOLDER}/NOTES.md
  git push origin v${VERSION}
`
}

/** Files of a release that are not in its list: the list itself, and the text for its tag. */
const UNLISTED = ['SHA256SUMS', 'NOTES.md']

/** Finds problems of a release: files must match SHA256SUMS, and the bill of materials must be this commit's. */
export async function releaseProblems(folder: string): Promise<string[]> {
  const list = join(folder, 'SHA256SUMS')
  if (!existsSync(list)) return ['SHA256SUMS is missing']
  const names = [...new Bun.Glob('**/*').scanSync({ cwd: folder, dot: true })]
  const files = names.map((name) => name.replaceAll('\\', '/')).filter((name) => !UNLISTED.includes(name))
  const sumsIn = (text: string) =>
    new Map((text.match(/.+/g) ?? []).map((line) => [line.slice(66), line.slice(0, 64)]))
  const listed = sumsIn(readFileSync(list, 'utf8'))
  const sums = sumsIn(
    await checksums(
      files.map((name) => join(folder, name)),
      folder,
    ),
  )
  const problems = [...new Set([BILL, ...listed.keys(), ...sums.keys()])].flatMap((name) => {
    if (!listed.has(name)) return [`${name} is not in SHA256SUMS`]
    if (!sums.has(name)) return [`${name} is missing`]
    return listed.get(name) === sums.get(name) ? [] : [`${name} is another file than SHA256SUMS says`]
  })
  if (sums.has(BILL) && readFileSync(join(folder, BILL), 'utf8') !== makeSbom(VERSION))
    problems.push(`${BILL} is not the bill of materials of this commit (${VERSION})`)
  return problems.sort()
}

async function verify(folder: string): Promise<string> {
  const problems = await releaseProblems(folder)
  if (problems.length > 0) throw new Error(`${folder} is not this release:\n  ${problems.join('\n  ')}`)
  return `${folder}: every file is as SHA256SUMS says, and ${BILL} is that of this commit\n`
}

/** Undefined when it is not given. Throws unless it is an https URL. */
export function releaseUrl(url: string | undefined): string | undefined {
  if (url !== undefined && !/^https:\/\/[\w.:/@%+~-]+$/.test(url))
    throw new Error('--url must begin with https:// and have no spaces, quotes, ? or #')
  return url?.replace(/\/+$/, '')
}

if (import.meta.main) {
  try {
    const { values, positionals } = parseArgs({
      options: { url: { type: 'string' } },
      allowPositionals: true,
    })
    const [command, folder = FOLDER, ...others] = positionals
    if ((command !== undefined && command !== 'verify') || others.length > 0)
      throw new Error('release [--url URL], or release verify [FOLDER]')
    const done = command === 'verify' ? verify(folder) : release(releaseUrl(values.url))
    process.stdout.write(await done)
  } catch (error) {
    process.stderr.write(`release: ${messageOf(error)}\n`)
    process.exitCode = 1
  }
}
