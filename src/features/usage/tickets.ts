// Finds tickets in branches and titles by the organization's pattern, and checks patterns.

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

/** Characters of a text in which tickets are found. */
export const SEARCHED_LENGTH = 200
/** Instructions of a compiled pattern: a search takes steps of each for a character of the text, some 50 ms at most. */
const MAX_SIZE = 200

/** The compiled pattern; undefined where it is too large, or none of RE2. */
function formOf(pattern: string): RE2JS | undefined {
  try {
    const form = compile(pattern)
    return form.programSize() > MAX_SIZE ? undefined : form
  } catch {
    return undefined
  }
}

/** Whether a stored pattern, which an earlier version may have taken, is applied; else the default is. */
export const isApplied = (pattern: string): boolean => formOf(pattern) !== undefined

/**
 * Explains why the text is no pattern for tickets; undefined for one that is. Patterns are those of RE2, whose searches take
 * linear time: JavaScript's own are exponential for alternatives that overlap (22 groups `(?:a|aa)` took 0.35 s).
 */
export function ticketPatternProblem(text: string): string | undefined {
  try {
    const form = compile(text)
    if (form.programSize() > MAX_SIZE)
      return `is too large: its program has ${form.programSize()} instructions, ${MAX_SIZE} are the most`
    return form.test('') ? 'must not match an empty text' : undefined
  } catch {
    return 'must be a regular expression of RE2: no look-around, no back-reference, repeated 1,000 times at most'
  }
}

/** Patterns that are kept compiled: to compile one takes up to 20 ms. */
const MAX_KEPT = 100

const compiled = memoize((pattern) => formOf(pattern) ?? compile(DEFAULT_TICKET_PATTERN), MAX_KEPT)

/** Matches that are looked for in a text: each search may read the text to its end. */
const MAX_MATCHES = 50

function* matchesIn(text: string, form: RE2JS): Generator<string> {
  const matcher = form.matcher(text)
  for (let count = 0; count < MAX_MATCHES && matcher.find(); count += 1) yield matcher.group() ?? ''
}

/** Tickets of a session beyond which none is counted. */
const MAX_TICKETS = 50

/** Finds tickets in texts of at most SEARCHED_LENGTH. Null: the defaults. */
export function ticketFinder(pattern: string | null, ignored: readonly string[] | null) {
  const form = compiled(pattern ?? DEFAULT_TICKET_PATTERN)
  const isIgnored = (ticket: string) =>
    (ignored ?? DEFAULT_TICKET_IGNORE).some((entry) =>
      entry.endsWith('*') ? ticket.startsWith(entry.slice(0, -1)) : ticket === entry,
    )
  return {
    /** Finds what the pattern matches in the text. Sessions share branches. */
    matchesIn: memoize((text) => [...matchesIn(text, form)]),
    /** The tickets among the matches, each once, sorted. */
    ticketsOf: (matches: readonly string[]): string[] =>
      [...new Set(matches)]
        .filter((ticket) => ticket !== '' && !isIgnored(ticket))
        .sort()
        .slice(0, MAX_TICKETS),
  }
}
