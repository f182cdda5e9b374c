import { expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { rebuildTables } from '../../../src/database/derived-tables.ts'
import { USAGE_TABLES } from '../../../src/features/usage/check.ts'
import { got, jsonPost, newOrg, repeatingClient, testApp } from '../../support/api.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'
import { memberRecord } from '../../support/records.ts'
import type { Item } from './by-hand.ts'

// Breakdowns by what agents write on calls, against sums by hand.

const database = await testsDatabase()

const FACETS = ['version', 'effort', 'skill', 'subagent', 'mcp_server', 'plugin', 'tier', 'vendor', 'paid_by']
const HOUR_MS = 3_600_000
const COUNT = 160

let state = 11
const random = (below: number) => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
  return state % below
}
const maybe = <Value>(...values: Value[]): Value | undefined => values[random(values.length + 1)]

/** Sessions of two days at most, with costs of their calls in whole cents. */
function makeSession(nth: number) {
  const startMs = Date.UTC(2026, 1, 1) + random(80) * 24 * HOUR_MS + random(24) * HOUR_MS
  const isPlain = random(4) === 0
  const turn_records = Array.from({ length: 1 + random(5) }, () => ({
    role: 'assistant',
    model: ['claude-sonnet-4-5', 'claude-haiku-4-5'][random(2)],
    started_at: new Date(startMs + random(20) * HOUR_MS).toISOString(),
    tokens: {
      input: 100 + random(900),
      output: random(90),
      cache_read: random(50),
      cache_creation: random(9),
    },
    cost: random(300) / 100,
    ...(isPlain
      ? {}
      : {
          ...{
            version: maybe('2.1.1', '2.1.2'),
            effort: maybe('high', 'low'),
            skill: maybe('review', 'plan'),
          },
          ...{ subagent: maybe('Explore'), mcp_server: maybe('linear'), plugin: maybe('tools') },
          ...{ tier: maybe('fast', 'us', 'batch'), vendor: maybe('aws'), paid_by: maybe('plan', 'api') },
        }),
  }))
  const version = maybe(undefined, '2.1.1')
  return {
    ...{ type: 'session' as const, id: `sess_${nth}`, created_at: new Date(startMs).toISOString() },
    project_name: ['shop', 'api', null][random(3)] ?? null,
    source: ['claude-code', 'codex', 'aider'][random(3)],
    user_email: maybe('ada@example.com', 'bob@example.com'),
    branch: maybe('main', 'SHOP-1'),
    ...(version && !isPlain ? { version } : {}),
    turn_records,
  }
}
type Session = ReturnType<typeof makeSession>

const send = (records: object[]) => got(ask('/v1/sync', jsonPost({ records })))
const get = async (query: string) => {
  const response = await ask(`/v1/cost/breakdown?per_page=100&${query}`)
  return { status: response.status, body: JSON.parse(await response.text()) }
}

const owner = await newOrg(database.sql)
const ask = repeatingClient(testApp(database.sql, { pricer: loadPricer }), owner.key)
const sessions = Array.from({ length: COUNT }, (_, nth) => makeSession(nth))
await send([memberRecord('ada', { team: 'core', joined_at: '2026-01-01' })])
await send(sessions)

type Call = Session['turn_records'][number]
const VENDOR: Record<string, string> = { 'claude-code': 'anthropic', codex: 'openai' }

/** The value of a key for a call; null for none. */
function valueFor(key: string, session: Session, call: Call): string | null {
  const noted = { version: session.version, ...call } as Record<string, unknown>
  switch (key) {
    case 'version':
      return noted.version === undefined && session.version === undefined
        ? null
        : `${session.source} ${call.version ?? session.version}`
    case 'tier':
      return call.tier === undefined || call.tier === 'us' ? 'standard' : call.tier
    case 'vendor':
      return call.vendor ?? VENDOR[session.source ?? ''] ?? null
    case 'paid_by':
      return call.paid_by ?? 'unknown'
    case 'project':
      return session.project_name
    case 'agent':
      return session.source ?? null
    case 'branch':
      return session.branch ?? null
    case 'model':
      return call.model ?? null
    case 'month':
      return `${call.started_at.slice(0, 7)}-01`
    case 'day':
      return call.started_at.slice(0, 10)
    default:
      return (noted[key] as string | undefined) ?? null
  }
}

