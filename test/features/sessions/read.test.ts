import { describe, expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { client, got, jsonPost, newOrg, repeatingClient, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { memberRecord, numbersFrom, sessionRecord } from '../../support/records.ts'

// The read routes against what a naive computation over the same sessions says.

const NOW = new Date('2026-11-15T12:00:00.000Z')
const DAY_MS = 86_400_000

const database = await testsDatabase()

const get = (path: string) => got(ask(path))

const post = (records: unknown[], as = ask) => as('/v1/sync', jsonPost({ records }))

/** 400 sessions over 95 days to 14 November 2026, with many ties in time, cost and turns. */
function makeSessions() {
  const random = numbersFrom(42)
  return Array.from({ length: 400 }, (_, index) =>
    sessionRecord(`sess_${String(index).padStart(3, '0')}`, {
      project_name: ['p0', 'p1', 'p2', null, null][random(5)] ?? null,
      created_at: new Date(Date.UTC(2026, 7, 12) + random(95) * DAY_MS + random(3) * 3_600_000).toISOString(),
      estimated_cost: random(5) === 0 ? 0 : random(3_000_000) / 1e6,
      quality_score: random(10_001) / 100,
      turns: random(10),
    }),
  )
}

const app = testApp(database.sql, { now: () => NOW, pricer: loadPricer })
const mine = await newOrg(database.sql)
const ask = repeatingClient(app, mine.key)
const made = makeSessions()
expect((await post(made)).status).toBe(200)

type Made = (typeof made)[number]
const day = (session: Made) => session.created_at.slice(0, 10)
const matching = (query: { project?: string; date_from?: string; date_to?: string }) =>
  made.filter(
    (session) =>
      (query.project === undefined || (session.project_name ?? '') === query.project) &&
      (query.date_from === undefined || day(session) >= query.date_from) &&
      (query.date_to === undefined || day(session) <= query.date_to),
  )
const dollars = (sessions: Made[]) =>
  sessions.reduce((sum, session) => sum + Math.round(session.estimated_cost * 1e6), 0) / 1e6

const dollarsOf = (items: readonly { cost: number }[]) =>
  items.reduce((sum, { cost }) => sum + Math.round(cost * 1e6), 0) / 1e6

const FILTERS = [
  {},
  { project: 'p1' },
  { project: '' },
  { project: '', date_from: '2026-09-02', date_to: '2026-10-15' },
  { date_from: '2026-09-10' },
  { date_to: '2026-09-30' },
  { project: 'p2', date_from: '2026-08-31', date_to: '2026-10-01' },
  { date_from: '2026-09-05', date_to: '2026-09-20' },
  { project: 'nothing' },
  { date_from: '1970-01-01', date_to: '9999-12-31' },
] as const

function search(query: Record<string, unknown>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) params.set(name, String(value))
  return params.toString()
}

describe('GET /v1/sessions', () => {
  const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0)
  for (const filter of FILTERS) {
    for (const sort of ['created_at', 'estimated_cost', 'turns', 'quality_score'] as const) {
      test.each(['asc', 'desc'])(`pages through ${JSON.stringify(filter)} by ${sort} %s`, async (order) => {
        const sign = order === 'asc' ? 1 : -1
        const expected = matching(filter)
          .toSorted((a, b) => sign * (compare(a[sort], b[sort]) || compare(a.id, b.id)))
          .map((session) => session.id)
        const seen: string[] = []
        for (let page = 1; page <= Math.ceil(expected.length / 90) + 1; page += 1) {
          const answer = await get(`/v1/sessions?${search({ ...filter, sort, order, page, per_page: 90 })}`)
          expect(answer.pagination).toEqual({ page, per_page: 90, total: expected.length })
          seen.push(...answer.data.map((session: { id: string }) => session.id))
        }
        expect(seen).toEqual(expected)
      })
    }
  }

  test('deep pages by number are counted from the nearer end', async () => {
    const other = await newOrg(database.sql)
    const asOther = client(app, other.key)
    const many = Array.from({ length: 2_500 }, (_, index) =>
      sessionRecord(`sess_${String(index).padStart(4, '0')}`, { project_name: 'many', turns: index % 7 }),
    )
    expect((await post(many, asOther)).status).toBe(200)
    const expected = many
      .toSorted((a, b) => b.turns - a.turns || (a.id < b.id ? 1 : -1))
      .map((session) => session.id)
    for (const page of [11, 12, 20, 24, 25, 26]) {
      const answer = await asOther(`/v1/sessions?sort=turns&per_page=100&page=${page}`)
      const { data, pagination } = JSON.parse(await answer.text())
      expect(pagination.total).toBe(2_500)
      expect(data.map((session: { id: string }) => session.id)).toEqual(
        expected.slice((page - 1) * 100, page * 100),
      )
    }
  })

  test('a page beyond the end is empty with the true total', async () => {
    const answer = await get('/v1/sessions?page=1000000000&per_page=100')
    expect(answer).toEqual({
      data: [],
      pagination: { page: 1_000_000_000, per_page: 100, total: made.length },
    })
  })
})

