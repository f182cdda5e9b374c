// A route's options, and what they mean: who may call it, whose figures they see, and how the API's document says it.

import type { TObject, TSchema } from '@sinclair/typebox'
import { grants, type Need, scopesFor } from '../accounts/keys/rights.ts'
import type { Access } from '../accounts/people/callers.ts'
import type { VisibleMember } from '../accounts/people/visibility-queries.ts'
import { ApiError } from '../base/errors.ts'
import { asciiLower } from '../base/text.ts'
import type { BodyOptions } from './body.ts'
import type { List } from './list-queries.ts'

/**
 * Whether the responses name members. `true`: they do, and a caller whom the organization hides its members from gets
 * FORBIDDEN. 'left out': the handler leaves members out for this caller, when its `hidesMembers` is true. A function decides
 * by the query, false: no. Absent: no.
 */
export type Members = true | 'left out' | ((query: never) => boolean | 'left out')

/** The options of a route, as Elysia's macros and the API's document see them. */
export interface Declared {
  params?: TObject
  query?: TObject
  headers?: TObject
  body?: TSchema
  response?: TSchema | Record<number, TSchema>
  detail?: { operationId?: string; summary?: string; description?: string; [more: string]: unknown }
  members?: Members
  cached?: true | ((zone: string) => Record<string, string>)
  list?: List
  reads?: BodyOptions
  ignores?: readonly string[]
  fails?: readonly number[]
  needs?: Need
  [hook: string]: unknown
}

/** Throws FORBIDDEN, naming what is missing. */
export function refuseUnlessGranted(
  { scopes, plan, person, mustHideMembers }: Access,
  need: Need,
  route: Declared,
): void {
  const isDeveloper = need === 'admin or developer' && person?.role === 'developer'
  if (!isDeveloper && !grants(scopes, need)) {
    const [first = '', ...others] = scopesFor(need).map((scopes) => scopes.join(' and '))
    const names = first === need ? need : [first, ...others].join(', ').replace(/, (?=[^,]*$)/, ' or ')
    throw new ApiError('FORBIDDEN', `This needs an API key with the scope ${names}`)
  }
  if (need === 'webhooks' && plan === 'cloud_pro')
    throw new ApiError('FORBIDDEN', 'Webhooks need the plan cloud_team or cloud_enterprise')
  if (mustHideMembers && route.members === true) throw hidden()
}

/** Decides whether the response must leave members out. Throws FORBIDDEN where the query asks for what may not be seen. */
export function hidesMembersOf(
  { onlyMember, mustHideMembers }: Access,
  members: Members | undefined,
  query: unknown,
): boolean {
  if (onlyMember !== null && isOfAnother(onlyMember, query))
    throw new ApiError('FORBIDDEN', 'member: this organization shows developers only their own figures')
  if (!mustHideMembers) return false
  const hides = typeof members === 'function' ? members(query as never) : members
  if (hides === true) throw hidden()
  return hides === 'left out'
}

/** Whether the filter `member` of a query names somebody else: by an id, or an address in any case. */
function isOfAnother({ keys }: VisibleMember, query: unknown): boolean {
  const { member } = query as { member?: string }
  return member !== undefined && !keys.includes(member.includes('@') ? asciiLower(member) : member)
}

const hidden = () =>
  new ApiError('FORBIDDEN', 'This organization shows its members only to API keys with the scope team:read')

/** The fields of an object that a change of it does not have: who sends the whole object back may leave them in. */
export const fixedFields = (object: TObject, change: TObject): string[] =>
  Object.keys(object.properties).filter((name) => !(name in change.properties))

/** Adds what a key needs to the description of a route. */
export function describeNeed(need: Need, { detail = {}, list, ignores }: Declared): string {
  const meaning = detail.description ?? `${detail.summary}.`
  if (need === 'any key') return `${meaning}\n\nNeeds an API key, with any scopes.`
  const asCsv =
    list?.columns === undefined
      ? ''
      : ' With `Accept: text/csv` the page is sent as CSV, and with `per_page=all` the whole list.'
  const fixed = ignores === undefined ? '' : ' Fields of the object that cannot be changed are ignored.'
  const alternatives = scopesFor(need)
  const scopes = alternatives.map((all) => all.map((one) => `\`${one}\``).join(' and '))
  const noun = alternatives.some((all) => all.length > 1) ? 'scopes' : 'scope'
  const ofPerson = need === 'admin or developer' ? ', or a developer who signed in' : ''
  const ofPlan = need !== 'webhooks' ? '' : ', and the plan `cloud_team` or `cloud_enterprise`'
  return `${meaning}${asCsv}${fixed}\n\nNeeds the ${noun} ${scopes.join(' or ')}${ofPerson}${ofPlan}.`
}

/** Alternatives: a key needs all scopes of one of these lists. */
export const securityOf = (need: Need) => scopesFor(need).map((scopes) => ({ apiKey: [...scopes] }))
