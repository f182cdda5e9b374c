import { beforeAll, describe, expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { rebuildTables } from '../../../src/database/derived-tables.ts'
import { RISK_TABLES } from '../../../src/features/risk/rollup.ts'
import { seed } from '../../../src/server/seed/seed.ts'
import { newOrg, type Org, repeatingClient, testApp } from '../../support/api.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'
import { given, numbersFrom, type Risk } from '../../support/records.ts'
import { type Ask, bodyOf, firstOf, list, post, sync } from './requests.ts'

// GET /v1/risk and the pr_risk records of sync that have the parts, against what a naive computation says.

const RATINGS = ['low', 'medium', 'high', 'critical'] as const

const database = await testsDatabase()

async function ownOrg(scopes?: string[]): Promise<{ ask: Ask; own: Org }> {
  const own = await newOrg(database.sql, scopes === undefined ? {} : { scopes })
  return { ask: repeatingClient(app, own.key), own }
}

const app = testApp(database.sql)

describe('the list', () => {
  let ask: Ask
  let made: Risk[]

  /** 300 scores over 9 days, with many ties in time. */
  function makeRisks(): Risk[] {
    const random = numbersFrom(7)
    return Array.from({ length: 300 }, (_, index) =>
      given({
        repo: `acme/r${random(3)}`,
        pr_number: index + 1,
        created_at: new Date(Date.UTC(2026, 9, 1 + random(9), random(3))).toISOString(),
        impact_score: random(10_001) / 100,
        regression_score: random(10_001) / 100,
        security_score: random(10_001) / 100,
        coupling_score: random(10_001) / 100,
      }),
    )
  }

  /** Computes the score in integers: 30, 25, 25 and 20 times hundredths. */
  const scoreOf = (risk: Risk) => {
    const cents = (value: number) => Math.round(value * 100)
    const sum =
      30 * cents(risk.impact_score) +
      25 * cents(risk.regression_score) +
      25 * cents(risk.security_score) +
      20 * cents(risk.coupling_score)
    return Math.floor((2 * sum + 10_000) / 20_000)
  }
  const ratingOf = (score: number) =>
    score <= 30 ? 'low' : score <= 60 ? 'medium' : score <= 80 ? 'high' : 'critical'

  beforeAll(async () => {
    ;({ ask } = await ownOrg(['risk:read', 'write']))
    made = makeRisks()
    expect(await sync(ask, made)).toEqual({ created: 300, updated: 0, unchanged: 0 })
  })

  const FILTERS = [
    {},
    { repo: 'acme/r1' },
    { repo: 'acme/none' },
    ...RATINGS.map((rating) => ({ rating })),
    ...RATINGS.map((rating) => ({ rating, repo: 'acme/r2' })),
  ]

  test.each(FILTERS)('pages through %j, newest first', async (filter) => {
    const all = (await list(ask, { per_page: 100, ...filter })).pagination.total
    const matching = made.filter(
      (risk) =>
        (!('repo' in filter) || risk.repo === filter.repo) &&
        (!('rating' in filter) || ratingOf(scoreOf(risk)) === filter.rating),
    )
    expect(all).toBe(matching.length)
    const seen: (Risk & { id: string; risk_score: number; rating: string })[] = []
    for (let page = 1; page <= Math.ceil(matching.length / 40) + 1; page += 1) {
      const answer = await list(ask, { ...filter, page, per_page: 40 })
      expect(answer.pagination).toEqual({ page, per_page: 40, total: matching.length })
      seen.push(...answer.data)
    }
    const order = (a: { created_at: string; id: string }, b: { created_at: string; id: string }) =>
      a.created_at === b.created_at ? (a.id < b.id ? 1 : -1) : a.created_at < b.created_at ? 1 : -1
    expect(seen).toEqual(seen.toSorted(order))
    expect(seen.map((risk) => risk.pr_number).sort((a, b) => a - b)).toEqual(matching.map((r) => r.pr_number))
    for (const risk of seen) {
      expect(risk.risk_score).toBe(scoreOf(risk))
      expect(risk.rating).toBe(ratingOf(risk.risk_score))
    }
  })

  test('shows the fields of a score, under /api too', async () => {
    const { data } = await list(ask, { per_page: 1 })
    expect(Object.keys(data[0]).sort()).toEqual(
      [
        'id',
        'repo',
        'pr_number',
        'pr_title',
        'risk_score',
        'impact_score',
        'regression_score',
        'security_score',
        'coupling_score',
        'files_changed',
        'created_at',
        'rating',
        'contributions',
      ].sort(),
    )
    expect(data[0].id).toMatch(/^risk_[a-z0-9]{20}$/)
    expect(data[0].created_at).toMatch(/^2026-10-09T0[0-2]:00:00\.000Z$/)
    const other = await ask('/api/v1/risk?per_page=1')
    expect((await bodyOf(other)).data).toEqual(data)
  })

  test('beyond the end is empty with the true total, and bad parameters are named', async () => {
    expect(await list(ask, { page: 1_000_000_000, per_page: 100 })).toEqual({
      data: [],
      pagination: { page: 1_000_000_000, per_page: 100, total: 300 },
    })
    expect((await list(ask)).pagination.per_page).toBe(50)
    for (const query of ['rating=severe', 'rating=LOW', 'per_page=101', 'page=0', 'repo=a&repo=b']) {
      const response = await ask(`/v1/risk?${query}`)
      expect(response.status).toBe(400)
      const { code, details } = await bodyOf(response)
      expect(code).toBe('VALIDATION_ERROR')
      expect(details[0].field).toBe(query.split('=')[0])
    }
  })
})

describe('given parts', () => {
  test('make a score and a rating of ours', async () => {
    const { ask } = await ownOrg()
    await sync(ask, [given({ risk_score: 1, rating: 'low' })])
    const first = await firstOf(ask)
    expect(first).toMatchObject({
      risk_score: 65,
      rating: 'high',
      impact_score: 70,
      created_at: '2026-10-01T10:00:00.000Z',
    })
    expect(first.contributions.impact).toEqual([{ name: 'reported', value: 70, points: 70 }])
  })

  test('again change nothing; else they replace what was there', async () => {
    const { ask, own } = await ownOrg()
    const batch = [given(), given({ pr_number: 2, id: 'risk_mine' }), given({ repo: 'acme/other' })]
    expect(await sync(ask, batch)).toEqual({ created: 3, updated: 0, unchanged: 0 })
    const before = await list(ask)
    expect(await sync(ask, batch)).toEqual({ created: 0, updated: 0, unchanged: 3 })
    expect(await list(ask)).toEqual(before)
    const changed = [
      given({ impact_score: 0, regression_score: 0, created_at: '2026-10-02T00:00:00Z' }),
      given({ pr_number: 2, pr_title: 'Renamed' }),
      given({ repo: 'acme/other' }),
    ]
    expect(await sync(ask, changed)).toEqual({ created: 0, updated: 2, unchanged: 1 })
    expect((await list(ask, { rating: 'low' })).data.map((risk: Risk) => risk.pr_number)).toEqual([1])
    expect((await list(ask, { rating: 'high' })).pagination.total).toBe(2)
    expect(await findDifferences(database.sql, own.orgId, RISK_TABLES)).toEqual([])
    expect((await list(ask)).data.find((risk: Risk) => risk.pr_number === 2).id).toBe('risk_mine')
  })

  test('of one pull request twice in a batch: the later stands', async () => {
    const { ask, own } = await ownOrg()
    expect(await sync(ask, [given(), given({ coupling_score: 0 })])).toEqual({
      created: 1,
      updated: 1,
      unchanged: 0,
    })
    expect((await firstOf(ask)).risk_score).toBe(50)
    expect((await list(ask)).pagination.total).toBe(1)
    expect(await findDifferences(database.sql, own.orgId, RISK_TABLES)).toEqual([])
  })

  test('the counts can be made anew', async () => {
    const { ask, own } = await ownOrg()
    await sync(ask, [given(), given({ pr_number: 2, impact_score: 0 })])
    await database.sql`update risk_rollups r set prs = 9 where r.org_id = ${own.orgId} and r.repo = ''`
    expect((await findDifferences(database.sql, own.orgId, RISK_TABLES)).length).toBeGreaterThan(0)
    await database.sql.begin((tx) => rebuildTables(tx, own.orgId, RISK_TABLES))
    expect(await findDifferences(database.sql, own.orgId, RISK_TABLES)).toEqual([])
  })

  const files = [{ path: 'src/a.ts', additions: 1, deletions: 0, status: 'modified' }]
  const { impact_score: _i, regression_score: _r, security_score: _s, coupling_score: _c, ...bare } = given()
  test.each([
    ['partly', { ...bare, impact_score: 1 }, 'regression_score'],
    ['not at all', bare, 'files'],
    ['above 100', given({ impact_score: 100.01 }), 'impact_score'],
    ['below 0', given({ security_score: -1 }), 'security_score'],
    ['with files', given({ files, project: 'shop', author_email: 'a@b.c' }), 'impact_score'],
    ['without an author', { ...bare, files, project: 'shop' }, 'author_email'],
    ['without a project', { ...bare, files, author_email: 'a@b.c' }, 'project'],
    [
      'with more files than changed',
      { ...bare, files_changed: 0, files, project: 'shop', author_email: 'a@b.c' },
      'files_changed',
    ],
    ['of no pull request', given({ pr_number: 0 }), 'pr_number'],
    ['with half a file', given({ files_changed: 1.5 }), 'files_changed'],
    ['with an id of another kind', given({ id: 'sess_1' }), 'id'],
    ['with an unknown field', given({ extra: 1 }), 'extra'],
    [
      'that do not add up',
      given({
        contributions: {
          impact: [{ name: 'x', value: 1, points: 69 }],
          regression: [{ name: 'x', value: 1, points: 55 }],
          security: [{ name: 'x', value: 1, points: 60 }],
          coupling: [{ name: 'x', value: 1, points: 75 }],
        },
      }),
      'contributions.impact',
    ],
  ])('%s are refused', async (_what, record, field) => {
    const { ask } = await ownOrg()
    const response = await post(ask, [given({ pr_number: 9 }), record])
    expect(response.status).toBe(400)
    const { code, details } = await bodyOf(response)
    expect(code).toBe('VALIDATION_ERROR')
    expect(details[0].field).toBe(`records[1].${field}`)
    expect((await list(ask)).pagination.total).toBe(0)
  })

  test('an id stays with its pull request', async () => {
    const { ask } = await ownOrg()
    await sync(ask, [given({ id: 'risk_a' })])
    for (const record of [given({ id: 'risk_b' }), given({ pr_number: 2, id: 'risk_a' })]) {
      const response = await post(ask, [record])
      expect(response.status).toBe(400)
      expect((await bodyOf(response)).details[0].field).toBe('records[0].id')
    }
  })
})

test('seeded scores are counted, and the same for the same seed, also again', async () => {
  const plan = { risk: 400, projects: 3, days: 30, seed: 7, today: '2026-11-15' }
  const deps = {
    sql: database.sql,
    now: () => new Date(),
    pricer: async () => loadPricer({}),
    storeContent: false,
  }
  const [{ ask, own }, { ask: other, own: there }] = [await ownOrg(), await ownOrg()]
  await seed(deps, own.orgId, plan)
  await seed(deps, there.orgId, plan)
  expect((await list(ask)).pagination.total).toBe(400)
  expect(await list(ask, { page: 3 })).toEqual(await list(other, { page: 3 }))
  expect(await findDifferences(database.sql, own.orgId, RISK_TABLES)).toEqual([])
  await seed(deps, own.orgId, plan)
  expect(await list(ask, { page: 3 })).toEqual(await list(other, { page: 3 }))
  expect(await findDifferences(database.sql, own.orgId, RISK_TABLES)).toEqual([])
})