describe('GET /v1/quality', () => {
  test.each(FILTERS.map((filter) => [filter]))('means of %j', async (filter) => {
    const sessions = matching(filter)
    const mean = (of: Made[]) => {
      const sum = of.reduce((total, session) => total + Math.round(session.quality_score * 100), 0)
      return of.length === 0 ? 0 : Math.floor((2 * sum + of.length) / (2 * of.length)) / 100
    }
    const days = [...new Set(sessions.map(day))].sort()
    const answer = await get(`/v1/quality?${search(filter)}`)
    expect(answer.average_score).toBe(mean(sessions))
    expect(answer.total_sessions).toBe(sessions.length)
    expect(answer.scores_by_date).toEqual(
      days.map((date) => ({ date, score: mean(sessions.filter((session) => day(session) === date)) })),
    )
    if (sessions.length === 0) expect(answer.trend).toBe('stable')
  })

  test('the mean of the equally long range before is that range’s own', async () => {
    const theirs = await newOrg(database.sql, { scopes: ['read', 'write'] })
    const as = client(app, theirs.key)
    const scores = [
      ['2019-03-01', 20],
      // half of the range's days, but not of its sessions
      ['2019-03-04', 90],
      ['2019-03-04', 90],
      ['2019-03-04', 81],
      ['2019-03-06', 60],
    ] as const
    await post(
      scores.map(([day, quality_score], nth) => ({
        ...{ type: 'session', id: `sess_before_${nth}`, project_name: 'before', quality_score },
        created_at: `${day}T00:00:00Z`,
      })),
      as,
    )
    const get = async (query: string) => await (await as(`/v1/quality?project=before${query}`)).json()
    const of = (from: number, to: number) =>
      get(`&date_from=2019-03-0${from}&date_to=2019-03-0${to}&compare=previous`)
    expect(await of(4, 6)).toMatchObject({
      ...{ average_score: 80.25, total_sessions: 4, trend: 'down' },
      previous: { average_score: 20, total_sessions: 1 },
    })
    expect(await of(1, 1)).toMatchObject({ previous: { average_score: 0, total_sessions: 0 } })
    expect(await get('&compare=2019-03-04..2019-03-06')).toMatchObject({
      previous: { average_score: 80.25, total_sessions: 4 },
    })
    for (const days of ['2019-03-06..2019-03-04', '2019-02-30..2019-03-04', '2019-03-04', 'year'])
      expect(await get(`&compare=${days}`)).toMatchObject({ details: [{ field: 'compare' }] })
    expect(await get('')).not.toHaveProperty('previous')
    expect(await get('&compare=previous&date_from=2019-03-01')).toMatchObject({
      details: [{ field: 'compare' }],
    })
  })

  test('the trend compares the later half of the days with the earlier', async () => {
    const cases = [
      { scores: [60, 62, 80, 82], trend: 'up' },
      { scores: [80, 60, 50], trend: 'down' },
      { scores: [70, 71], trend: 'stable' },
      { scores: [1.14, 2.14], trend: 'stable' },
      { scores: [2.14, 1.13], trend: 'down' },
      { scores: [70], trend: 'stable' },
    ]
    for (const [index, { scores, trend }] of cases.entries()) {
      await post(
        scores.map((score, offset) =>
          sessionRecord(`sess_trend_${index}_${offset}`, {
            project_name: `trend${index}`,
            created_at: `2020-01-0${offset + 1}T00:00:00Z`,
            quality_score: score,
          }),
        ),
      )
      expect((await get(`/v1/quality?project=trend${index}`)).trend).toBe(trend)
    }
  })

  test.each(['p1', ''])(
    'buckets of the project %j have their first day, extremes and count',
    async (project) => {
      const week = await get(`/v1/quality/trend?granularity=week&project=${project}&include=quartiles`)
      expect(week.granularity).toBe('week')
      for (const bucket of week.data) {
        expect(new Date(bucket.date).getUTCDay()).toBe(1)
        const end = new Date(Date.parse(bucket.date) + 7 * DAY_MS).toISOString().slice(0, 10)
        const scores = matching({ project, date_from: bucket.date })
          .filter((session) => day(session) < end)
          .map((session) => session.quality_score)
          .sort((one, other) => one - other)
        expect(bucket).toMatchObject({
          sessions: scores.length,
          min_score: scores[0],
          max_score: scores.at(-1),
          lower_quartile: scores[Math.ceil(scores.length / 4) - 1],
          upper_quartile: scores[Math.ceil((scores.length * 3) / 4) - 1],
        })
      }
      const month = await get(`/v1/quality/trend?granularity=month&project=${project}`)
      expect(month.data.map((bucket: { date: string }) => bucket.date)).toEqual([
        '2026-08-01',
        '2026-09-01',
        '2026-10-01',
        '2026-11-01',
      ])
    },
  )
})

