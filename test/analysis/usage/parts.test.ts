import { expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { usageFacts } from '../../../src/analysis/usage/facts.ts'
import { FACETS, type FactSession, type FactTurn, type UsageFact } from '../../../src/analysis/usage/model.ts'
import { numbersFrom } from '../../support/records.ts'

// Facts divided by what agents write on calls.

const pricer = await loadPricer()
const [SONNET, HAIKU] = ['claude-sonnet-4-5', 'claude-haiku-4-5']
const [MONDAY, TUESDAY] = ['2026-03-02T23:50:00.000Z', '2026-03-03T00:10:00.000Z']

const call = (more: Partial<FactTurn>): FactTurn => ({
  ...{ role: 'assistant', model: SONNET, started_at: MONDAY, cost: 0.0045 },
  tokens: { input: 1000, output: 100, cache_read: 0, cache_creation: 0 },
  ...more,
})
const prompt: FactTurn = { role: 'user', model: null, started_at: MONDAY, tokens: null, cost: null }

function sessionOf(turn_records: FactTurn[], more: Partial<FactSession['detail']> = {}): FactSession {
  return {
    created_at: MONDAY,
    turns: turn_records.length,
    cost: turn_records.reduce((sum, { cost }) => sum + BigInt(Math.round((cost ?? 0) * 1e6)), 0n),
    unpriced_tokens: 0,
    detail: {
      ...{ source: 'claude-code', model: SONNET, models: [SONNET], ended_at: TUESDAY, turn_records },
      ...{ tokens: null, ...more },
    },
  }
}
const factsOf = (session: FactSession) =>
  usageFacts(session, { dayOf: (instant) => instant.slice(0, 10), pricer })

/** Sessions, turns and micro-dollars by the values of a facet, of all models or one. */
function by(facts: readonly UsageFact[], facet: (typeof FACETS)[number], model?: string) {
  const at = FACETS.indexOf(facet)
  const sums = new Map<string, [sessions: number, turns: number, cost: number]>()
  for (const fact of facts)
    for (const part of fact.parts) {
      if (model !== undefined && fact.model !== model) continue
      const sum = sums.getOrInsertComputed(part.values[at] ?? '', () => [0, 0, 0])
      sum[0] += ((model === undefined ? part.firsts : part.model_firsts) >> at) & 1
      sum[1] += model === undefined ? part.main_turns : part.turns
      sum[2] += Number(part.costs.reduce((all, each) => all + each, 0n))
    }
  return Object.fromEntries(sums)
}

test('a call counts under its values, a prompt under those of the next call, a session once under each', () => {
  const facts = factsOf(
    sessionOf(
      [
        { ...prompt, started_at: MONDAY },
        call({ version: '2.1.1', skill: 'review' }),
        call({ version: '2.1.1' }),
        call({ version: '2.1.2', model: HAIKU, started_at: TUESDAY, cost: 0.0015 }),
        call({ role: 'unattributed', cost: 0.001 }),
      ],
      { effort: 'high', models: [SONNET, HAIKU] },
    ),
  )
  expect(by(facts, 'version')).toEqual({
    'claude-code 2.1.1': [1, 4, 9000],
    'claude-code 2.1.2': [1, 1, 1500],
    '': [1, 0, 1000],
  })
  expect(by(facts, 'skill')).toEqual({ review: [1, 3, 4500], '': [1, 2, 7000] })
  expect(by(facts, 'effort')).toEqual({ high: [1, 5, 11_500] })
  expect(Object.keys(by(facts, 'tier'))).toEqual(['standard'])
  expect(Object.keys(by(facts, 'vendor'))).toEqual(['anthropic'])
  expect(by(facts, 'version', HAIKU)['claude-code 2.1.2']?.[0]).toBe(1)
  expect(by(facts, 'version', SONNET)['claude-code 2.1.2']?.[0]).toBe(0)
  // on the first day, though its calls were on the second
  const first = facts.filter(({ day }) => day === '2026-03-02')
  expect(by(first, 'version')['claude-code 2.1.2']).toEqual([1, expect.any(Number), 0])
})

test('a session of which nothing is noted has no parts; one without calls has the notes of the session', () => {
  expect(factsOf(sessionOf([call({}), prompt])).flatMap(({ parts }) => parts)).toEqual([])
  const [fact] = factsOf({ ...sessionOf([], { version: '2.1.1' }), cost: 700n, turns: 3 })
  expect(by(fact === undefined ? [] : [fact], 'version')).toEqual({ 'claude-code 2.1.1': [1, 3, 700] })
})

test('a tier of the service, else a long prompt, is the tier; a region is none', () => {
  const tokens = { input: 300_000, output: 1, cache_read: 0, cache_creation: 0 }
  const facts = factsOf(
    sessionOf([
      ...[call({ tokens }), call({ tokens, tier: 'batch us' }), call({ tier: 'us' })],
      call({ vendor: 'aws', paid_by: 'api', started_at: TUESDAY, tier: 'flex' }),
    ]),
  )
  const one = [1, 1, 4500] as [number, number, number]
  expect(by(facts, 'tier')).toEqual({ long: one, batch: one, standard: one, flex: one })
  expect(by(facts, 'vendor')).toEqual({ anthropic: [1, 3, 13_500], aws: one })
  expect(by(facts, 'paid_by')).toEqual({ unknown: [1, 3, 13_500], api: one })
  // the prompt alone tells it
  expect(by(factsOf(sessionOf([call({ tokens })])), 'tier')).toEqual({ long: one })
})

test('parts add up to their facts, by kind of tokens and of cost, whatever a session states', () => {
  const random = numbersFrom(7)
  const maybe = <Value>(...values: Value[]) => values[random(values.length + 1)] ?? null
  for (let nth = 0; nth < 300; nth += 1) {
    const turns = Array.from({ length: random(9) }, () =>
      call({
        ...{ role: maybe('user', 'unattributed') ?? 'assistant', model: maybe(SONNET, HAIKU, 'in-house') },
        ...{ started_at: maybe(MONDAY, TUESDAY), cost: maybe(0.0045, 0.000001, 0.3) },
        tokens: maybe({
          ...{ input: random(9_000), output: random(900), cache_read: random(9) },
          ...{ cache_creation: 50 + random(90), cache_creation_1h: random(50) },
        }),
        ...{ version: maybe('1', '2'), effort: maybe('high'), skill: maybe('a', 'b'), plugin: maybe('p') },
        ...{ vendor: maybe('aws'), paid_by: maybe('plan') },
      }),
    )
    const session = { ...sessionOf(turns, { version: maybe('3') }), turns: random(20) }
    const tokens = { input: random(20_000), output: 7, cache_read: random(20), cache_creation: random(800) }
    const facts = factsOf({
      ...{
        ...session,
        cost: maybe(session.cost, BigInt(random(1_000_000))) ?? 0n,
        unpriced_tokens: random(50),
      },
      detail: { ...session.detail, tokens: maybe(tokens) },
    })
    const isNoted = facts.some(({ parts }) => parts.length > 0)
    for (const fact of facts) {
      if (!isNoted) continue
      const sum = (of: (part: UsageFact | UsageFact['parts'][number]) => number) =>
        fact.parts.reduce((all, part) => all + of(part), 0) - of(fact)
      for (const name of ['calls', 'prompts', 'turns', 'main_turns', 'unpriced_tokens', 'input'] as const)
        expect([name, sum((each) => each[name])]).toEqual([name, 0])
      for (const name of ['output', 'cache_read', 'cache_creation', 'cache_creation_1h'] as const)
        expect([name, sum((each) => each[name])]).toEqual([name, 0])
      for (const kind of fact.costs.keys()) expect(sum((each) => Number(each.costs[kind]))).toBe(0)
      for (const { costs } of fact.parts) expect(costs.every((cost) => cost >= 0n)).toBe(true)
    }
    const parts = facts.flatMap((fact) => fact.parts)
    const bits = (name: 'firsts' | 'model_firsts', bit: number) =>
      parts.reduce((all, part) => all + ((part[name] >> bit) & 1), 0)
    if (!isNoted) continue
    expect(bits('firsts', FACETS.length)).toBe(1)
    expect(bits('model_firsts', FACETS.length)).toBe(facts.reduce((all, { sessions }) => all + sessions, 0))
    for (const index of FACETS.keys()) expect(bits('firsts', index)).toBeGreaterThan(0)
  }
})
