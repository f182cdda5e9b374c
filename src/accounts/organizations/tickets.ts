import type { RE2JS } from 're2js'
import { memoize } from '../../base/memoize.ts'

/** Loaded at the first pattern: most threads and commands have none. */
const compile = (pattern: string): RE2JS =>
  (require('re2js') as typeof import('re2js')).RE2JS.compile(pattern)

// The form of tickets in branches and titles.

export const DEFAULT_TICKET_PATTERN = '[A-Z][A-Z0-9]{1,9}-[0-9]{1,7}'
/** Texts of that form that are no tickets; `*` at the end stands for anything. */
export const DEFAULT_TICKET_IGNORE: readonly string[] = [
  'UTF-8',
  'SHA-1',
  'SHA-256',
  'SHA-512',
  'ISO-8859',
  'RFC-*',
  'CVE-*',
]

/** Instructions of a compiled pattern: a search takes a step of each for a character of the text, 20 ms for the longest text. */
const MAX_SIZE = 1_000

/**
 * Explains why the text is no pattern for tickets; undefined for one that is. Patterns are those of RE2, whose searches take
 * linear time: JavaScript's own are exponential for alternatives that overlap (22 groups `(?:a|aa)` took 0.35 s).
 */
export function ticketPatternProblem(text: string): string | undefined {
  try {
    const form = compile(text)
    if (form.programSize() > MAX_SIZE) return 'is too large: it repeats too much'
    return form.test('') ? 'must not match an empty text' : undefined
  } catch {
    return 'must be a regular expression of RE2: no look-around, no back-reference, repeated 1,000 times at most'
  }
}

/** Patterns that are kept compiled: to compile one takes up to 20 ms. */
const MAX_KEPT = 100

/** The compiled pattern: the default where an earlier version took one that RE2 does not. */
const compiled = memoize((pattern) => {
  try {
    return compile(pattern)
  } catch {
    return compile(DEFAULT_TICKET_PATTERN)
  }
}, MAX_KEPT)

/** Matches that are looked for in a text: each search may read the text to its end. */
const MAX_MATCHES = 50

function* matchesIn(text: string, form: RE2JS): Generator<string> {
  const matcher = form.matcher(text)
  for (let count = 0; count < MAX_MATCHES && matcher.find(); count += 1) yield matcher.group() ?? ''
}

/** Tickets of a session beyond which none is counted. */
const MAX_TICKETS = 50

/** A function that finds the tickets in texts, each once, sorted. Null: the defaults. */
export function ticketFinder(
  pattern: string | null,
  ignored: readonly string[] | null,
): (texts: readonly (string | null)[]) => string[] {
  const form = compiled(pattern ?? DEFAULT_TICKET_PATTERN)
  // sessions share branches
  const ticketsIn = memoize((text) => [...matchesIn(text, form)])
  const isIgnored = (ticket: string) =>
    (ignored ?? DEFAULT_TICKET_IGNORE).some((entry) =>
      entry.endsWith('*') ? ticket.startsWith(entry.slice(0, -1)) : ticket === entry,
    )
  return (texts) => {
    const found = new Set(texts.flatMap((text) => (text === null ? [] : ticketsIn(text))))
    return [...found]
      .filter((ticket) => ticket !== '' && !isIgnored(ticket))
      .sort()
      .slice(0, MAX_TICKETS)
  }
}
