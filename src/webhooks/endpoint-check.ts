// Checks the body of an endpoint, and whether its host may be sent to.

import { isIP } from 'node:net'
import { type FieldProblem, fieldError } from '../base/errors.ts'
import { type Egress, hostOf, refusalOf } from './http/egress.ts'
import { lookUp, type Resolve } from './http/resolve.ts'
import { type EndpointChangeBody, MAX_DESCRIPTION_LENGTH, type NewEndpointBody } from './model.ts'
import { EVENT_NAMES, isEventName } from './outbox/catalogue.ts'

export interface NewEndpoint {
  url: string
  events: string[]
  enabled: boolean
  description: string | null
}

export type EndpointChange = Partial<NewEndpoint>

const ALL = '*'
/** Unknown names that a message quotes. */
const MAX_QUOTED = 5
const MAX_QUOTED_LENGTH = 60
/** Short, since this look-up only reports mistakes early: each attempt looks the name up again. */
const LOOKUP_MS = 500

export const newEndpointOf = (body: NewEndpointBody): NewEndpoint => ({
  ...{ url: '', events: [], enabled: true, description: null },
  ...changeOf(body),
})

/** The change of a body without problems: event names without duplicates; `*` replaces all others. */
export function changeOf(body: EndpointChangeBody): EndpointChange {
  const { events, ...change } = body as Omit<EndpointChange, 'events'> & { events?: string | string[] }
  if (events === undefined) return change
  return { ...change, events: events.includes(ALL) ? [ALL] : [...new Set(events)] }
}

export function endpointProblems(body: EndpointChangeBody, egress: Egress): FieldProblem[] {
  const problemOf = new Map<string, (value: unknown) => string | undefined>([
    ['url', (value) => urlProblem(value, egress)],
    ['events', eventsProblem],
    ['description', descriptionProblem],
  ])
  return Object.entries(body).flatMap(([field, value]) => {
    const message = problemOf.get(field)?.(value)
    return message === undefined ? [] : [{ field, message }]
  })
}

/** Stored as given, not normalized, so that clients can compare it with theirs. */
function urlProblem(value: unknown, egress: Egress): string | undefined {
  if (typeof value !== 'string') return 'must be a text'
  const checked = egress.checkUrl(value)
  return 'problem' in checked ? checked.problem : undefined
}

function eventsProblem(value: unknown): string | undefined {
  if (value === ALL) return undefined
  const names = `the events are ${EVENT_NAMES.join(', ')}, or * for all`
  if (!Array.isArray(value) || value.length === 0)
    return `must be an array of one or more names, or "*"; ${names}`
  const isKnown = (name: unknown) => typeof name === 'string' && (name === ALL || isEventName(name))
  const unknown = new Set<unknown>(value.filter((name) => !isKnown(name)))
  return unknown.size > 0 ? `must be names of events, and ${quoted([...unknown])} none; ${names}` : undefined
}

function quoted(unknown: readonly unknown[]): string {
  const shown = unknown.slice(0, MAX_QUOTED).map((name) => {
    const text = typeof name === 'string' ? JSON.stringify(name) : 'something that is no text'
    return text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH).toWellFormed()}…` : text
  })
  const more = unknown.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''} ${unknown.length === 1 ? 'is' : 'are'}`
}

function descriptionProblem(value: unknown): string | undefined {
  if (value === null) return undefined
  if (typeof value !== 'string') return 'must be a text or null'
  // a code point has at most two UTF-16 units: long texts are not counted
  const isTooLong = value.length > 2 * MAX_DESCRIPTION_LENGTH || [...value].length > MAX_DESCRIPTION_LENGTH
  return isTooLong ? `must be a text of at most ${MAX_DESCRIPTION_LENGTH} characters or null` : undefined
}

/** Throws VALIDATION_ERROR for a name with a refused address; one that is not resolved in half a second is accepted. */
export async function checkHost(url: string, egress: Egress, resolve: Resolve, field = 'url'): Promise<void> {
  const checked = egress.checkUrl(url)
  if ('problem' in checked) return
  const host = hostOf(checked.url)
  // checkUrl has checked the address already
  if (isIP(host) !== 0) return
  const addresses = await lookUp(egress, resolve, host, LOOKUP_MS)
  if ('problem' in addresses && addresses.problem === 'refused') throw fieldError(field, refusalOf())
}
