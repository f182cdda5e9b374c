import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { printedDocument } from '../../clients/generate/clients.ts'
import { SCOPE_TABLE } from '../../src/accounts/keys/scopes.ts'

// The pages name files and link to each other; both must exist.

const ROOT = join(import.meta.dir, '../..')
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'patches/README.md',
  'src/dashboard/README.md',
  ...new Bun.Glob('docs/*.md').scanSync(ROOT),
]
const LINK = /\]\((?!https?:)([^)#]*)(#[^)]*)?\)/g
const PATH = /`((?:src|test|bench|docs|patches|\.ci)\/[\w./@-]+)`/g

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const anchorOf = (heading: string) =>
  `#${heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')}`

function brokenLinks(page: string): string[] {
  return [...textOf(page).matchAll(LINK)].flatMap(([link, path, anchor]) => {
    const target = path ? join(dirname(page), path) : page
    if (!existsSync(join(ROOT, target))) return [link]
    const headings = [...textOf(target).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading))
    return anchor === undefined || headings.includes(anchor) ? [] : [link]
  })
}

test('links of the pages lead somewhere', () => {
  expect(PAGES.flatMap((page) => brokenLinks(page).map((link) => `${page}: ${link}`))).toEqual([])
})

test('there are at most 21 pages', () => {
  expect(PAGES.filter((page) => page.startsWith('docs/')).length).toBeLessThanOrEqual(21)
})

test('each promise of docs/security.md names tests that exist', () => {
  const [, section = ''] = textOf('docs/security.md').split('## What is checked, by which test')
  const rows = section.split('\n## ')[0]?.match(/^\| (?!promise|---).*$/gm) ?? []
  expect(rows.length).toBeGreaterThan(20)
  for (const row of rows) {
    const tests = [...row.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path)
    expect([
      row,
      tests.filter((path) => !/^test\/.*\.test\.ts$/.test(path) || !existsSync(join(ROOT, path))),
    ]).toEqual([row, []])
    expect([row, tests.length > 0]).toEqual([row, true])
  }
})

test('files that the pages name exist', () => {
  const missing = PAGES.flatMap((page) =>
    [...textOf(page).matchAll(PATH)].flatMap(([, path = '']) =>
      existsSync(join(ROOT, path)) ? [] : [`${page}: ${path}`],
    ),
  )
  // docs/architecture.md names files below src
  for (const [, path = ''] of textOf('docs/architecture.md').matchAll(/\b((?:[a-z-]+\/)+[\w-]+\.tsx?)\b/g)) {
    if (!existsSync(join(ROOT, 'src', path))) missing.push(`docs/architecture.md: ${path}`)
  }
  // a name alone is that of a file beside one that was named
  const names = new Set(
    [...new Bun.Glob('src/**/*.{ts,tsx,sql}').scanSync(ROOT)].map((path) => basename(path)),
  )
  for (const [, name = ''] of textOf('docs/architecture.md').matchAll(/`([\w-]+\.(?:tsx?|sql))`/g))
    if (!names.has(name)) missing.push(`docs/architecture.md: ${name}`)
  expect(missing).toEqual([])
})

test('docs/access.md has the table of scopes', () => {
  const ofDevelopers = { have: 'has it, gives it', give: 'gives it' }
  const rows = SCOPE_TABLE.map(({ name, says, within, developers }) => [
    ...[`\`${name}\``, says, within === undefined ? '' : `\`${within}\``],
    developers === undefined ? '' : ofDevelopers[developers],
  ])
  const [, table = ''] = /\| scope \| .*\n.*\n((?:\|.*\n)+)/.exec(textOf('docs/access.md')) ?? []
  const cellsOf = (row: string) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
  expect(table.trimEnd().split('\n').map(cellsOf)).toEqual(rows)
})

test('docs/architecture.md says by what each table of sums is', () => {
  const [, table = ''] = /### Which sums have a figure\n([^#]*)/.exec(textOf('docs/architecture.md')) ?? []
  const tables = textOf('src/database/schema.sql').matchAll(/^create table (\w+_(?:rollups|facets)) /gm)
  const missing = [...tables].filter(([, name]) => !table.includes(`\`${name}\``))
  expect(missing.map(([, name]) => name)).toEqual([])
})

test('docs/api.md has each path below /v1 in a row, and names the lists that are sent as CSV', async () => {
  const { paths } = await printedDocument()
  const all = Object.keys(paths).filter((path) => path.startsWith('/v1/'))
  expect(all.length).toBeGreaterThan(40)
  const page = textOf('docs/api.md')
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  const missing = all.filter((path) => {
    const [resource = '', ...further] = path.slice('/v1/'.length).split('/')
    const own = rows.filter((row) => new RegExp(`/v1/${resource}(?![\\w-])`).test(row))
    const parts = further.filter((part) => !part.startsWith('{'))
    return own.length === 0 || parts.some((part) => !own.some((row) => row.includes(`/${part}`)))
  })
  expect(missing).toEqual([])
  const [, lists = ''] = /^With `Accept: text\/csv`, ([\s\S]*?) answer with/m.exec(page) ?? []
  const asCsv = all.filter((path) => paths[path]?.get?.description.includes('`Accept: text/csv`'))
  expect([...lists.matchAll(/`(.*?)`/g)].map(([, path]) => path).sort()).toEqual(asCsv.sort())
}, 180_000)
