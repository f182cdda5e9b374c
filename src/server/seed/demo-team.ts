// Makes up the organization of the demo: people, projects, changes, plans, budgets, limits, a report, notes.

import type { ReportRecord } from '../../analysis/records/audit.ts'
import type { BudgetRecord } from '../../analysis/records/budget.ts'
import type { MemberRecord } from '../../analysis/records/member.ts'
import type { NoteRecord } from '../../analysis/records/note.ts'
import type { LimitRecord, PlanRecord } from '../../analysis/records/plan.ts'
import { addDays, dateOf } from '../../base/dates.ts'
import { EXAMPLE_IDS } from '../../http/openapi/examples.ts'

export const DAYS = 183
/** The effect of the training is seen with these random numbers, whatever day is today. */
export const SEED = 16

/** `weight`: the amount of work. `projects`: indexes, the main one first. `begins`: the UTC hour at which their day begins. */
const person = (
  name: string,
  role: MemberRecord['role'],
  weight: number,
  projects: readonly number[],
  begins: number,
) => ({ name, role, weight, projects, begins, email: `${name.split(' ')[0]?.toLowerCase()}@example.com` })

/** The last one joins while the demo is watched. */
export const PEOPLE = [
  person('Amara Okafor', 'owner', 4, [0, 1], 7),
  person('Ben Whitaker', 'admin', 6, [1, 0], 8),
  person('Chen Yu', 'developer', 10, [2, 5], 1),
  person('Ada Lovelace', 'developer', 9, [0, 2], 7),
  person('Elif Demir', 'developer', 8, [3], 6),
  person('Farid Haddad', 'developer', 7, [4, 5], 6),
  person('Greta Lindqvist', 'developer', 12, [2, 0], 7),
  person('Hugo Martins', 'developer', 5, [6, 4], 8),
  person('Ines Novak', 'developer', 9, [5, 4], 7),
  person('Jonas Weber', 'auditor', 1, [1], 8),
  person('Kavya Rao', 'developer', 8, [1, 6], 4),
  person('Liam Byrne', 'developer', 4, [3, 2], 9),
]

/** `folders`: those at its top, with the kind of files in them. `topics`: those of its work. */
const project = (name: string, folders: string, topics: string) => ({
  name,
  folders: folders.split(' ').map((folder) => folder.split(':') as [string, string]),
  topics: topics.split(' '),
})

export const PROJECTS = [
  project('checkout', 'src:ts test:ts web:tsx', 'refunds tax vouchers cart'),
  project('payments', 'src:go internal:go deploy:yaml', 'ledger payouts webhooks disputes'),
  project('web-app', 'app:tsx components:tsx test:ts', 'search-page profile dark-mode onboarding'),
  project('mobile-app', 'lib:dart test:dart', 'push offline camera'),
  project('data-pipeline', 'jobs:py models:sql test:py', 'backfill dedup retention'),
  project('search', 'src:rs benches:rs', 'ranking synonyms index'),
  project('infra', 'modules:tf scripts:sh', 'network backups alerts'),
  project('docs', 'guides:md site:ts', 'quickstart api-reference'),
]

/** The teams of who works mainly on two of the projects each. */
const TEAMS = ['payments', 'product', 'data', 'platform']

/** The key of the dashboard's link is this member's. */
export const READER = 'ben@example.com'

const changeOf = (name: string, kind: 'training' | 'setting', daysAgo: number, people: string) => {
  const members = people.split(' ').map((person) => `${person}@example.com`)
  return { name, kind, daysAgo, members }
}
const SMALLER = 'Training: smaller tasks, fewer files at once'
/** Its effect is seen. */
export const TRAINING = changeOf(SMALLER, 'training', 77, 'ben chen ada farid greta')
/** It has none. */
const LINTER = changeOf('A linter runs after each edit', 'setting', 42, 'ben ada kavya elif ines')

/** The changes that are recorded. */
export const demoChanges = (now: Date) =>
  [TRAINING, LINTER].map(({ daysAgo, ...change }) => {
    return { ...change, unit: 'member' as const, day: addDays(dateOf(now), -daysAgo) }
  })

/** US dollars a month: of the organization, of teams, and of who reads. */
const LIMITS = [
  { limit: 160 },
  { limit: 60, team: 'payments' },
  { limit: 40, team: 'data' },
  { limit: 40, member: READER },
]
const HOUR_MS = 3_600_000
const TEAM_AGE_DAYS = 240
const DAYS_BETWEEN = 7

/** The people as members, in the order in which they joined. */
export const demoMembers = (now: Date): MemberRecord[] =>
  PEOPLE.map(({ name, email, role, projects: [main = 0] }, index) => ({
    type: 'member',
    ...(email === 'ada@example.com' && { id: EXAMPLE_IDS.user_id }),
    email,
    display_name: name,
    role,
    team: TEAMS[Math.floor(main / 2)] ?? null,
    joined_at: `${addDays(dateOf(now), index * DAYS_BETWEEN - TEAM_AGE_DAYS)}T09:00:00.000Z`,
  }))

/** The seats of those who write code, since `days` days ago. */
export const demoPlans = (now: Date, days: number): PlanRecord[] => {
  const plan = { type: 'plan', from: addDays(dateOf(now), -days) } as const
  return [
    ...PEOPLE.slice(0, -1)
      .filter(({ weight }) => weight > 1)
      .map(({ email, weight }) => ({
        ...plan,
        ...(email === 'ada@example.com' && { id: EXAMPLE_IDS.plan_id }),
        vendor: 'anthropic' as const,
        ...(weight > 9
          ? { plan: 'team_premium', price_month: 125 }
          : { plan: 'team_standard', price_month: 25 }),
        member: email,
      })),
    { ...plan, vendor: 'openai', plan: 'business', quantity: 4, price_month: 30 },
  ]
}

/** Limits that hold for the last `days` days. */
export const demoBudgets = (now: Date, days: number): BudgetRecord[] =>
  LIMITS.map((limit) => ({ type: 'budget', month: addDays(dateOf(now), -days).slice(0, 7), ...limit }))

/** The limits of who reads, as an agent's files stated them an hour ago. */
export const demoLimits = (now: Date): LimitRecord[] => {
  const at = (hours: number) => new Date(now.getTime() + hours * HOUR_MS).toISOString()
  const windows = [
    { limit: 'five_hour', used_percent: 34, resets_at: at(3), hit: false },
    { limit: 'week', used_percent: 61, resets_at: at(67), hit: false },
  ]
  return [
    { type: 'limit', vendor: 'anthropic', agent: 'claude-code', at: at(-1), windows, user_email: READER },
  ]
}

/** A report of the last three whole months. */
export function demoReport(now: Date): ReportRecord {
  const firstDay = (months: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1)).toISOString().slice(0, 10)
  return { type: 'report', report_type: 'soc2', from: firstDay(-3), to: addDays(firstDay(0), -1) }
}

/** Notes of the last weeks. */
export const demoNotes = (now: Date): NoteRecord[] =>
  (
    [
      [5, 'The training for everybody else: smaller tasks, fewer files at once', {}],
      [12, 'The checkout rewrite begins', { project: 'checkout' }],
      [24, 'claude-opus-4-5 is the default model', {}],
    ] as const
  ).map(([days, text, of], index) => ({
    ...{ type: 'note', id: `note_demo${index}`, day: addDays(dateOf(now), -days), text, ...of },
  }))
