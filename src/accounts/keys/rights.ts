// Says what each scope and role allows, and who may give which.

import type { Role } from '../../analysis/records/member.ts'
import { SCOPE_TABLE, SCOPES, type Scope } from './scopes.ts'

/**
 * Needs of routes beside a scope: of a key all scopes of one of these lists. `some write`: any scope that writes records,
 * since the records say which; `admin or developer`: also a developer who signed in.
 */
const NEEDS = {
  'any key': [[]],
  'some write': [['write'], ...SCOPES.flatMap((one) => (one.endsWith(':write') ? [[one]] : [])), ['admin']],
  'admin or read': [['admin'], ['read']],
  'admin or cost:read': [['admin'], ['cost:read'], ['read']],
  'admin or security:read': [['admin'], ['security:read'], ['read']],
  'admin or developer': [['admin']],
  'sessions:write or cost:read': [['sessions:write'], ['write'], ['cost:read'], ['read']],
  'cost:read and risk:read': [['cost:read', 'risk:read'], ['read']],
} satisfies Record<string, Scope[][]>

export type Need = Scope | keyof typeof NEEDS

const isNeed = (need: Need): need is keyof typeof NEEDS => need in NEEDS

/** Lists of scopes: `need` needs all of one of them. */
export function scopesFor(need: Need): readonly (readonly Scope[])[] {
  if (isNeed(need)) return NEEDS[need]
  const within = SCOPE_TABLE.find(({ name }) => name === need)?.within
  return within === undefined ? [[need]] : [[need], [within]]
}

/** An API key without its secret, as the command line shows it. Times are UTC with milliseconds. */
export type ApiKey = {
  id: string
  name: string
  scopes: Scope[]
  /** Address of the member whose sessions it sends; null: anybody's. */
  member: string | null
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  revoked_at: string | null
}

/** True when whoever has `held` may do all that `scope` allows: they may give it to a key. */
export function contains(held: readonly Scope[], scope: Scope): boolean {
  if (held.includes(scope)) return true
  if (scope === 'read' || scope === 'write') return false
  return grants(held, scope)
}

export const grants = (held: readonly Scope[], need: Need): boolean =>
  scopesFor(need).some((scopes) => scopes.every((scope) => held.includes(scope)))

const ofDevelopers = SCOPE_TABLE.filter(({ developers }) => developers !== undefined)

/** A signed-in person of the role has these scopes. */
export const SCOPES_OF_ROLE: Readonly<Record<Role, readonly Scope[]>> = {
  owner: ['read', 'write', 'audit:write', 'webhooks', 'admin'],
  admin: ['read', 'write', 'audit:write', 'webhooks', 'admin'],
  developer: ofDevelopers.filter(({ developers }) => developers === 'have').map(({ name }) => name),
  auditor: ['read'],
}

/** A developer may give these to keys that are bound to themselves. */
export const SCOPES_OF_DEVELOPERS_KEYS: readonly Scope[] = ofDevelopers.map(({ name }) => name)

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

/** Cuts the scopes of a bound key to those that its member's role has too. Who may send their sessions may send telemetry. */
export function cutToRole(scopes: readonly Scope[], role: Role): Scope[] {
  const within = SCOPES_WITHIN[role]
  const whole = scopes.filter((scope) => contains(within, scope === 'ingest' ? 'sessions:write' : scope))
  return [...whole, ...within.filter((scope) => contains(scopes, scope) && !contains(whole, scope))]
}
