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

/** Characters, classes and groups that are not repeated: no look-around, no back-reference. */
const PIECE = String.raw`(?:\\[dDwWsSbB.\-/#+*?()\[\]{}|^$\\]|\[\^?(?:\\[dDwWsS.\-\]\[\\^]|[^\\\]\[])+\]|[^\\\[\](){}*+?|^$])`
const REPEATED = String.raw`${PIECE}(?:\{\d{1,3}(?:,\d{1,3})?\}|\?)?`
const SIMPLE = new RegExp(String.raw`^(?:\(\?:|\(|\)|\||\^|\$|${REPEATED})+$`)
const REPEATED_GROUP = /\)[?{]/

/**
 * Explains why the text is no pattern for tickets; undefined for one that is. Only bounded repetition of single
 * characters is allowed, so that the time of a match does not explode with the length of a title.
 */
export function ticketPatternProblem(text: string): string | undefined {
  if (!SIMPLE.test(text) || REPEATED_GROUP.test(text)) {
    return 'must be a regular expression of characters, classes and groups, repeated by {n}, {n,m} or ? only, and no group repeated'
  }
  try {
    if (new RegExp(text).test('')) return 'must not match an empty text'
  } catch {
    return 'must be a regular expression'
  }
  return undefined
}

/** Tickets of a session beyond which none is counted. */
const MAX_TICKETS = 50

/**
 * A function that finds the tickets in texts, each once, sorted. `pattern` must be without a `ticketPatternProblem`; null for
 * the defaults.
 */
export function ticketFinder(
  pattern: string | null,
  ignored: readonly string[] | null,
): (texts: readonly (string | null)[]) => string[] {
  const form = new RegExp(pattern ?? DEFAULT_TICKET_PATTERN, 'g')
  const isIgnored = (ticket: string) =>
    (ignored ?? DEFAULT_TICKET_IGNORE).some((entry) =>
      entry.endsWith('*') ? ticket.startsWith(entry.slice(0, -1)) : ticket === entry,
    )
  return (texts) => {
    const found = new Set(texts.flatMap((text) => text?.match(form) ?? []))
    return [...found]
      .filter((ticket) => ticket !== '' && !isIgnored(ticket))
      .sort()
      .slice(0, MAX_TICKETS)
  }
}