describe('GET /v1/cost', () => {
  test.each(FILTERS.map((filter) => [filter]))('sums of %j', async (filter) => {
    const sessions = matching(filter)
    const answer = await get(`/v1/cost?${search({ ...filter, group_by: 'month' })}`)
    const trended = made.length // trend sessions of the other tests cost nothing
    expect(trended).toBe(400)
    expect(answer.total_cost).toBe(dollars(sessions))
    expect(answer.currency).toBe('USD')
    const months = Map.groupBy(sessions, (session) => `${day(session).slice(0, 7)}-01`)
    expect(answer.by_period.filter((period: { period: string }) => period.period >= '2026')).toEqual(
      [...months].sort().map(([period, of]) => ({ period, cost: dollars(of) })),
    )
    const projects = [...Map.groupBy(sessions, (session) => session.project_name)]
      .map(([project, of]) => ({ project, cost: dollars(of) }))
      .sort((a, b) => b.cost - a.cost || ((a.project ?? '~') < (b.project ?? '~') ? -1 : 1))
    expect(
      answer.by_project.filter(({ project }: { project: string | null }) => !project?.startsWith('trend')),
    ).toEqual(projects)
    expect(dollarsOf(answer.by_project)).toBe(answer.total_cost)
  })

  test('the current month is now, whatever dates are asked for', async () => {
    const november = made.filter((session) => day(session) >= '2026-11-01')
    expect((await get('/v1/cost?date_to=2026-09-01')).current_month).toBe(dollars(november))
    for (const project of ['p0', '']) {
      const ofProject = november.filter(({ project_name }) => (project_name ?? '') === project)
      expect((await get(`/v1/cost?project=${project}`)).current_month).toBe(dollars(ofProject))
    }
  })

  test('the budget in force, warned of and exceeded', async () => {
    expect((await get('/v1/cost')).current_budget).toBeNull()
    const spent = dollars(made.filter((session) => day(session) >= '2026-11-01'))
    await post([
      { type: 'budget', month: '2026-10', limit: 2 * spent },
      { type: 'budget', month: '2026-12', limit: 1 },
    ])
    const first = (await get('/v1/cost?project=p0')).current_budget
    expect(first).toMatchObject({
      scope: 'organization',
      period: 'monthly',
      period_start: '2026-11-01',
      period_end: '2026-11-30',
      current_cost: spent,
      percent_used: 50,
      alert_threshold: 80,
      status: 'ok',
      currency: 'USD',
    })
    // 14 days, and nothing yet on the 15th, which counts as a whole day
    expect(first.projected_cost).toBe(Math.round((spent * 1e6 * 30) / 14) / 1e6)
    expect(first.projected_exceed_date).toBe('2026-11-29')
    await post([{ type: 'budget', month: '2026-11', limit: Math.ceil(spent * 1e6 * 1.1) / 1e6 }])
    expect((await get('/v1/cost')).current_budget).toMatchObject({
      status: 'warning',
      // 1.1 times what 14 days took: the 16th day passes it
      projected_exceed_date: '2026-11-16',
    })
    await post([{ type: 'budget', month: '2026-11', limit: spent }])
    expect((await get('/v1/cost')).current_budget).toMatchObject({
      status: 'warning',
      remaining: 0,
      percent_used: 100,
    })
    await post([{ type: 'budget', month: '2026-11', limit: 0.5 }])
    expect((await get('/v1/cost')).current_budget).toMatchObject({ status: 'exceeded', remaining: 0 })
  })

  test('the trend has every bucket of its range, a running sum and the limit of each month', async () => {
    await post([
      { type: 'budget', month: '2026-09', limit: 10 },
      { type: 'budget', month: '2026-10', limit: 20.5 },
    ])
    const answer = await get('/v1/cost/trend?date_from=2026-08-01&date_to=2026-10-03')
    expect(answer.data.length).toBe(64)
    let cumulative = 0
    for (const bucket of answer.data) {
      const sessions = made.filter((session) => day(session) === bucket.period)
      cumulative += Math.round(dollars(sessions) * 1e6)
      expect(bucket).toEqual({
        period: bucket.period,
        cost: dollars(sessions),
        sessions: sessions.length,
        cumulative_cost: cumulative / 1e6,
        budget: bucket.period < '2026-09-01' ? null : bucket.period < '2026-10-01' ? 10 : 20.5,
      })
    }
    const weeks = await get('/v1/cost/trend?granularity=week&date_from=2026-09-01&date_to=2026-09-30')
    expect(weeks.data.map((bucket: { period: string }) => bucket.period)).toEqual([
      '2026-08-31',
      '2026-09-07',
      '2026-09-14',
      '2026-09-21',
      '2026-09-28',
    ])
    expect((await get('/v1/cost/trend?project=nothing')).data).toEqual([])
    const periods = async (query: string) =>
      (await get(`/v1/cost/trend?${query}`)).data.map(({ period }: { period: string }) => period)
    expect(await periods('granularity=month&date_from=0099-11-05&date_to=0100-02-01')).toEqual([
      '0099-11-01',
      '0099-12-01',
      '0100-01-01',
      '0100-02-01',
    ])
    expect(await periods('granularity=week&date_from=0001-01-03&date_to=0001-01-08')).toEqual([
      '0001-01-01',
      '0001-01-08',
    ])
    const endless = await ask('/v1/cost/trend?date_from=2026-01-01&date_to=9999-12-31')
    expect(endless.status).toBe(400)
    expect(
      (await get('/v1/cost/trend?granularity=month&date_from=9990-01-01&date_to=9999-12-31')).data.length,
    ).toBe(120)
  })
})