/** Cost, tokens and turns by hand; with the number of sessions where the keys are not of time. */
function byHand(keys: string[], filters: Record<string, string>) {
  const sums = new Map<string, { cost: number; input: number; turns: number; sessions: Set<string> }>()
  const { date_from = '', date_to = '~', ...values } = filters
  for (const session of sessions)
    for (const call of session.turn_records) {
      const day = call.started_at.slice(0, 10)
      if (day < date_from || day > date_to) continue
      if (Object.entries(values).some(([key, value]) => (valueFor(key, session, call) ?? '') !== value))
        continue
      const key = JSON.stringify(keys.map((each) => valueFor(each, session, call)))
      const sum = sums.getOrInsertComputed(key, () => ({ cost: 0, input: 0, turns: 0, sessions: new Set() }))
      sum.cost += Math.round(call.cost * 100)
      sum.input += call.tokens.input
      sum.turns += 1
      sum.sessions.add(session.id)
    }
  return Object.fromEntries(
    [...sums].map(([key, { sessions: ids, ...sum }]) => [key, { ...sum, sessions: ids.size }]),
  )
}

const shown = ({ cost, tokens, turns, sessions: count }: Item) => ({
  ...{ cost: Math.round(cost * 100), input: tokens.input, turns, sessions: count },
})

async function compare(keys: string[], filters: Record<string, string> = {}) {
  const query = new URLSearchParams({
    by: keys[0] ?? '',
    ...(keys[1] ? { and_by: keys[1] } : {}),
    ...filters,
  })
  const { body } = await get(`${query}`)
  const items = body.data as Item[]
  const found = Object.fromEntries(
    items.map((item) => [JSON.stringify(keys[1] ? [item.key, item.and_key] : [item.key]), shown(item)]),
  )
  const expected = byHand(keys, filters)
  const isOfTime = keys.some((key) => key === 'day' || key === 'month') || filters.date_from !== undefined
  // a session counts on its first day only, its turns under each of its models
  const plain = (sums: typeof expected) =>
    Object.fromEntries(
      Object.entries(sums)
        .map(([key, { sessions: count, turns, ...sum }]) => [
          key,
          {
            ...sum,
            ...(isOfTime ? {} : { sessions: count }),
            ...(keys.includes('model') || filters.model ? {} : { turns }),
          },
        ])
        .filter(([, sum]) => Object.values(sum as object).some((value) => value !== 0)),
    )
  expect([`${query}`, plain(found)]).toEqual([`${query}`, plain(expected)])
  // none of turns alone
  const isUsed = ({ sessions: count, cost, tokens }: Item) =>
    [count, cost, ...Object.values(tokens)].some((value) => value !== 0)
  if (keys.includes('model') || filters.model) expect(items.filter((item) => !isUsed(item))).toEqual([])
  const kinds = (item: Item) =>
    Object.values(item.cost_by_kind).reduce((sum, each) => sum + Math.round(each * 1e6), 0)
  for (const item of items) expect(kinds(item)).toBe(Math.round(item.cost * 1e6))
  return body
}

test.each(FACETS)('%s alone, with other keys, and as a filter', async (facet) => {
  const { total } = await compare([facet])
  const { body: whole } = await get('by=project')
  expect(total).toEqual(whole.total)
  for (const other of ['project', 'agent', 'model', 'branch', 'month', 'day']) {
    const { total: ofPair } = await compare([facet, other])
    expect(ofPair.cost_by_kind).toEqual(whole.total.cost_by_kind)
    await compare([other, facet])
  }
  await compare([facet], { date_from: '2026-02-10', date_to: '2026-03-20' })
  await compare([facet, 'project'], { date_from: '2026-02-10', date_to: '2026-03-20' })
  await compare([facet], { project: 'shop', agent: 'codex' })
  await compare([facet], { agent: 'claude-code' })
  await compare([facet], { model: 'claude-haiku-4-5' })
  const values = Object.keys(byHand([facet], {})).map((key) => (JSON.parse(key) as [string | null])[0] ?? '')
  for (const value of values) {
    await compare(['project'], { [facet]: value })
    await compare(['agent', 'month'], { [facet]: value })
    await compare(['day'], { [facet]: value })
    await compare(['model'], { [facet]: value, branch: 'main' })
    await compare([facet], { [facet]: value, agent: 'codex' })
  }
})

