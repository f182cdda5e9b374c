import { ApiError } from '../errors.ts'
import { grants, scopesFor } from '../keys/model.ts'
import type { Own } from '../people/visibility-queries.ts'
import { asciiLower } from '../text.ts'
import type { Access } from './admission.ts'
import type { Route } from './route.ts'

/** The result of authorization. */
interface Authorized {
  query: unknown
  /** Whether the response must leave members out. */
  hidesMembers: boolean
}

/**
 * Decides whether a request may have what it asks for: by the scopes and the plan, by whether the organization hides its
 * members, and for somebody who sees only their own figures by the filter `member`. The query is read, by
 * `readQuery`, once scope and plan are right. Throws FORBIDDEN, naming what is missing.
 */
export function authorize(
  {
    scopes,
    plan,
    person,
    mustHideMembers,
    own,
  }: Pick<Access, 'scopes' | 'plan' | 'person' | 'mustHideMembers' | 'own'>,
  { scope, namesMembers }: Pick<Route, 'scope' | 'namesMembers'>,
  readQuery: () => unknown,
): Authorized {
  const isDeveloper = scope === 'admin or developer' && person?.role === 'developer'
  if (!isDeveloper && !grants(scopes, scope)) {
    const missing = scopesFor(scope)
    const names =
      missing[0] === scope || scope === 'cost:read and risk:read'
        ? scope
        : missing.join(', ').replace(/, (?=[^,]*$)/, ' or ')
    throw new ApiError('FORBIDDEN', `This needs an API key with the scope ${names}`)
  }
  if (scope === 'webhooks' && plan === 'cloud_pro') {
    throw new ApiError('FORBIDDEN', 'Webhooks need the plan cloud_team or cloud_enterprise')
  }
  if (mustHideMembers && namesMembers === true) throw hidden()
  const query = readQuery()
  if (own !== null && isOfAnother(own, query)) {
    throw new ApiError('FORBIDDEN', 'member: this organization shows developers only their own figures')
  }
  const named = typeof namesMembers === 'function' ? namesMembers(query) : namesMembers
  if (mustHideMembers && named === true) throw hidden()
  return { query, hidesMembers: mustHideMembers && named === 'left out' }
}

/** Whether the filter `member` of a query names somebody else: by an id, or an address in any case. */
function isOfAnother({ keys }: Own, query: unknown): boolean {
  const { member } = (query ?? {}) as { member?: string }
  return member !== undefined && !keys.includes(member.includes('@') ? asciiLower(member) : member)
}

const hidden = () =>
  new ApiError('FORBIDDEN', 'This organization shows its members only to API keys with the scope team:read')
