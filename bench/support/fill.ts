import { loadPricer } from '../../src/analysis/scoring/prices.ts'
import type { Sql } from '../../src/database/client.ts'
import { updateOrganization } from '../../src/features/organization/queries.ts'
import { seed } from '../../src/server/seed/seed.ts'
import { writeRecords } from '../../src/server/sync/write.ts'
import { seedBudget, seedMembers } from './members.ts'

const PROJECTS = 20
const DAYS = 730
export const SEED = 1

/** Numbers of records of an organization; it has as many audit entries as sessions. */
export interface Amounts {
  sessions: number
  risk: number
  commits: number
}

/** Creates missing data: that of `seed`, 12 of its 25 people as members, a budget, and public badges. */
export async function fill(sql: Sql, orgId: string, slug: string, amounts: Amounts): Promise<void> {
  const today = new Date().toISOString().slice(0, 10)
  const plan = { projects: PROJECTS, days: DAYS, seed: SEED, today }
  const deps = { sql, now: () => new Date(), pricer: async () => loadPricer({}), storeContent: false }
  const existing = await findExisting(sql, orgId)
  for (const [kind, amount] of Object.entries({ ...amounts, audit: amounts.sessions })) {
    if (existing[kind as keyof typeof existing]) continue
    await timed(`${amount} ${kind}`, () => seed(deps, orgId, { ...plan, [kind]: amount }))
  }
  if (!existing.members) {
    const now = new Date()
    await writeRecords(deps, orgId, [...seedMembers(now), seedBudget(now, DAYS)])
    await updateOrganization(sql, slug, { badges: { visibility: 'public' } })
  }
}

async function timed(what: string, run: () => Promise<void>): Promise<void> {
  const startedMs = performance.now()
  await run()
  process.stdout.write(`seeded ${what} in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s\n`)
}

async function findExisting(sql: Sql, orgId: string) {
  const [row] = await sql<Record<'sessions' | 'audit' | 'risk' | 'commits' | 'members', boolean>[]>`
    select
      exists (select from session_rollups r where r.org_id = ${orgId}) as sessions,
      exists (select from audit_log l where l.org_id = ${orgId} and l.id = ${`log_seed${SEED}_0`}) as audit,
      exists (select from pr_risks k where k.org_id = ${orgId}) as risk,
      exists (select from commits c where c.org_id = ${orgId}) as commits,
      exists (select from members m where m.org_id = ${orgId}) as members`
  if (row === undefined) throw new Error('PostgreSQL gave no row')
  return row
}

/** Facts of an organization's data that the cases need. Dates are UTC. */
export interface Facts {
  sessions: number
  /** Sessions of the fullest day; likewise the others. */
  fullest_day: number
  fullest_audit_day: number
  fullest_risk_day: number
  last_day: string
  /** Last day of the sixth month before that of `last_day`. */
  month_end: string
  audit: number
  webhooks: number
  risk: number
  commits: number
  risk_id: string
}

export async function findFacts(sql: Sql, orgId: string): Promise<Facts> {
  const [row] = await sql<Facts[]>`
    select
      s.*, a.*, k.*,
      (select count(*)::int from commits c where c.org_id = ${orgId}) as commits,
      (select min(p.id) from pr_risks p where p.org_id = ${orgId}) as risk_id
    from (
      select
        sum(r.sessions)::int as sessions,
        max(r.sessions)::int as fullest_day,
        max(r.bucket) as last_day,
        (date_trunc('month', max(r.bucket)::timestamp) - interval '5 months' - interval '1 day')::date as month_end
      from session_rollups r
      where r.org_id = ${orgId}
        and r.grain = 'day'
        and r.project = ''
    ) s
    cross join (
      select
        sum(r.entries) filter (where r.action = '')::int as audit,
        max(r.entries) filter (where r.action = '')::int as fullest_audit_day,
        sum(r.entries) filter (where r.action like 'webhook.%')::int as webhooks
      from audit_rollups r
      where r.org_id = ${orgId}
        and r.grain = 'day'
        and r.user_id = ''
    ) a
    cross join (
      select sum(r.prs)::int as risk, max(r.prs)::int as fullest_risk_day
      from risk_rollups r
      where r.org_id = ${orgId}
        and r.repo = ''
        and r.rating = ''
        and r.state = ''
    ) k`
  if (row === undefined) throw new Error('PostgreSQL gave no row')
  return row
}
