/** What a key may do. `read` stands for every scope that ends in `:read`. */
export const SCOPES = [
  'read',
  'write',
  'webhooks',
  'sessions:read',
  'quality:read',
  'cost:read',
  'security:read',
  'team:read',
  'audit:read',
  'risk:read',
] as const
export type Scope = (typeof SCOPES)[number]

/** An API key without its secret, as the command line shows it. Times are UTC with milliseconds. */
export type ApiKey = {
  id: string
  name: string
  scopes: Scope[]
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  revoked_at: string | null
}

/** True when a key with `held` scopes may do what needs `needed`. */
export function grants(held: readonly Scope[], needed: Scope): boolean {
  return held.includes(needed) || (needed.endsWith(':read') && held.includes('read'))
}