test('with teams, tickets, costs and the range before', async () => {
  for (const query of [
    'by=team&and_by=version',
    'by=version&and_by=ticket',
    'by=effort&team=core',
    'by=skill&branch=',
  ]) {
    const { status, body } = await get(query)
    expect([query, status]).toEqual([query, 200])
    const sum = (body.data as Item[]).reduce((all, { cost }) => all + Math.round(cost * 1e6), 0)
    expect([query, sum]).toEqual([query, Math.round(body.total.cost * 1e6)])
  }
  const range = 'date_from=2026-03-01&date_to=2026-03-20&compare=previous'
  const { body } = await get(`by=version&${range}&sort=change`)
  const { body: before } = await get('by=version&date_from=2026-02-09&date_to=2026-02-28')
  expect(body.total.previous.cost).toBe(before.total.cost)
  const { body: expensive } = await get('by=version&min_cost=3')
  const { body: same } = await get('by=project&min_cost=3')
  expect(expensive.total).toEqual(same.total)
})

test('two at once are refused, and values that there are not', async () => {
  const problemsOf = async (query: string) => {
    const { status, body } = await get(query)
    return [status, ...(body.details ?? []).map(({ field }: { field: string }) => field)]
  }
  expect(await problemsOf('by=version&and_by=effort')).toEqual([400, 'and_by'])
  expect(await problemsOf('by=version&effort=high')).toEqual([400, 'effort'])
  expect(await problemsOf('by=project&tier=fast&vendor=aws')).toEqual([400, 'vendor'])
  expect(await problemsOf('by=project&tier=faster')).toEqual([400, 'tier'])
  expect(await problemsOf('by=project&vendor=ibm&paid_by=cash')).toEqual([400, 'vendor', 'paid_by'])
  expect(await problemsOf('by=version&version=claude-code+2.1.1')).toEqual([200])
  expect(await problemsOf('by=project&paid_by=')).toEqual([200])
})

test('sums follow what is sent again, changed and deleted, in any order', async () => {
  const tables = USAGE_TABLES
  expect(await findDifferences(database.sql, owner.orgId, tables)).toEqual([])
  const { body: before } = await get('by=version&and_by=project')
  await send(sessions.toReversed())
  const [first, second] = sessions as [Session, Session]
  const { version: _, ...changed } = {
    ...first,
    turn_records: [{ ...first.turn_records[0], skill: 'other' }],
  }
  await send([{ ...changed, version: '9.9.9' }])
  expect(await findDifferences(database.sql, owner.orgId, tables)).toEqual([])
  const { body: with9 } = await get('by=skill&skill=other')
  expect(with9.data).toHaveLength(1)
  const deleted = await ask(`/v1/sessions/${second.id}`, { method: 'DELETE' })
  expect(deleted.status).toBe(204)
  await ask(`/v1/sessions/${first.id}`, { method: 'DELETE' })
  expect(await findDifferences(database.sql, owner.orgId, tables)).toEqual([])
  expect((await get('by=skill&skill=other')).body.data).toEqual([])
  const response = await ask('/v1/sync?restore=true', jsonPost({ records: [second, first] }))
  expect(response.status).toBe(200)
  expect((await get('by=version&and_by=project')).body).toEqual(before)
  await database.sql.begin((tx) => rebuildTables(tx, owner.orgId, tables))
  expect((await get('by=version&and_by=project')).body).toEqual(before)
})
