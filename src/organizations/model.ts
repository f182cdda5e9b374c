import type { Plan } from '../config.ts'

/** A tenant, as the command line shows it. */
export type Organization = {
  id: string
  slug: string
  name: string
  plan: Plan
  created_at: string
}
