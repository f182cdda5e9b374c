import { expect } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { TABLES } from '../../../src/server/doctor/checks.ts'
import { changeZone } from '../../../src/server/zone/change.ts'
import { asker, newOrg } from '../../support/api.ts'
import { findDifferences, type TestDatabase } from '../../support/postgres.ts'
import { asOrganization } from '../../support/rls.ts'
import { webhookApp } from '../../support/webhook-api.ts'

// An organization with records near the midnights of all time zones.

export const NOW = new Date('2026-11-02T03:30:00Z')

/** Numbers from 0 to 1, the same ones in each run. */
export function numbers(seed: number) {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

/** Times near midnights of all zones, half of them around changes of clocks. */
function timesOf(count: number, next: () => number): Date[] {
  const changes = ['2026-04-05', '2026-04-24', '2026-10-04', '2026-10-25', '2026-10-31'].map(Date.parse)
  return Array.from({ length: count }, (_, index) => {
    const first = index % 2 === 0 ? (changes[index % changes.length] ?? 0) : Date.parse('2026-09-20')
    return new Date(first + Math.floor(next() * (index % 2 === 0 ? 3 : 40) * 86_400_000) - 86_400_000)
  })
}

const next = numbers(7)
export const sessions = timesOf(300, next).map((at, index) => ({
  type: 'session',
  id: `sess_${index}`,
  project_name: index % 3 === 0 ? 'web' : 'shop',
  created_at: at.toISOString(),
  turns: 1 + (index % 4),
  ...(index % 4 === 0 && {
    estimated_cost: index / 100,
    pull_requests: [{ repo: 'acme/shop', number: 1 + (index % 30) }],
  }),
  ...{ model: 'claude-sonnet-4-5', source: 'claude-code' },
  quality_metadata: { score: Math.round(next() * 10_000) / 100 },
  security_metadata: {
    score: Math.round(next() * 100),
    findings:
      index % 5 === 0
        ? [
            {
              ...{ rule_id: 'aws-key', category: 'secret', severity: 'high', title: 'A key' },
              ...{ turn_number: 1, fingerprint: `print-${index % 20}`, file: `src/${index % 7}.ts` },
            },
          ]
        : [],
  },
}))
export const commits = timesOf(40, next).map((at, index) => ({
  type: 'commit',
  sha: index.toString(16).padStart(40, '0'),
  project: 'shop',
  author_name: 'Ada',
  author_email: 'ada@example.com',
  committed_at: at.toISOString(),
  subject: `change ${index}`,
  files: [{ path: 'src/a.ts', status: 'modified', additions: 3, deletions: 1 }],
}))
export const risks = timesOf(30, next).map((at, index) => ({
  type: 'pr_risk',
  repo: 'acme/shop',
  pr_number: index + 1,
  pr_title: `Change ${index}`,
  created_at: new Date(at.getTime() - 7_200_000).toISOString(),
  ...(index % 3 > 0 && { state: 'merged', merged_at: at.toISOString() }),
  commits: [],
  files_changed: 1,
  project: 'shop',
  author_email: 'ada@example.com',
  files: [{ path: 'src/a.ts', status: 'modified', additions: 1, deletions: 1 }],
}))
/** A window of each is counted when it was hit, else when it was seen last. */
export const limits = timesOf(40, next).map((at, index) => ({
  ...{ type: 'limit', vendor: 'anthropic', agent: 'claude-code', user_email: 'ada@example.com' },
  at: at.toISOString(),
  windows: [{ limit: 'week', scope: `s${index}`, used_percent: index, hit: index % 2 === 0 }],
}))

/** A new organization with records. */
export async function world(
  db: TestDatabase,
  records: readonly object[] = [...commits, ...risks, ...limits, ...sessions],
  now = NOW,
) {
  const own = await newOrg(db.sql, { scopes: ['read', 'write', 'admin', 'audit:write', 'webhooks'] })
  // a server remembers an organization for less than a second
  const server = () => asker(webhookApp(db, { now: () => now }), own.key)
  let ask = server()
  const sent = await ask('POST', '/v1/sync', { records })
  expect([sent.status, sent.body]).toMatchObject([200, { created: records.length }])
  return {
    ...own,
    ask: (...request: Parameters<typeof ask>) => ask(...request),
    get: async (path: string) => {
      const { status, body } = await ask('GET', path)
      expect([path, status]).toEqual([path, 200])
      return body as unknown as Record<string, unknown>
    },
    /** Brings another time zone in force. */
    change: async (zone: string) => {
      expect((await ask('PATCH', '/v1/organization', { time_zone: zone })).status).toBe(200)
      const how = { now, publicUrl: null, pricer: loadPricer }
      const changed = await db.sql.begin((tx) => changeZone(tx, own.orgId, how))
      expect(changed).toBe(zone)
      ask = server()
    },
    differences: () => asOrganization(own.orgId, () => findDifferences(db.sql, own.orgId, TABLES.flat())),
    /** All rows that the organization's days are in. */
    rows: async () => {
      const texts: string[] = []
      for (const table of [
        'sessions',
        'session_usage',
        'session_rollups',
        'usage_rollups',
        'findings',
        'finding_rollups',
        'file_rollups',
        'commits',
        'commit_rollups',
        'limit_windows',
        'limit_days',
        'pr_risks',
        'pr_sessions',
        'outcome_rollups',
        'ticket_rollups',
        'branch_rollups',
        'facet_rollups',
        'work_rollups',
        'price_rollups',
        'trait_rollups',
      ]) {
        const rows = await db.sql<{ text: string }[]>`
          select t::text as text from ${db.sql(table)} t where t.org_id = ${own.orgId} order by 1`
        // a sum of decimals has as many zeros as one of its parts had
        const values = rows.map(({ text }) => text.replace(/\.0+(?=[,)])/g, ''))
        texts.push(`${table}\n${values.join('\n')}`)
      }
      return texts
    },
  }
}

export const ZONES = [
  'Europe/Berlin',
  'Asia/Kolkata',
  'Africa/Cairo',
  'Australia/Lord_Howe',
  'America/Los_Angeles',
  'Pacific/Kiritimati',
]

/** The date that a clock in the zone shows. */
export function clockOf(zone: string) {
  const clock = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' })
  return (at: string | Date) => clock.format(new Date(at))
}
