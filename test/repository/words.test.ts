import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

// Comments are sentences, and one thing has one name: the glossary of CONTRIBUTING.md lists words that are not used.

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

/** Rows of the glossary's second table: words, and what is said instead. */
function bannedWords(): RegExp {
  const [, table = ''] = textOf('CONTRIBUTING.md').split('### Words that are not used\n')
  const rows = [...table.matchAll(/^\| (?!not\b|-)(.+?) \|/gm)].map(([, words = '']) => words.split(', '))
  expect(rows.length).toBeGreaterThan(8)
  return new RegExp(String.raw`(?<!\w)(?:${rows.flat().join('|').replaceAll('.', '\\.')})(?!\w)`, 'gi')
}

/** The text without code, in which a word may be a name. */
const withoutCode = (text: string) => text.replaceAll(/```[\s\S]*?```|`[^`]*`/g, '')

test('comments begin with a subject or a verb', () => {
  expect(comments.length).toBeGreaterThan(4_000)
  expect(comments.filter(({ text }) => NO_SENTENCE.test(text))).toEqual([])
})

test('comments and pages use the words of the glossary', () => {
  const banned = bannedWords()
  const pages = ['README.md', ...filesOf('docs/*.md')].map((place) => ({ place, text: textOf(place) }))
  const used = [...comments.filter(({ place }) => place.startsWith('src/')), ...pages].flatMap(
    ({ place, text }) => (withoutCode(text).match(banned) ?? []).map((word) => `${place}: ${word}`),
  )
  expect(used).toEqual([])
})
