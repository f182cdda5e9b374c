import { expect, test } from 'bun:test'
import { loadPricer, type Pricer } from '../../../src/analysis/scoring/prices.ts'
import { USAGE_ROLLUPS } from '../../../src/features/usage/rollup.ts'
import { got, jsonPost, newOrg, repeatingClient, testApp } from '../../support/api.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'
import { sessionRecord } from '../../support/records.ts'

// Tokens of models without a known price: counted apart, never as $0 that looks like a price.

const NOW = new Date('2026-11-15T12:00:00.000Z')
const TOKENS = { input: 1_000, output: 200, cache_read: 30, cache_creation: 4 }
const IN_HOUSE = { 'in-house': { input: 1, output: 10, cache_read: 0.1, cache_write: 2 } }
/** US dollars for TOKENS of `in-house`. */
const IN_HOUSE_COST = 0.003011
/** US dollars for TOKENS of `claude-haiku-4-5`. */
const HAIKU_COST = 0.002008

const database = await testsDatabase()

/** A new organization, and what asks the API of it; `prices` may be replaced. */
async function organization() {
  const mine = await newOrg(database.sql)
  const prices = { pricer: await loadPricer() }
  const pricer: () => Promise<Pricer> = async () => prices.pricer
  const ask = repeatingClient(testApp(database.sql, { now: () => NOW, pricer }), mine.key)
  const get = (path: string) => got(ask(path))
  const send = async (...records: object[]) => {
    const response = await ask('/v1/sync', jsonPost({ records }))
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  return {
    ...mine,
    prices,
    get,
    send,
    sqlDifferences: () => findDifferences(database.sql, mine.orgId, USAGE_ROLLUPS),
  }
}

const session = (id: string, over: object) =>
  sessionRecord(id, { created_at: '2026-11-14T10:00:00Z', ...over })

test('tokens without a price are counted in the session and in /cost, and their turns have no cost', async () => {
  const { get, send, sqlDifferences } = await organization()
  const { status } = await send(
    session('sess_mixed', {
      turn_records: [
        { role: 'user' },
        { model: 'claude-haiku-4-5', tokens: TOKENS },
        { model: 'in-house', tokens: TOKENS },
      ],
    }),
    session('sess_sum', {
      model: 'in-house',
      tokens: TOKENS,
      project_name: 'blog',
      created_at: '2026-10-02T00:00:00Z',
    }),
    session('sess_priced', { model: 'claude-haiku-4-5', tokens: TOKENS }),
    session('sess_reported', { estimated_cost: 2, model: 'in-house', tokens: TOKENS }),
  )
  expect(status).toBe(200)
  const mixed = await get('/v1/sessions/sess_mixed')
  expect(mixed).toMatchObject({
    estimated_cost: HAIKU_COST,
    unpriced_tokens: 1_234,
    cost_source: 'estimated',
  })
  expect(mixed.turn_records.map(({ cost }: { cost: number | null }) => cost)).toEqual([
    null,
    HAIKU_COST,
    null,
  ])
  expect(await get('/v1/sessions/sess_sum')).toMatchObject({ estimated_cost: 0, unpriced_tokens: 1_234 })
  expect(await get('/v1/sessions/sess_priced')).toMatchObject({
    estimated_cost: HAIKU_COST,
    unpriced_tokens: 0,
  })
  expect(await get('/v1/sessions/sess_reported')).toMatchObject({ estimated_cost: 2, unpriced_tokens: 0 })
  const unpriced = async (query: string) => (await get(`/v1/cost?${query}`)).unpriced_tokens
  expect(await unpriced('')).toBe(2_468)
  expect(await unpriced('group_by=month')).toBe(2_468)
  expect(await unpriced('project=blog')).toBe(1_234)
  expect(await unpriced('project=nothing')).toBe(0)
  expect(await unpriced('date_from=2026-11-01&date_to=2026-11-30')).toBe(1_234)
  expect(await sqlDifferences()).toEqual([])
})

test('the count moves with the session, and doctor sees one that did not', async () => {
  const { orgId, prices, get, send, sqlDifferences } = await organization()
  const record = session('sess_moves', { turn_records: [{ model: 'in-house', tokens: TOKENS }] })
  await send(record)
  await send({ ...record, project_name: 'blog' })
  expect((await get('/v1/cost?project=shop')).unpriced_tokens).toBe(0)
  expect((await get('/v1/cost?project=blog')).unpriced_tokens).toBe(1_234)
  prices.pricer = await loadPricer(IN_HOUSE)
  await send({ ...record, project_name: 'blog' })
  expect(await get('/v1/cost')).toMatchObject({ unpriced_tokens: 0, total_cost: IN_HOUSE_COST })
  expect((await get('/v1/sessions/sess_moves')).turn_records[0].cost).toBe(IN_HOUSE_COST)
  expect(await sqlDifferences()).toEqual([])
  await database.sql`
    update usage_rollups
    set unpriced_tokens = 1
    where org_id = ${orgId}
      and grain = 'day'
      and dims in ('all', 'project')`
  expect(await sqlDifferences()).toEqual([
    'usage of a day (2026-11-14) by all',
    'usage of a day (2026-11-14) by project',
  ])
})

test('an estimate that names unpriced tokens is completed where their price is known; any other is kept', async () => {
  const { prices, get, send } = await organization()
  const turns = [
    { model: 'claude-haiku-4-5', tokens: TOKENS, cost: 0.5 },
    { model: 'in-house', tokens: TOKENS },
    { model: 'mystery', tokens: { input: 7 } },
  ]
  const given = { estimated_cost: 0.5, cost_source: 'estimated', turn_records: turns }
  const open = session('sess_open', { ...given, unpriced_tokens: 1_241 })
  await send(open)
  expect(await get('/v1/sessions/sess_open')).toMatchObject({ estimated_cost: 0.5, unpriced_tokens: 1_241 })
  prices.pricer = await loadPricer(IN_HOUSE)
  await send(
    open,
    session('sess_whole', given),
    session('sess_said', { estimated_cost: 3, unpriced_tokens: 9 }),
  )
  const priced = await get('/v1/sessions/sess_open')
  expect(priced).toMatchObject({ estimated_cost: 0.5 + IN_HOUSE_COST, unpriced_tokens: 7 })
  expect(priced.turn_records.map(({ cost }: { cost: number | null }) => cost)).toEqual([
    0.5,
    IN_HOUSE_COST,
    null,
  ])
  const whole = await get('/v1/sessions/sess_whole')
  expect(whole).toMatchObject({ estimated_cost: 0.5, unpriced_tokens: 0 })
  expect(whole.turn_records.map(({ cost }: { cost: number | null }) => cost)).toEqual([0.5, null, null])
  expect(await get('/v1/sessions/sess_said')).toMatchObject({ estimated_cost: 3, unpriced_tokens: 9 })
})

test('counts that are no counts are refused', async () => {
  const { send } = await organization()
  for (const unpriced_tokens of [-1, 1.5, 5e12, '1']) {
    const { status, body } = await send(session('sess_x', { unpriced_tokens }))
    expect(status).toBe(400)
    expect(body.details[0].field).toBe('records[0].unpriced_tokens')
  }
})