describe('a session of another age', () => {
  const trendOf = async (years: string[], query = '') => {
    const other = client(app, (await newOrg(database.sql)).key)
    const sessions = years.map((year, index) => ({
      ...{ type: 'session', id: `sess_${index}`, project_name: 'p', estimated_cost: 1 + index },
      created_at: `${year}-11-15T10:00:00Z`,
    }))
    expect((await post(sessions, other)).status).toBe(200)
    const response = await other(`/v1/cost/trend${query}`)
    return { status: response.status, ...JSON.parse(await response.text()) }
  }

  test.each([
    [['2000', '2026'], '', 'day', 9_497],
    [['1970', '2026'], '', 'week', 2_923],
    [['1970', '2026'], '?date_from=1971-01-01', 'week', 2_916],
    [['2026', '2600'], '?granularity=week', 'month', 6_889],
    [['2026', '9999'], '', 'year', 7_974],
    [['2026', '9999'], '?granularity=month', 'year', 7_974],
  ])('%p: the trend%s has buckets of a %s', async (years, query, granularity, count) => {
    const answer = await trendOf(years, query)
    expect([answer.status, answer.granularity, answer.data?.length]).toEqual([200, granularity, count])
    const found = answer.data.filter((bucket: { sessions: number }) => bucket.sessions > 0)
    const isCut = query.includes('date_from')
    expect(found.map(({ cost }: { cost: number }) => cost)).toEqual(isCut ? [2] : [1, 2])
    expect(answer.data.at(-1)).toMatchObject({ cost: 2, cumulative_cost: isCut ? 2 : 3 })
    if (granularity === 'year') expect(found[0].period).toBe('2026-01-01')
  })

  test('a range that was given is not made coarser', async () => {
    const answer = await trendOf(['2026'], '?date_from=1990-01-01&date_to=2026-12-31')
    expect([answer.status, answer.details]).toMatchObject([
      400,
      [{ field: 'date_to', message: expect.stringContaining('more than 10000 days') }],
    ])
  })
})

