import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// Comments are sentences, and one thing has one name.

const ROOT = join(import.meta.dir, '../..')
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const filesOf = (pattern: string) => [...new Bun.Glob(pattern).scanSync(ROOT)].sort()

/** A comment that begins with one of these has no main verb, unless it is a question. */
const NO_SENTENCE =
  /^(?:of|what|as|those|by|how|which|whose?|where|why|for|from|with|between|below|above|beyond|behind|likewise)\b(?!.*\?$)/i

interface Comment {
  /** `src/app.ts:73`. */
  place: string
  text: string
}

/** Comments that begin a line, as one text each: a block, or lines of `//` (`--` in SQL) that follow each other. */
function commentsOf(path: string): Comment[] {
  const line = path.endsWith('.sql') ? '--' : '//'
  const comments = new RegExp(
    String.raw`^[ \t]*(?:\{?/\*+([\s\S]*?)\*/|${line} ?(.*(?:\n[ \t]*${line}.*)*))`,
    'gm',
  )
  const source = textOf(path)
  return [...source.matchAll(comments)].map(({ 0: whole, 1: block, 2: lines = '', index }) => ({
    place: `${path}:${source.slice(0, index + whole.search(/\S/)).split('\n').length}`,
    text: (block ?? lines)
      .replaceAll(new RegExp(String.raw`\n[ \t]*(?:\*|${line})?`, 'g'), ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  }))
}

const comments = ['src', 'bench', 'test', 'clients/generate'].flatMap((folder) =>
  filesOf(`${folder}/**/*.{ts,tsx,css,sql}`)
    .filter((path) => path !== 'src/database/schema.sql')
    .flatMap(commentsOf),
)

/** Words that are not used, and what is said instead. */
const BANNED = [
  ['tenant', 'customer'], // organization
  ['own prices'], // built-in prices, or prices of `MODEL_PRICES`
  ['judge', 'judged'], // check, expire
  ['anew'], // again
  ['so many', 'so much'], // the number, the largest number
  ['told apart', 'tells apart', 'tell apart'], // distinguished
  ['lookup', 'canceled'], // look-up, cancelled
  ['blacklist', 'whitelist'], // deny list, allow list
  ['utilize', 'leverage'], // use
  ['simply', 'obviously', 'basically', 'seamless', 'robust'], // nothing: leave the word out
  ['e.g.', 'i.e.', 'etc.', 'via'], // for example, that is, and others, by
]

/** The text without code, in which a word may be a name. */
const withoutCode = (text: string) => text.replaceAll(/```[\s\S]*?```|`[^`]*`/g, '')

test('comments begin with a subject or a verb', () => {
  expect(comments.length).toBeGreaterThan(4_000)
  expect(comments.filter(({ text }) => NO_SENTENCE.test(text))).toEqual([])
})

test('comments and pages use no other words', () => {
  const words = BANNED.flat().join('|').replaceAll('.', '\\.')
  const banned = new RegExp(String.raw`(?<!\w)(?:${words})(?!\w)`, 'gi')
  const pages = ['README.md', ...filesOf('docs/*.md')].map((place) => ({ place, text: textOf(place) }))
  const used = [...comments.filter(({ place }) => place.startsWith('src/')), ...pages].flatMap(
    ({ place, text }) => (withoutCode(text).match(banned) ?? []).map((word) => `${place}: ${word}`),
  )
  expect(used).toEqual([])
})

test('files that comments name exist', () => {
  const wings = new Set(filesOf('src/*/**/*.ts').map((path) => path.split('/')[1]))
  const file = new RegExp(String.raw`\b(?:${[...wings].join('|')})/[\w/-]+\.(?:tsx?|sql)\b`, 'g')
  const missing = comments.flatMap(({ place, text }) =>
    (text.match(file) ?? []).flatMap((path) =>
      existsSync(join(ROOT, 'src', path)) ? [] : [`${place}: ${path}`],
    ),
  )
  expect(missing).toEqual([])
})

test('the glossary has at most 30 words, and src uses each of them', () => {
  const [, table = ''] = textOf('CONTRIBUTING.md').split('## Glossary\n')
  const words = [...table.matchAll(/^\| (?!word\b|-)(.+?) \|/gm)].map(([, word = '']) => word)
  expect(words.length).toBeGreaterThan(20)
  expect(words.length).toBeLessThanOrEqual(30)
  const source = filesOf('src/**/*.ts').map(textOf).join('\n')
  expect(words.filter((word) => !new RegExp(`\\b${word}`, 'i').test(source))).toEqual([])
})
