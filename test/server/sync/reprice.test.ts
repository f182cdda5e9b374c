import { expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { lockOrganization } from '../../../src/database/org-lock.ts'
import { FINDING_TABLES } from '../../../src/features/security/check.ts'
import { getSession } from '../../../src/features/sessions/detail-queries.ts'
import { DIRECTORIES, SESSION_ROLLUPS } from '../../../src/features/sessions/rollup.ts'
import { sumUnpriced } from '../../../src/features/sessions/unpriced-queries.ts'
import { USAGE_TABLES } from '../../../src/features/usage/check.ts'
import { checkPrices } from '../../../src/server/doctor/checks.ts'
import { repriceSessions } from '../../../src/server/sync/reprice.ts'
import { writeRecords } from '../../../src/server/sync/write.ts'
import { CLAUDE, call, inboxEmpty, logs } from '../../analysis/telemetry/fixtures.ts'
import { client, jsonPost, newOrg, testApp } from '../../support/api.ts'
import { findDifferences, testsDatabase, untilWriterWaits } from '../../support/postgres.ts'
import { sessionRecord } from '../../support/records.ts'

// Sessions whose price became known after they were written.

const NOW = new Date('2026-11-15T12:00:00.000Z')
const ACTOR = { userId: 'cli:test', ipAddress: null }
const TOKENS = { input: 1_000, output: 200, cache_read: 30, cache_creation: 4 }
/** US dollars for TOKENS by IN_HOUSE. */
const COST = 0.003011
const IN_HOUSE = { 'in-house': { input: 1, output: 10, cache_read: 0.1, cache_write: 2 } }
/** More than are read at a time. */
const MANY = 80

const database = await testsDatabase()

const deps = (prices = {}) => ({
  sql: database.sql,
  now: () => NOW,
  storeContent: true,
  pricer: () => loadPricer(prices),
})
const session = (id: string, over: object = {}) =>
  sessionRecord(id, {
    created_at: '2026-11-14T10:00:00Z',
    quality_score: 80,
    turn_records: [
      { model: 'in-house', tokens: TOKENS, content: 'an answer' },
      { model: 'mystery', tokens: { input: 7 } },
      { model: 'in-house', tokens: TOKENS, cost: 0.5 },
    ],
    ...over,
  })
const read = async (orgId: string, id: string) => JSON.parse((await getSession(database.sql, orgId, id)).text)
const differences = (orgId: string) =>
  findDifferences(database.sql, orgId, [...SESSION_ROLLUPS, ...USAGE_TABLES, ...FINDING_TABLES, DIRECTORIES])

test('what has a price now is priced, all else stays, and every total with it', async () => {
  const { orgId } = await newOrg(database.sql)
  const other = await newOrg(database.sql)
  const records = Array.from({ length: MANY }, (_, index) =>
    session(`sess_${index}`, { user_email: 'ann@example.com' }),
  )
  const fixed = [
    session('sess_mystery', { turn_records: [{ model: 'mystery', tokens: { output: 3 } }] }),
    session('sess_reported', { estimated_cost: 1, unpriced_tokens: 5 }),
  ]
  await writeRecords(deps(), orgId, [...records, ...fixed, { type: 'budget', month: '2026-11', limit: 200 }])
  await writeRecords(deps(), other.orgId, [session('sess_0')])
  expect(await sumUnpriced(database.sql, orgId)).toEqual({
    sessions: MANY + 2,
    tokens: BigInt(MANY * 1_241 + 3 + 5),
    models: ['in-house', 'mystery'],
    undivided: 1,
  })
  const before = await read(orgId, 'sess_7')
  expect(before).toMatchObject({ estimated_cost: 0.5, unpriced_tokens: 1_241 })

  expect(await repriceSessions(deps(), orgId, ACTOR)).toBe(0)
  expect(await repriceSessions(deps(IN_HOUSE), orgId, ACTOR)).toBe(MANY)

  const [first, ...rest] = before.turn_records
  expect(await read(orgId, 'sess_7')).toEqual({
    ...before,
    estimated_cost: 0.5 + COST,
    unpriced_tokens: 7,
    turn_records: [{ ...first, cost: COST, content: 'an answer' }, ...rest],
  })
  expect(await read(orgId, 'sess_reported')).toMatchObject({ estimated_cost: 1, unpriced_tokens: 5 })
  expect(await sumUnpriced(database.sql, orgId)).toEqual({
    sessions: MANY + 2,
    tokens: BigInt(MANY * 7 + 3 + 5),
    models: ['mystery'],
    undivided: 1,
  })
  expect(await differences(orgId)).toEqual([])
  expect(await read(other.orgId, 'sess_0')).toMatchObject({ estimated_cost: 0.5, unpriced_tokens: 1_241 })
  const entries = await database.sql<{ user_id: string; updated: number }[]>`
    select a.user_id, (a.details::json->>'updated')::integer as updated
    from audit_log a
    where a.org_id = ${orgId}
      and a.action = 'session.repriced'`
  expect(entries.map(({ user_id }) => user_id)).toEqual(entries.map(() => 'cli:test'))
  expect(entries.reduce((sum, { updated }) => sum + updated, 0)).toBe(MANY)

  // the same records again find everything as it is
  const again = await writeRecords(deps(IN_HOUSE), orgId, [...records, ...fixed])
  expect(again).toMatchObject({ updated: 0, unchanged: MANY + 2 })
  expect(await repriceSessions(deps(IN_HOUSE), orgId, ACTOR)).toBe(0)
})

test('a month that exceeds its budget by it causes the event, once', async () => {
  const { orgId } = await newOrg(database.sql)
  await database.sql`
    insert into webhook_endpoints (org_id, id, url, events, enabled, secret, secret_hint, created_at, updated_at)
    values (${orgId}, 'hook_1', 'https://example.com/', '{cost.budget_exceeded}', true, '', 'hint', now(), now())`
  await writeRecords(deps(), orgId, [session('sess_1'), { type: 'budget', month: '2026-11', limit: 0.501 }])
  const events = () => database.sql`select d.event from webhook_deliveries d where d.org_id = ${orgId}`
  expect(await events()).toHaveLength(0)
  await repriceSessions(deps(IN_HOUSE), orgId, ACTOR)
  expect(await events()).toHaveLength(1)
})

test('a session that is written meanwhile is left as it then is', async () => {
  const { orgId } = await newOrg(database.sql)
  await writeRecords(deps(), orgId, [session('sess_1'), session('sess_2')])
  const repriced = await database.sql.begin(async (tx) => {
    await lockOrganization(tx, orgId)
    const running = repriceSessions(deps(IN_HOUSE), orgId, ACTOR)
    await untilWriterWaits(database.sql)
    await tx`update sessions set content_hash = '' where org_id = ${orgId} and id = 'sess_2'`
    return { running }
  })
  expect(await repriced.running).toBe(1)
  expect(await read(orgId, 'sess_1')).toMatchObject({ unpriced_tokens: 7 })
  expect(await read(orgId, 'sess_2')).toMatchObject({ unpriced_tokens: 1_241 })
})

test('doctor names the models without a price', async () => {
  const { orgId, slug } = await newOrg(database.sql)
  await writeRecords(deps(), orgId, [
    session('sess_1', { turn_records: [{ model: 'x-1', tokens: TOKENS }] }),
    session('sess_2', { turn_records: [{ role: 'user' }], model: 'x-2', tokens: TOKENS }),
    session('sess_3', { turn_records: [], tokens: TOKENS }),
  ])
  const { status, message } = await checkPrices(database.sql, await loadPricer(), NOW)
  expect(status).toBe('warn')
  expect(message).toContain(`${slug} (3702 tokens of 3 sessions: unknown, x-1, x-2)`)
})

test('doctor tells a price that is not known from tokens that nothing divides', async () => {
  const { orgId, slug } = await newOrg(database.sql)
  const models = ['claude-opus-4-5', 'claude-haiku-4-5']
  const sum = { models, model: models[0], turn_records: [], tokens: TOKENS }
  await writeRecords(deps(), orgId, [
    // 34 of 1,234 tokens are in no cost, of whichever model
    session('sess_1', { ...sum, estimated_cost: 1, cost_source: 'estimated', unpriced_tokens: 34 }),
    session('sess_2', { ...sum, estimated_cost: 1, unpriced_tokens: 1_234 }),
    session('sess_3', { turn_records: [{ model: 'in-house', tokens: TOKENS }] }),
  ])
  const told = async (prices = {}) => {
    const { message } = await checkPrices(database.sql, await loadPricer(prices), NOW)
    return message.split('; ').flatMap((part) => {
      const mine = part.includes(slug) ? [part.slice(0, part.indexOf(' of '))] : []
      return mine.map((reason) => [reason, new RegExp(`${slug} \\(([^)]*)\\)`).exec(part)?.[1]])
    })
  }
  const undivided = ['nothing tells how the tokens divide among the models', '2 sessions']
  expect(await told()).toEqual([
    ['no price is known for models', '2502 tokens of 3 sessions: in-house'],
    undivided,
  ])
  expect(await told(IN_HOUSE)).toEqual([
    ['a price is known since they were written for models', 'in-house'],
    undivided,
  ])
  expect(await repriceSessions(deps(IN_HOUSE), orgId, ACTOR)).toBe(1)
  expect(await told(IN_HOUSE)).toEqual([undivided])
})

test('telemetry that comes later, where no price is known, leaves the calls their prices', async () => {
  const { orgId, key } = await newOrg(database.sql)
  const app = testApp(database.sql)
  const { cost_usd: _cost, ...unpriced } = call('s', 0, { model: 'in-house' })
  const send = async (request_id: string) => {
    const sent = await client(app, key)('/v1/logs', jsonPost(logs([{ ...unpriced, request_id }], CLAUDE)))
    expect(sent.status).toBe(200)
    await inboxEmpty(database.sql)
  }
  await send('req_1')
  expect(await read(orgId, 'sess_s')).toMatchObject({ estimated_cost: 0, unpriced_tokens: 1_100 })
  expect(await repriceSessions(deps(IN_HOUSE), orgId, ACTOR)).toBe(1)
  // 1,000 tokens of input and 100 of output
  expect(await read(orgId, 'sess_s')).toMatchObject({ estimated_cost: 0.002, unpriced_tokens: 0 })
  await send('req_2')
  expect(await read(orgId, 'sess_s')).toMatchObject({ estimated_cost: 0.002, unpriced_tokens: 1_100 })
  await send('req_1')
  expect(await repriceSessions(deps(IN_HOUSE), orgId, ACTOR)).toBe(1)
  expect(await read(orgId, 'sess_s')).toMatchObject({ estimated_cost: 0.004, unpriced_tokens: 0 })
  expect(await differences(orgId)).toEqual([])
})