test('GET /v1/sessions/:session_id has every field, with what was left out filled in', async () => {
  const member = memberRecord('ada')
  const record = sessionRecord('sess_detail', {
    project_name: 'web',
    created_at: '2019-03-01T10:00:00.123456+01:00',
    user_email: 'Ada@example.com',
    source: 'claude-code',
    started_at: '2019-03-01T09:00:00Z',
    ended_at: '2019-03-01T09:30:30Z',
    turn_records: [
      { role: 'user' },
      {
        model: 'claude-opus-4-5',
        tokens: { input: 10, output: 20 },
        cost: 0.1234567,
        tool_calls: [
          { name: 'Edit', ok: true },
          { name: 'Bash', ok: false },
        ],
        content: 'not stored',
      },
    ],
    observations: [{ type: 'decision', title: 'Use a queue' }],
    security_metadata: {
      findings: [{ rule_id: 'aws', category: 'secret', severity: 'critical', title: 'AWS key' }],
    },
  })
  expect((await post([record])).status).toBe(200)
  expect((await get('/v1/sessions/sess_detail')).user_id).toBeNull()
  await post([member])
  const detail = await get('/v1/sessions/sess_detail')
  expect(detail).toMatchObject({
    id: 'sess_detail',
    project_name: 'web',
    turns: 2,
    created_at: '2019-03-01T09:00:00.123Z',
    user_id: 'user_ada',
    source: 'claude-code',
    branch: null,
    model: 'claude-opus-4-5',
    models: ['claude-opus-4-5'],
    duration_seconds: 1830,
    tokens: { input: 10, output: 20, cache_read: 0, cache_creation: 0 },
    cost_source: 'estimated',
    tools_used: [
      { name: 'Bash', calls: 1, errors: 1 },
      { name: 'Edit', calls: 1, errors: 0 },
    ],
    files_touched: [],
    summary: null,
    analysis: { summary: null, issues: [], classification: null },
  })
  expect(detail.estimated_cost).toBe(0.123457)
  expect(detail.turn_records[1]).toEqual({
    turn_number: 2,
    role: 'assistant',
    model: 'claude-opus-4-5',
    started_at: null,
    tokens: { input: 10, output: 20, cache_read: 0, cache_creation: 0 },
    cost: 0.123457,
    tool_calls: [
      { name: 'Edit', ok: true },
      { name: 'Bash', ok: false },
    ],
  })
  expect(detail.observations[0]).toMatchObject({ importance: 5, created_at: '2019-03-01T09:00:00.123Z' })
  expect(detail.observations[0].id).toMatch(/^obs_/)
  expect(detail.security_metadata).toMatchObject({ score: 75, findings: [{ status: 'open', file: null }] })
  expect(detail.quality_metadata).toMatchObject({
    base: 75,
    previous_score: null,
    scored_at: NOW.toISOString(),
  })
  expect(JSON.stringify(detail)).not.toContain('not stored')
  expect(JSON.parse(await (await post([record])).text())).toMatchObject({ unchanged: 1 })
})

