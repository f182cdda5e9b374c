import type { Plan } from '../../config.ts'

/** Sessions may be kept for this number of days at most, unless for ever. */
export const MAX_RETENTION_DAYS = 36_500

/**
 * An organization owns its members, keys, sessions and all other data, and no request sees those of another one. Its plan
 * sets the limit of requests a minute, and whether webhooks are included. `http/admission.ts` derives the access of a
 * request from its key or signed-in person.
 */
export type Organization = {
  id: string
  slug: string
  name: string
  plan: Plan
  created_at: string
  /** The IANA zone whose days, weeks and months are counted. */
  time_zone: string
  /** Whether members are shown to API keys with the scope team:read only. */
  hide_members: boolean
  /** Sessions of earlier days are deleted; null: kept for ever. */
  retention_sessions_days: number | null
  /** The hook on laptops warns beyond a budget, or refuses prompts. */
  budget_action: 'warn' | 'block'
}
