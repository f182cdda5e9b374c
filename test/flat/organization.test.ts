import { describe, expect, test } from 'bun:test'
import { seedBudget, seedMembers } from '../../bench/support/members.ts'
import { mostRead } from '../../bench/support/plans.ts'
import { loadPricer } from '../../src/analysis/scoring/prices.ts'
import type { Sql } from '../../src/database/client.ts'
import { entryList } from '../../src/features/audit/queries.ts'
import { getReport } from '../../src/features/audit/report-queries.ts'
import { BADGE_KINDS } from '../../src/features/badges/model.ts'
import { findBadge } from '../../src/features/badges/queries.ts'
import { getExpertise } from '../../src/features/members/expertise-queries.ts'
import { getTeam } from '../../src/features/members/member-queries.ts'
import { updateOrganization } from '../../src/features/organization/queries.ts'
import { riskList } from '../../src/features/risk/queries.ts'
import { getRisk } from '../../src/features/risk/session-queries.ts'
import { fileRiskList } from '../../src/features/security/heatmap-queries.ts'
import { getSecurity } from '../../src/features/security/queries.ts'
import { seed } from '../../src/server/seed/seed.ts'
import { writeRecords } from '../../src/server/sync/write.ts'
import { newOrg } from '../support/api.ts'
import { plainDatabase, testsDatabase } from '../support/postgres.ts'
import { pullRecord } from '../support/records.ts'

// Holds the reads of security, audit, risk, team and badges to the rules of sessions.test.ts: of the tables that grow
// with the history (sessions, details, findings, audit entries, risk scores, commits) no query reads more than its
// page and one day, whatever plan PostgreSQL makes.

const TODAY = '2026-11-15'
const NOW = new Date(`${TODAY}T12:00:00.000Z`)
const DAYS = 30
const AMOUNTS = { sessions: 3_000, audit: 3_000, risk: 1_500, commits: 1_000, projects: 3 }
const PAGE = 50
const RECENT_SESSIONS = 10
const MEMBERS = 12
/** Among the 25 people who commit, those who are no members have the name in their latest commit. */
const OTHER_AUTHORS = 13
const BRANCH_SESSIONS = 20
const MONTH = { date_from: '2026-10-25', date_to: '2026-11-08' }
/** The queries take no more from one day than its sessions, audit entries or scores. */
const FULLEST_DAY = 2 * (AMOUNTS.sessions / DAYS)

const database = await testsDatabase(plainDatabase)
const { sql } = database
const { orgId } = await newOrg(sql)
const other = await newOrg(sql)
const slug = await slugOf(sql)
await fill(sql, orgId, 1)
await fill(sql, other.orgId, 2)
await updateOrganization(sql, slug, { badges: { visibility: 'public' } })

async function slugOf(sql: Sql): Promise<string> {
  const [row] = await sql<{ slug: string }[]>`select o.slug from organizations o where o.org_id = ${orgId}`
  return row?.slug ?? ''
}

async function fill(sql: Sql, id: string, number: number): Promise<void> {
  const plan = { ...AMOUNTS, days: DAYS, seed: number, today: TODAY }
  const deps = { sql, now: () => NOW, pricer: async () => loadPricer({}), storeContent: false }
  await seed(deps, id, plan)
  await writeRecords(deps, id, [...seedMembers(NOW), seedBudget(NOW, DAYS), ...pullRequestWithSessions()])
}

/** A pull request with sessions of its branch, half of them linked to it too. */
function pullRequestWithSessions(): object[] {
  const created_at = '2026-11-01T00:00:00Z'
  const repo = 'acme/project-02'
  const scores = { impact_score: 1, regression_score: 1, security_score: 1, coupling_score: 1 }
  return [
    {
      ...pullRecord(1, { id: 'risk_flat', repo, pr_title: 'Flat', created_at }),
      ...{ ...scores, branch: 'flat', commits: ['abc1'] },
    },
    ...Array.from({ length: BRANCH_SESSIONS }, (_, index) => ({
      ...{ type: 'session', id: `sess_flat${index}`, project_name: 'project-02', created_at, branch: 'flat' },
      ...(index % 2 === 0 ? {} : { pull_requests: [{ repo, number: 1 }] }),
    })),
  ]
}

type Ask = (sql: Sql) => Promise<unknown>
const page = (options: object) => ({ page: 1, per_page: PAGE, ...options })
const entries =
  (options: object): Ask =>
  (sql) =>
    entryList.list.page(sql, orgId, page(options))
const risks =
  (options: object): Ask =>
  (sql) =>
    riskList.list.page(sql, orgId, page(options))
const heatmap =
  (options: object): Ask =>
  (sql) =>
    fileRiskList.list.page(sql, orgId, page(options))

/** Rows of the table and entries of an index alone together. */
async function readsOf(ask: Ask): Promise<number> {
  const { rows, indexOnly } = await mostRead(database.sql, () => ask(database.sql))
  return rows + indexOnly
}

test('every table of the history is counted', async () => {
  const { sql } = database
  const tables = ['sessions', 'session_details', 'audit_log', 'pr_risks', 'commits', 'commit_files']
  for (const table of tables) {
    const all = await readsOf(() => sql`select t.* from ${sql(table)} t where t.org_id <> ${'none'}`)
    expect(all).toBeGreaterThanOrEqual(2 * AMOUNTS.commits)
  }
  expect(await readsOf(() => sql`select f.* from findings f where f.org_id <> ${'none'}`)).toBeGreaterThan(
    100,
  )
})