test('include=details adds member, agent, model, branch, end and open findings, in every order and as CSV', async () => {
  const own = await newOrg(database.sql)
  const asOwn = client(app, own.key)
  const one = {
    ...{ type: 'session', id: 'sess_full', created_at: '2026-11-02T10:00:00Z', project_name: 'p0', turns: 3 },
    ...{ user_email: 'ada@example.com', source: 'codex', model: 'gpt-5', branch: 'fix "it"' },
    ...{ ended_at: '2026-11-02T10:30:00Z', estimated_cost: 2 },
    security_metadata: { findings: [{ severity: 'high' }, { severity: 'low' }] },
  }
  expect(
    (
      await post(
        [
          one,
          {
            ...one,
            id: 'sess_bare',
            user_email: null,
            source: null,
            model: null,
            branch: null,
            ended_at: null,
            estimated_cost: 1,
            security_metadata: { findings: [] },
          },
        ],
        asOwn,
      )
    ).status,
  ).toBe(200)
  const list = async (query: string) =>
    ((await (await asOwn(`/v1/sessions?include=details${query}`)).json()) as { data: object[] }).data
  const full = {
    ...{
      id: 'sess_full',
      project_name: 'p0',
      turns: 3,
      estimated_cost: 2,
      quality_score: expect.any(Number),
    },
    ...{
      created_at: '2026-11-02T10:00:00.000Z',
      member: { id: null, email: 'ada@example.com' },
      agent: 'codex',
    },
    ...{ model: 'gpt-5', branch: 'fix "it"', ended_at: '2026-11-02T10:30:00.000Z', findings: 2 },
  }
  const none = { member: null, agent: null, model: null, branch: null, ended_at: null, findings: 0 }
  for (const query of [
    '&sort=estimated_cost',
    '&agent=codex',
    '&sort=estimated_cost&date_from=2026-11-01',
    '&min_cost=1.5',
  ]) {
    expect([query, (await list(query))[0]]).toEqual([query, full])
  }
  expect((await list('&per_page=1&page=2&order=asc'))[0]).toEqual(full)
  expect((await list('&max_cost=1'))[0]).toMatchObject(none)
  const [plain] = ((await (await asOwn('/v1/sessions')).json()) as { data: object[] }).data
  expect(Object.keys(plain ?? {})).toHaveLength(6)
  const csv = async (query: string) =>
    (
      await (await asOwn(`/v1/sessions?per_page=all${query}`, { headers: { accept: 'text/csv' } })).text()
    ).split('\r\n')
  expect((await csv('&include=details'))[0]).toEndWith(
    ',created_at,member,agent,model,branch,ended_at,findings',
  )
  expect((await csv('&include=details')).join()).toContain(
    '"{""id"":null,""email"":""ada@example.com""}",codex',
  )
  expect((await csv(''))[0]).toEndWith(',created_at')
  expect((await asOwn('/v1/sessions?include=all')).status).toBe(400)
})
