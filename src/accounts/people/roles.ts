import type { Role } from '../../analysis/records/member.ts'
import { contains, SCOPES, type Scope } from '../keys/model.ts'

/** `read` without `audit:read`. */
const READ_OF_DEVELOPERS = SCOPES.filter((scope) => scope.endsWith(':read') && scope !== 'audit:read')

/** A signed-in person of the role has these scopes. */
export const SCOPES_OF_ROLE: Readonly<Record<Role, readonly Scope[]>> = {
  owner: ['read', 'write', 'audit:write', 'webhooks', 'admin'],
  admin: ['read', 'write', 'audit:write', 'webhooks', 'admin'],
  developer: READ_OF_DEVELOPERS,
  auditor: ['read'],
}

/** A developer may give these to keys that are bound to themselves. */
export const SCOPES_OF_DEVELOPERS_KEYS: readonly Scope[] = [
  'sessions:write',
  'commits:write',
  ...READ_OF_DEVELOPERS,
]

/** Scopes that a member of the role has, or may give to keys of their own. */
const SCOPES_WITHIN: Readonly<Record<Role, readonly Scope[]>> = {
  ...SCOPES_OF_ROLE,
  developer: SCOPES_OF_DEVELOPERS_KEYS,
}

/** The rights by which the API changes members. */
export interface Rights {
  scopes: readonly Scope[]
  /** The id of an owner who signed in; null: anybody else. A key is no owner, whoever it is bound to. */
  ownerId: string | null
}

/** The scopes of the role, beside those of the role `before` it, which whoever has `held` lacks and hence cannot give. */
export const scopesBeyond = (held: readonly Scope[], role: Role, before?: Role): Scope[] =>
  SCOPES_WITHIN[role].filter(
    (scope) => !contains(held, scope) && (before === undefined || !contains(SCOPES_WITHIN[before], scope)),
  )

/**
 * Cuts the scopes of a key that is bound to a member of the role to those that both have. Telemetry is of the member's own
 * sessions: whoever may send these may send it.
 */
export function cutToRole(scopes: readonly Scope[], role: Role): Scope[] {
  const within = SCOPES_WITHIN[role]
  const whole = scopes.filter((scope) => contains(within, scope === 'ingest' ? 'sessions:write' : scope))
  return [...whole, ...within.filter((scope) => contains(scopes, scope) && !contains(whole, scope))]
}