describe('reads at most a page and a day', () => {
  const cases: [string, Ask][] = [
    ['audit, first page', entries({})],
    ['audit, middle page', entries({ page: AMOUNTS.audit / PAGE / 2 })],
    ['audit, last page', entries({ page: AMOUNTS.audit / PAGE })],
    ['audit, past the end', entries({ page: 1_000_000_000 })],
    ['audit, days, deep', entries({ ...MONTH, page: 20 })],
    ['audit, one action', entries({ action: 'session.synced', page: 10 })],
    ['audit, a rare action', entries({ action: 'api_key.created' })],
    ['audit, no such action', entries({ action: 'nothing.*' })],
    ['audit, one user', entries({ user_id: 'user_seed3', page: 2 })],
    ['audit, one user and days', entries({ user_id: 'user_seed3', ...MONTH })],
    ['audit, one user and action', entries({ user_id: 'user_seed3', action: 'user.login' })],
    ['audit, one user and actions of a noun', entries({ user_id: 'user_seed3', action: 'webhook.*' })],
    ['audit, no such user', entries({ user_id: 'key_x', ...MONTH })],
    ['risk, first page', risks({})],
    ['risk, middle page', risks({ page: AMOUNTS.risk / PAGE / 2 })],
    ['risk, last page', risks({ page: AMOUNTS.risk / PAGE })],
    ['risk, past the end', risks({ page: 1_000_000_000 })],
    ['risk, one repository', risks({ repo: 'seed-1/project-02', page: 5 })],
    ['risk, one rating', risks({ rating: 'medium', page: 5 })],
    ['risk, both', risks({ repo: 'seed-1/project-02', rating: 'medium', page: 2 })],
    ['risk, one state', risks({ state: 'merged', page: 5 })],
    ['risk, few of a state', risks({ state: 'open' })],
    ['risk, repository and state', risks({ repo: 'seed-1/project-02', state: 'closed' })],
    ['risk, rating and state', risks({ rating: 'medium', state: 'closed' })],
    ['risk, all three', risks({ repo: 'seed-1/project-02', rating: 'medium', state: 'closed' })],
    ['risk, no such repository', risks({ repo: 'nothing' })],
  ]
  test.each(cases)('%s', async (_name, ask) => {
    expect(await readsOf(ask)).toBeLessThanOrEqual(PAGE + FULLEST_DAY)
  })

  test('risk, one with its sessions: each of these some times, and what they are linked to', async () => {
    const reads = await readsOf((sql) => getRisk(sql, orgId, 'risk_flat', null))
    expect(reads).toBeGreaterThan(BRANCH_SESSIONS)
    expect(reads).toBeLessThanOrEqual(7 * BRANCH_SESSIONS)
  })

  test('audit, actions of a noun: as many of each action as the page needs', async () => {
    expect(await readsOf(entries({ action: 'webhook.*', page: 5 }))).toBeLessThanOrEqual(
      2 * PAGE + FULLEST_DAY,
    )
  })

  test('audit report, the newest 10,000', async () => {
    // all that there are here, and the newest once more for its date
    const [row] = await database.sql<{ entries: number }[]>`
      select count(*)::int as entries from audit_log l where l.org_id = ${orgId}`
    const all = await readsOf((sql) => getReport(sql, orgId, { direction: 'before', at: null }, NOW))
    expect(all).toBeLessThanOrEqual(Number(row?.entries) + 1)
  })
})

describe('reads the newest sessions and their details', () => {
  const cases: [string, object][] = [
    ['all', {}],
    ['one project', { project: 'project-02' }],
    ['days', MONTH],
    ['one project, days', { project: 'project-02', ...MONTH }],
  ]
  test.each(cases)('security, %s', async (_name, options) => {
    const reads = await readsOf((sql) => getSecurity(sql, orgId, options))
    // an index that has all columns but one is read beside the table
    expect(reads).toBeLessThanOrEqual(2 * RECENT_SESSIONS)
  })
})

describe('reads nothing of the history', () => {
  const cases: [string, Ask][] = [
    ['heatmap', heatmap({})],
    ['heatmap, one project', heatmap({ project: 'project-02' })],
    ['heatmap, second page by risk', heatmap({ min_score: 3, page: 2 })],
    ['heatmap, a month', heatmap({ date_from: '2026-10-01', date_to: '2026-10-31' })],
    ['heatmap, days of two months', heatmap(MONTH)],
    ...BADGE_KINDS.map((kind): [string, Ask] => [
      `badge, ${kind}`,
      (sql) =>
        findBadge(
          sql,
          { slug, kind, tokenHash: null, readable: null, days: DAYS, project: undefined },
          new Date(`${TODAY}T12:00:00Z`),
        ),
    ]),
  ]
  test.each(cases)('%s', async (_name, ask) => {
    expect(await readsOf(ask)).toBe(0)
  })
})

describe('reads as much as there are people', () => {
  test('team: a session of each member, and those of two parts of an hour', async () => {
    const reads = await readsOf((sql) => getTeam(sql, orgId, new Date(`${TODAY}T12:30:00.000Z`)))
    const anHour = FULLEST_DAY / 24
    expect(reads).toBeLessThanOrEqual(MEMBERS + Math.ceil(anHour))
  })

  test('expertise: a commit of each author who is no member', async () => {
    expect(await readsOf((sql) => getExpertise(sql, orgId, null))).toBeLessThanOrEqual(OTHER_AUTHORS)
  })
})
