import { describe, expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { addDays, daysFrom } from '../../../src/base/dates.ts'
import { TABLES } from '../../../src/server/doctor/checks.ts'
import { changeZone } from '../../../src/server/zone/change.ts'
import { tenant } from '../../support/api.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'
import { asOrganization } from '../../support/rls.ts'
import { asker, localApp } from '../../support/webhook-api.ts'

// An organization's days by its time zone, compared with days that Intl and plain counting give.

const NOW = new Date('2026-11-02T03:30:00Z')
const db = testsDatabase()

/** Numbers from 0 to 1, the same ones in each run. */
function numbers(seed: number) {
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
const sessions = timesOf(300, next).map((at, index) => ({
  type: 'session',
  id: `sess_${index}`,
  project_name: index % 3 === 0 ? 'web' : 'shop',
  created_at: at.toISOString(),
  turns: 1 + (index % 4),
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
const commits = timesOf(40, next).map((at, index) => ({
  type: 'commit',
  sha: index.toString(16).padStart(40, '0'),
  project: 'shop',
  author_name: 'Ada',
  author_email: 'ada@example.com',
  committed_at: at.toISOString(),
  subject: `change ${index}`,
  files: [{ path: 'src/a.ts', status: 'modified', additions: 3, deletions: 1 }],
}))
const risks = timesOf(30, next).map((at, index) => ({
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

async function world() {
  const own = await tenant(db.sql, { scopes: ['read', 'write', 'admin', 'audit:write', 'webhooks'] })
  // a server remembers an organization for less than a second
  const server = () => asker(localApp(db, { now: () => NOW }), own.key)
  let ask = server()
  const sent = await ask('POST', '/v1/sync', { records: [...commits, ...risks, ...sessions] })
  expect([sent.status, sent.body]).toMatchObject([
    200,
    { created: commits.length + risks.length + sessions.length },
  ])
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
      const how = { now: NOW, publicUrl: null, pricer: loadPricer }
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
        'pr_risks',
        'pr_sessions',
        'outcome_rollups',
        'ticket_rollups',
      ]) {
        const rows = await db.sql<{ text: string }[]>`
          select t::text as text from ${db.sql(table)} t where t.org_id = ${own.orgId} order by 1`
        texts.push(`${table}\n${rows.map(({ text }) => text).join('\n')}`)
      }
      return texts
    },
  }
}

const ZONES = [
  'Europe/Berlin',
  'Asia/Kolkata',
  'Africa/Cairo',
  'Australia/Lord_Howe',
  'America/Los_Angeles',
  'Pacific/Kiritimati',
]

describe('days of an organization', () => {
  test('are those of its time zone, in every answer, and those of UTC again after a change back', async () => {
    const { change, get, differences, rows } = await world()
    const before = await rows()
    expect(await differences()).toEqual([])
    for (const zone of ['UTC', ...ZONES]) {
      if (zone !== 'UTC') await change(zone)
      expect(await differences()).toEqual([])
      const clock = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' })
      const dayOf = (at: string) => clock.format(new Date(at))
      const byDay = Map.groupBy(sessions, ({ created_at }) => dayOf(created_at))
      const mean = (of: typeof sessions) =>
        Math.round(
          of.reduce((sum, { quality_metadata }) => sum + Math.round(quality_metadata.score * 100), 0) /
            of.length +
            1e-9,
        ) / 100
      const { data: trend } = await get('/v1/quality/trend?granularity=day')
      expect(
        (trend as { date: string; sessions: number }[]).map(({ date, sessions: count }) => [date, count]),
      ).toEqual([...byDay].map(([day, of]): [string, number] => [day, of.length]).sort())
      for (const day of ['2026-04-24', '2026-10-25', '2026-10-04', '2026-10-31']) {
        const of = (byDay.get(day) ?? []).toSorted((a, b) => (a.created_at > b.created_at ? -1 : 1))
        const range = `date_from=${day}&date_to=${day}`
        for (const filter of ['', '&sort=turns', '&min_quality=0', '&agent='].slice(0, 3)) {
          const { data, pagination } = await get(`/v1/sessions?${range}&per_page=100${filter}`)
          expect([zone, day, filter, (pagination as { total: number }).total]).toEqual([
            zone,
            day,
            filter,
            of.length,
          ])
          expect((data as { id: string }[]).map(({ id }) => id).toSorted()).toEqual(
            of.map(({ id }) => id).toSorted(),
          )
        }
        expect(await get(`/v1/quality?${range}`)).toMatchObject({
          total_sessions: of.length,
          ...(of.length > 0 && { average_score: mean(of) }),
        })
        const { summary } = await get(`/v1/security?${range}`)
        expect((summary as { total_sessions: number }).total_sessions).toBe(of.length)
        const found = of.filter(({ security_metadata }) => security_metadata.findings.length > 0)
        expect((await get(`/v1/findings?${range}`)).pagination).toMatchObject({ total: found.length })
        const files = new Set(
          found.flatMap(({ security_metadata: { findings } }) => findings.map(({ file }) => file)),
        )
        expect((await get(`/v1/security/heatmap?${range}`)).summary).toMatchObject({ files: files.size })
        const { total } = await get(`/v1/outcomes?by=project&${range}`)
        expect(total).toMatchObject({
          commits: commits.filter(({ committed_at }) => dayOf(committed_at) === day).length,
          pull_requests: {
            merged: risks.filter(({ merged_at }) => merged_at !== undefined && dayOf(merged_at) === day)
              .length,
          },
        })
      }
    }
    await change('UTC')
    expect(await differences()).toEqual([])
    expect(await rows()).toEqual(before)
  })

  test('pages go on over days of 23 and 25 hours, in both orders', async () => {
    const { change, get } = await world()
    for (const zone of ZONES) {
      await change(zone)
      for (const [order, project] of [
        ['desc', ''],
        ['asc', ''],
        ['asc', '&project=web'],
        ['desc', '&project=web'],
      ]) {
        const wanted = sessions
          .filter(({ project_name }) => project === '' || project_name === 'web')
          .toSorted((a, b) =>
            a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : a.id < b.id ? -1 : 1,
          )
          .map(({ id }) => id)
        if (order === 'desc') wanted.reverse()
        for (const page of [2, 5, 9]) {
          const { data } = await get(`/v1/sessions?order=${order}&per_page=11&page=${page}${project}`)
          const ids = (data as { id: string }[]).map(({ id }) => id)
          expect([zone, order, project, page, ids]).toEqual([
            zone,
            order,
            project,
            page,
            wanted.slice(11 * (page - 1), 11 * page),
          ])
        }
      }
    }
  })

  test('what is written after a change is on the days of the zone, and removing it leaves none', async () => {
    const { change, ask, differences } = await world()
    await change('Asia/Kolkata')
    const late = sessions.map((session) => ({ ...session, id: `${session.id}-late` }))
    expect((await ask('POST', '/v1/sync', { records: late })).body).toMatchObject({ created: late.length })
    expect(await differences()).toEqual([])
    for (const { id } of late.slice(0, 40))
      expect((await ask('DELETE', `/v1/sessions/${id}`)).status).toBeLessThan(300)
    expect(await differences()).toEqual([])
  })
})

test('days are listed', () =>
  expect(daysFrom('2026-02-27', '2026-03-01')).toEqual([
    '2026-02-27',
    addDays('2026-02-27', 1),
    '2026-03-01',
  ]))
