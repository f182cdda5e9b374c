import type { Scope } from '../keys/model.ts'
import type { Role } from '../records/member.ts'

/** `read` without `audit:read`. */
const READ_OF_DEVELOPERS = [
  'sessions:read',
  'quality:read',
  'cost:read',
  'security:read',
  'team:read',
  'risk:read',
] as const satisfies readonly Scope[]

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
