import { isIP } from 'node:net'
import { type FieldProblem, validationError } from '../base/errors.ts'
import { ADDRESS_REFUSED, type Egress, hostOf } from './http/egress.ts'
import { lookUp, type Resolve } from './http/resolve.ts'
import { type EndpointChangeBody, MAX_DESCRIPTION_LENGTH, type NewEndpointBody } from './model.ts'
import { EVENT_NAMES, isEventName } from './outbox/catalogue.ts'

/** The checked fields of a new endpoint. */
export interface NewEndpoint {
  url: string
  events: string[]
  enabled: boolean
  description: string | null
}

/** The checked fields of a change. */
export type EndpointChange = Partial<NewEndpoint>

const ALL = '*'
/** Unknown names that a message quotes. */
const MAX_QUOTED = 5
const MAX_QUOTED_LENGTH = 60
/** Short, since this look-up only reports mistakes early: each attempt looks the name up again. */
const LOOKUP_MS = 500

type Checked<Value> = { value: Value } | { problem: string }

/** The new endpoint of a body without problems. */
export const newEndpointOf = (body: NewEndpointBody, egress: Egress): NewEndpoint => ({
  ...{ url: '', events: [], enabled: true, description: null },
  ...changeOf(body, egress),
})

/** The change of a body without problems. */
export const changeOf = (body: EndpointChangeBody, egress: Egress): EndpointChange =>
  readChange(body, egress).change

/** Finds problems of URL, events and description in the body of a new endpoint or a change. */
export const endpointProblems = (body: EndpointChangeBody, egress: Egress): FieldProblem[] =>
  readChange(body, egress).problems

function readChange(body: EndpointChangeBody, egress: Egress) {
  const readers = new Map<string, (given: unknown) => Checked<unknown>>([
    ['url', (given) => readUrl(given, egress)],
    ['events', readEvents],
    ['description', readDescription],
  ])
  const problems: FieldProblem[] = []
  const change: Record<string, unknown> = {}
  for (const [field, given] of Object.entries(body)) {
    const taken = readers.get(field)?.(given) ?? { value: given }
    if ('value' in taken) change[field] = taken.value
    else problems.push({ field, message: taken.problem })
  }
  return { change: change as EndpointChange, problems }
}

/** Stored as given, not normalized, so that clients can compare it with theirs. */
function readUrl(given: unknown, egress: Egress): Checked<string> {
  if (typeof given !== 'string') return { problem: 'must be a text' }
  const checked = egress.checkUrl(given)
  return 'problem' in checked ? checked : { value: given }
}

/** Event names without duplicates; `*` replaces all others. */
function readEvents(given: unknown): Checked<string[]> {
  if (given === ALL) return { value: [ALL] }
  const known = `the events are ${EVENT_NAMES.join(', ')}, or * for all`
  if (!Array.isArray(given) || given.length === 0)
    return { problem: `must be an array of one or more names, or "*"; ${known}` }
  const names = new Set<string>()
  const unknown = new Set<unknown>()
  for (const name of given) {
    if (typeof name === 'string' && (name === ALL || isEventName(name))) names.add(name)
    else unknown.add(name)
  }
  if (unknown.size > 0)
    return { problem: `must be names of events, and ${quoted([...unknown])} none; ${known}` }
  return { value: names.has(ALL) ? [ALL] : [...names] }
}

function quoted(unknown: readonly unknown[]): string {
  const shown = unknown.slice(0, MAX_QUOTED).map((name) => {
    const text = typeof name === 'string' ? JSON.stringify(name) : 'something that is no text'
    return text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH).toWellFormed()}…` : text
  })
  const more = unknown.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''} ${unknown.length === 1 ? 'is' : 'are'}`
}

function readDescription(given: unknown): Checked<string | null> {
  if (given === null) return { value: null }
  if (typeof given !== 'string') return { problem: 'must be a text or null' }
  // a code point has at most two UTF-16 units: long texts are not counted
  const tooLong = given.length > 2 * MAX_DESCRIPTION_LENGTH || [...given].length > MAX_DESCRIPTION_LENGTH
  return tooLong
    ? { problem: `must be a text of at most ${MAX_DESCRIPTION_LENGTH} characters or null` }
    : { value: given }
}

/**
 * Throws VALIDATION_ERROR when the URL's host is a name with a refused address. A name that cannot be
 * resolved within half a second is accepted: it may be created later, and is looked up again at each attempt.
 */
export async function checkHost(url: string, egress: Egress, resolve: Resolve, field = 'url'): Promise<void> {
  const checked = egress.checkUrl(url)
  if ('problem' in checked) return
  const host = hostOf(checked.url)
  // checkUrl has checked the address already
  if (isIP(host) !== 0) return
  const found = await lookUp(egress, resolve, host, LOOKUP_MS)
  if ('problem' in found && found.problem === 'refused')
    throw validationError({ field, message: ADDRESS_REFUSED })
}
