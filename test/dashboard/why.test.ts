import { afterAll, beforeAll, expect, setSystemTime, test } from 'bun:test'
import { newestOf, sentenceOf, unlistedOf } from '../../src/dashboard/did-it-pay/sentences.ts'
import {
  answerOf,
  CAUSES,
  type Cause,
  halvesOf,
  usedSums,
} from '../../src/dashboard/why-it-changed/cause-words.ts'
import type { Explanation } from '../../src/features/explain/model.ts'

// The sentences of the page that says why cost changed.

// days of another year are named with it
beforeAll(() => void setSystemTime(new Date('2026-11-30T12:00:00Z')))
afterAll(() => void setSystemTime())

const found = (before: number, after: number, amounts: Partial<Record<Cause, number>>): Explanation => ({
  ...{ from: '2026-11-22', to: '2026-11-28', against: { from: '2026-11-15', to: '2026-11-21' } },
  ...{ before, after, change: after - before, data: [], facts: [] },
  parts: (Object.keys(CAUSES) as Cause[]).map((cause) => ({
    ...{ cause, amount: amounts[cause] ?? 0 },
    ...{
      before: cause === 'calls_per_prompt' ? 14.21 : null,
      after: cause === 'calls_per_prompt' ? 17.9 : null,
    },
  })),
  pagination: { page: 1, per_page: 50, total: 0 },
})

test.each([
  [
    'more',
    found(851.87, 1199.83, { calls_per_prompt: 388.61, price: -40.65 }),
    undefined,
    '22–28 Nov cost $1,199.83: $347.96 (40.8%) more than 15–21 Nov. $388.61 more is calls per prompt: agents made 17.9 calls for each prompt, not 14.2; other causes took off $40.65',
  ],
  [
    'less',
    found(100, 60, { prompts: 10, price: -50 }),
    undefined,
    '22–28 Nov cost $60.00: $40.00 (40.0%) less than 15–21 Nov. $50.00 less is prices; other causes added $10.00',
  ],
  [
    'as much of it as four of five parts',
    found(100, 111, { model_mix: 6.9, calls_per_prompt: 4.8, price: 0.2, prompts: -0.9 }),
    { undivided: { share: 0, agent: null }, rose: 'claude-opus-4-5: 28.1% of the cost, not 20.3%' },
    '22–28 Nov cost $111.00: $11.00 (11.0%) more than 15–21 Nov. $6.90 more is the mix of models, which became dearer ' +
      '(claude-opus-4-5: 28.1% of the cost, not 20.3%); $4.80 calls per prompt: agents made 17.9 calls for each prompt, not 14.2; ' +
      'other causes took off $0.70',
  ],
  [
    'as much',
    found(851.87, 852.27, { prompts: 100.4, price: -100 }),
    undefined,
    '22–28 Nov cost $852.27, as much as 15–21 Nov (+$0.40). The causes below cancel each other',
  ],
  [
    'hardly divisible',
    found(10, 20, { undivided: 9, prompts: 1 }),
    { undivided: { share: 0.84, agent: 'copilot' } },
    '84.0% of this cost cannot be divided: copilot states costs without tokens',
  ],
  [
    'without prompts',
    found(10, 20, { prompts: 10 }),
    { undivided: { share: 0.1, agent: null } },
    '22–28 Nov cost $20.00: $10.00 (100.0%) more than 15–21 Nov. $10.00 of it is not divided: one of the ranges has no prompts of it',
  ],
])('%s', (_name, explanation, undivided, said) => {
  expect(answerOf(explanation, undivided)).toBe(said)
})

test('what there is can be compared with itself', () => {
  expect(halvesOf('2026-11-27', 3)).toEqual({
    ...{ days: 1, now: { from: '2026-11-29', to: '2026-11-29' } },
    before: { from: '2026-11-28', to: '2026-11-28' },
  })
  expect(halvesOf('2026-11-27', 1)).toBeUndefined()
})

