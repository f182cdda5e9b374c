import { describe, expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { usageFacts } from '../../../src/analysis/usage/facts.ts'
import type { FactSession, FactTurn } from '../../../src/analysis/usage/model.ts'
import { numbersFrom } from '../../support/records.ts'

// Divides a session by day, model and kind: figures by hand. Sonnet 4.5 costs 3, 15, 0.3, 3.75 and 6 dollars a million.

const pricer = await loadPricer()
const SONNET = 'claude-sonnet-4-5'
const HAIKU = 'claude-haiku-4-5'
const utc = (instant: string) => instant.slice(0, 10)
/** Five and a half hours ahead. */
const kolkata = (instant: string) => new Date(Date.parse(instant) + 19_800_000).toISOString().slice(0, 10)

const call = (started_at: string | null, cost: number | null, more: Partial<FactTurn> = {}): FactTurn => ({
  role: 'assistant',
  model: SONNET,
  started_at,
  tokens: { input: 1000, output: 100, cache_read: 0, cache_creation: 0 },
  cost,
  ...more,
})
const prompt = (started_at: string): FactTurn => ({
  ...{ role: 'user', model: null, started_at, tokens: null, cost: null },
})

const BEFORE = '2026-03-01T23:50:00.000Z'
const AFTER = '2026-03-02T00:10:00.000Z'

function sessionOf(
  turn_records: FactTurn[],
  cost: bigint,
  {
    detail,
    ...over
  }: Partial<Omit<FactSession, 'detail'>> & { detail?: Partial<FactSession['detail']> } = {},
): FactSession {
  const sum = (kind: 'input' | 'output' | 'cache_read' | 'cache_creation') =>
    turn_records.reduce((all, { tokens }) => all + (tokens?.[kind] ?? 0), 0)
  return {
    created_at: BEFORE,
    turns: turn_records.filter(({ role }) => role !== 'unattributed').length,
    cost,
    unpriced_tokens: 0,
    ...over,
    detail: {
      ...{ source: 'claude-code', model: SONNET, models: [SONNET], ended_at: AFTER, turn_records },
      tokens: {
        ...{ input: sum('input'), output: sum('output') },
        ...{ cache_read: sum('cache_read'), cache_creation: sum('cache_creation') },
      },
      ...detail,
    },
  }
}

const factsOf = (session: FactSession, dayOf = utc) => usageFacts(session, { dayOf, pricer })
const shown = (session: FactSession, dayOf = utc) =>
  factsOf(session, dayOf).map(({ day, model, sessions, turns, calls, prompts, costs, input }) => ({
    ...{ day, model, sessions, turns, calls, prompts, input },
    costs: costs.map(Number),
  }))
const costs = (session: FactSession) =>
  factsOf(session).map(({ day, costs }) => [day, Number(costs.reduce((sum, cost) => sum + cost, 0n))])

describe('a call counts on its day', () => {
  const session = sessionOf([prompt(BEFORE), call(BEFORE, 0.0045), call(AFTER, 0.0045)], 9000n)

  test('in UTC; a prompt is under the next call, and the session on its first day', () => {
    const rest = { model: SONNET, input: 1000, costs: [3000, 1500, 0, 0, 0, 0] }
    expect(shown(session)).toEqual([
      { day: '2026-03-01', sessions: 1, turns: 2, calls: 1, prompts: 1, ...rest },
      { day: '2026-03-02', sessions: 0, turns: 1, calls: 1, prompts: 0, ...rest },
    ])
  })

  test('in another zone, by the days of both', () => {
    expect(factsOf(session, kolkata).map(({ day, utc_day, is_main }) => [day, utc_day, is_main])).toEqual([
      ['2026-03-02', '2026-03-01', true],
      ['2026-03-02', '2026-03-02', false],
    ])
  })

  test('a prompt with tokens of 0 is no call', () => {
    const none = { input: 0, output: 0, cache_read: 0, cache_creation: 0 }
    const session = sessionOf([{ ...prompt(BEFORE), tokens: none, cost: 0 }, call(BEFORE, 0.0045)], 4500n)
    expect(factsOf(session).map(({ calls, prompts }) => [calls, prompts])).toEqual([[1, 1]])
  })

  test('without a time on that of the session', () => {
    expect(costs(sessionOf([call(null, 0.0045)], 4500n))).toEqual([['2026-03-01', 4500]])
  })

  test('a total beyond the calls on that of its end', () => {
    const beyond = call(BEFORE, 0.01, { role: 'unattributed' })
    expect(costs(sessionOf([call(BEFORE, 0.0045), beyond], 14_500n))).toEqual([
      ['2026-03-01', 4500],
      ['2026-03-02', 10_000],
    ])
    const [first, second] = factsOf(
      sessionOf([call(BEFORE, 0.0045)], 4500n, {
        detail: { tokens: { input: 1700, output: 100, cache_read: 0, cache_creation: 0 } },
      }),
    )
    expect([first?.input, second?.input, second?.day]).toEqual([1000, 700, '2026-03-02'])
  })

  test('one without calls on its first day', () => {
    const tokens = { input: 1000, output: 100, cache_read: 0, cache_creation: 0 }
    expect(shown(sessionOf([], 4500n, { turns: 3, detail: { tokens } }))).toEqual([
      {
        ...{ day: '2026-03-01', model: SONNET, sessions: 1, turns: 3, calls: 0, prompts: 0, input: 1000 },
        costs: [3000, 1500, 0, 0, 0, 0],
      },
    ])
  })
})

describe('a stated cost', () => {
  test('is divided as the cost of the calls, the earlier day first', () => {
    expect(costs(sessionOf([call(BEFORE, 1), call(AFTER, 2)], 10_000_000n))).toEqual([
      ['2026-03-01', 3_333_333],
      ['2026-03-02', 6_666_667],
    ])
    const third = call('2026-03-03T00:00:00.000Z', 1)
    expect(costs(sessionOf([call(BEFORE, 1), call(AFTER, 1), third], 10n))).toEqual([
      ['2026-03-01', 4],
      ['2026-03-02', 3],
      ['2026-03-03', 3],
    ])
  })

  test('is divided by list prices where no call has a cost, without a price by tokens', () => {
    const cheap = (model: string) => [call(BEFORE, null), call(AFTER, null, { model })]
    expect(costs(sessionOf(cheap(HAIKU), 600_000n)).filter(([, cost]) => cost !== 0)).toEqual([
      ['2026-03-01', 450_000],
      ['2026-03-02', 150_000],
    ])
    expect(costs(sessionOf(cheap('secret'), 600_000n)).filter(([, cost]) => cost !== 0)).toEqual([
      ['2026-03-01', 300_000],
      ['2026-03-02', 300_000],
    ])
  })

  test('is of no kind of tokens where there are none', () => {
    expect(shown(sessionOf([call(BEFORE, 1, { tokens: null })], 1_000_000n))[0]?.costs).toEqual([
      ...[0, 0, 0, 0, 0],
      1_000_000,
    ])
    expect(shown(sessionOf([], 7n))[0]?.costs).toEqual([0, 0, 0, 0, 0, 7])
  })
})

test('kinds are those of the list: both lifetimes of the cache, and searches', () => {
  const tokens = {
    ...{ input: 1000, output: 100, cache_read: 10_000, cache_creation: 2000 },
    cache_creation_1h: 1000,
  }
  // 0.003 + 0.0015 + 0.003 + 0.00375 + 0.006, and two searches
  const [fact] = factsOf(sessionOf([call(BEFORE, 0.03725, { tokens })], 37_250n))
  expect(fact?.costs.map(Number)).toEqual([3000, 1500, 3000, 3750, 6000, 20_000])
  expect([fact?.cache_creation, fact?.cache_creation_1h]).toEqual([2000, 1000])
})

test('facts are by model and by what the price was in; a model counts its session on its first day', () => {
  const fast = call(BEFORE, 0.01, { tier: 'us fast', vendor: 'aws', paid_by: 'api' })
  const facts = factsOf(
    sessionOf([fast, call(BEFORE, 0.0045), call(AFTER, 0.001, { model: HAIKU })], 15_500n),
  )
  expect(
    facts.map((fact) => [
      fact.day,
      fact.model,
      fact.price,
      fact.vendor,
      fact.paid_by,
      fact.sessions,
      fact.is_main,
    ]),
  ).toEqual([
    ['2026-03-01', HAIKU, 'standard', 'anthropic', 'unknown', 1, false],
    ['2026-03-01', SONNET, 'fast us', 'aws', 'api', 1, true],
    ['2026-03-01', SONNET, 'standard', 'anthropic', 'unknown', 0, false],
    ['2026-03-02', HAIKU, 'standard', 'anthropic', 'unknown', 0, false],
    ['2026-03-02', SONNET, 'standard', 'anthropic', 'unknown', 0, false],
  ])
  expect(facts.map(({ turns, main_turns }) => [turns, main_turns])).toEqual([
    [2, 0],
    [2, 2],
    [0, 0],
    [1, 0],
    [1, 1],
  ])
})

test('a long prompt, and the peak hours of a vendor, are prices of their own', () => {
  const long = call(BEFORE, 1, { tokens: { input: 250_000, output: 1, cache_read: 0, cache_creation: 0 } })
  const peak = call('2026-10-01T02:00:00.000Z', 1, { model: 'deepseek-v4-pro' })
  expect(factsOf(sessionOf([long], 1_000_000n))[0]?.price).toBe('long')
  const facts = factsOf(sessionOf([peak], 1_000_000n, { created_at: '2026-10-01T02:00:00.000Z' }))
  expect(facts.find(({ calls }) => calls > 0)?.price).toBe('peak')
})

test('the facts of any session add up to it', () => {
  const below = numbersFrom(11)
  const instant = () => new Date(Date.UTC(2026, 2, 1 + below(4), below(24), below(60))).toISOString()
  const models = [SONNET, HAIKU, 'secret', null]
  for (let round = 0; round < 2_000; round += 1) {
    const counts = () => ({
      ...{ input: below(5_000), output: below(900), cache_read: below(9_000), cache_creation: below(700) },
    })
    const turns = Array.from({ length: below(7) }, (): FactTurn => {
      const more =
        below(4) === 0 ? { role: 'user', tokens: null } : { tokens: below(4) === 0 ? null : counts() }
      const cost = below(3) === 0 ? null : below(100_000) / 1e6
      return call(below(5) === 0 ? null : instant(), 'role' in more ? null : cost, {
        ...{ model: models[below(4)] ?? null, ...more },
        ...(below(9) === 0 ? { role: 'unattributed' } : {}),
      })
    })
    const session = sessionOf(turns, BigInt(below(30_000)) * 7n, {
      ...{ created_at: instant(), turns: below(9), unpriced_tokens: below(500) },
      detail: {
        ended_at: below(4) === 0 ? null : instant(),
        ...(below(3) === 0 ? { tokens: counts() } : {}),
      },
    })
    const facts = factsOf(session, round % 2 === 0 ? utc : kolkata)
    const sum = (value: (fact: (typeof facts)[number]) => number | bigint) =>
      facts.reduce((all, fact) => all + Number(value(fact)), 0)
    const { tokens } = session.detail
    expect([
      ...[sum(({ costs }) => costs.reduce((all, cost) => all + cost, 0n)), sum(({ input }) => input)],
      ...[sum(({ output }) => output), sum((fact) => fact.cache_read), sum((fact) => fact.cache_creation)],
      ...[
        sum((fact) => fact.unpriced_tokens),
        sum((fact) => fact.main_turns),
        sum((fact) => Number(fact.is_main)),
      ],
    ]).toEqual([
      ...[Number(session.cost), tokens?.input ?? 0, tokens?.output ?? 0, tokens?.cache_read ?? 0],
      ...[tokens?.cache_creation ?? 0, session.unpriced_tokens, session.turns, 1],
    ])
    for (const ofModel of Map.groupBy(facts, ({ model }) => model).values())
      expect(ofModel.reduce((all, { sessions }) => all + sessions, 0)).toBe(1)
    const keys = facts.map((fact) =>
      [fact.day, fact.utc_day, fact.model, fact.price, fact.vendor, fact.paid_by].join(),
    )
    expect(new Set(keys).size).toBe(facts.length)
  }
})
