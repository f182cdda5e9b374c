import type { Plan } from '../config.ts'

/** A tenant, as the command line shows it. */
export type Organization = {
  id: string
  slug: string
  name: string
  plan: Plan
  created_at: string
  /** Whether members are shown to API keys with the scope team:read only. */
  hide_members: boolean
  /** Sessions of earlier days are deleted; null: kept for ever. */
  retention_sessions_days: number | null
}