test('models whose part of the cost moved most are read from all agents', () => {
  const row = (key: string | null, and_key: string, cost: number, before: number, other = 0) => ({
    ...{ key, and_key, cost, cost_by_kind: { other }, previous: { cost: before } },
  })
  const breakdown = {
    data: [
      row('opus', 'a', 20, 5),
      row('opus', 'b', 10, 5, 2),
      row('haiku', 'a', 10, 30),
      row(null, 'a', 60, 10),
    ],
    total: { cost: 100, cost_by_kind: { other: 2 }, previous: { cost: 50 } },
  }
  expect(usedSums(breakdown as unknown as Parameters<typeof usedSums>[0])).toEqual({
    ...{ undivided: { share: 0.02, agent: 'b' }, rose: 'opus: 30.0% of the cost, not 20.0%' },
    fell: 'haiku: 10.0% of the cost, not 60.0%',
  })
})

test('a driver that went the other way than its amount says so', () => {
  const part = (before: number, after: number, amount: number) =>
    CAUSES.prompts.driver?.({ cause: 'prompts', before, after, amount })
  expect(part(1_327, 1_340, -0.86)).toBe('1,327 → 1,340, but less of it where it costs most')
  expect(part(1_327, 1_340, 0.86)).toBe('1,327 → 1,340')
})

test('all versions and models of the newest week are named, also where others were compared later', () => {
  const effect = (name: string, first_week: string, over: object = {}) => ({
    ...{ name, verdict: 'too_early', evidence: 'compared', changed: 6, others: 6, look_at: '2026-12-21' },
    ...{ change: { trait: 'version', value: name, first_week } },
    ...over,
  })
  const fact = (day: string, kind: string, text: string) => ({ day, kind, text })
  const facts = [
    fact('2026-05-29', 'model', 'First use of old'),
    fact('2026-06-04', 'model', 'First use of opus 1'),
    fact('2026-06-04', 'model', 'First use of flash'),
    fact('2026-11-05', 'version', 'First use of a 1'),
    fact('2026-11-06', 'note', 'opus is the default'),
    fact('2026-11-19', 'version', 'First use of a 2'),
    fact('2026-11-19', 'version', 'First use of b 2'),
    fact('2026-11-20', 'version', 'First use of c 2'),
    fact('2026-11-20', 'version', 'First use of d 2'),
  ]
  const effects = [
    effect('price of flash', '2026-09-07', {
      change: { trait: 'price', value: 'flash', first_week: '2026-09-07' },
    }),
    effect('old', '2026-08-03', { change: { trait: 'model', value: 'old', first_week: '2026-08-03' } }),
    // a model of before is not what a note tells
    effect('opus', '2026-07-06', { change: { trait: 'model', value: 'opus 1', first_week: '2026-07-06' } }),
    effect('a 2', '2026-11-16'),
    effect('b 2', '2026-11-16', { others: 2 }),
    effect('c 2', '2026-11-16'),
    effect('a 1', '2026-11-02'),
  ]
  // one may be given twice
  expect(newestOf([...effects, ...effects] as never, facts as never)).toBe(
    'The newest versions, first used 19–20 Nov: a 2, c 2: too early: look at it on 21 Dec; ' +
      'b 2: too few: only 2 had not changed, it needs five; d 2: not among the changes yet. ' +
      'The newest models, first used 4 Jun: opus: too early: look at it on 21 Dec; flash: not among the changes yet. ' +
      'Noted but not measured, until it is added below: “opus is the default” (6 Nov). ',
  )
  expect(newestOf([], [])).toBe('')
  const unlisted = unlistedOf(effects as never, effects.slice(3, 5) as never, facts as never)
  expect(unlisted.map(({ name }) => name)).toEqual(['c 2', 'opus'])
})

test('Did it pay names the change that saved, and counts more', () => {
  const seen = (name: string, extra: number) => ({
    ...{ name, verdict: 'seen', measure: 'cost_per_prompt', effect: extra / 100, changed: 6, others: 6 },
    ...{ money: { extra }, weeks: { before: 8, after: 4 } },
  })
  const few = { name: 'few', verdict: 'too_few', effect: null, money: null, changed: 11, others: 0 }
  const said = (...effects: object[]) => sentenceOf(effects as never, 'in November')
  expect(said(seen('Training', -40), few)).toBe(
    'Of 2 changes in November, “Training” saved about $43.48 a month. Of 1 there is not enough to see.',
  )
  expect(said(seen('Training', -40), seen('a 2', -20), seen('b 2', 8))).toBe(
    'Of 3 changes in November, 2 saved: about $65.22 a month. “b 2” costs more.',
  )
  expect(said(seen('b 2', 8), seen('c 2', 9))).toBe('Of 2 changes in November, none saved. 2 cost more.')
})
