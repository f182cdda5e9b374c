import type { BudgetRecord } from '../../src/analysis/records/budget.ts'
import type { MemberRecord } from '../../src/analysis/records/member.ts'
import { addDays, dateOf } from '../../src/base/dates.ts'

/** Names for the first of the 25 addresses in the generated sessions; the other addresses have no member. */
const NAMES = [
  'Ada',
  'Alan',
  'Barbara',
  'Claude',
  'Donald',
  'Edsger',
  'Frances',
  'Grace',
  'Hedy',
  'Ivan',
  'Joan',
  'Ken',
] as const
const TEAMS = ['Shop', 'Data', 'Platform'] as const
const ROLES = ['owner', 'admin', 'auditor'] as const
const MONTHLY_LIMIT_USD = 1_000
const TEAM_AGE_DAYS = 240

/** Members with addresses of the generated sessions: an owner, an admin, an auditor, and developers. */
export const seedMembers = (now: Date): MemberRecord[] =>
  NAMES.map((name, index) => ({
    type: 'member',
    email: `dev${index + 1}@example.com`,
    display_name: name,
    role: ROLES[index] ?? 'developer',
    team: TEAMS[index % TEAMS.length] ?? null,
    joined_at: `${addDays(dateOf(now), index * 7 - TEAM_AGE_DAYS)}T09:00:00.000Z`,
  }))

/** A limit that holds for the last `days` days. */
export const seedBudget = (now: Date, days: number): BudgetRecord => ({
  type: 'budget',
  month: addDays(dateOf(now), -days).slice(0, 7),
  limit: MONTHLY_LIMIT_USD,
})
