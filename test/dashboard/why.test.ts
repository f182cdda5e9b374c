import { afterAll, beforeAll, expect, setSystemTime, test } from 'bun:test'
import { answerOf, CAUSES, type Cause, halvesOf } from '../../src/dashboard/why/words.ts'
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
    'as much',
    found(851.87, 852.27, { prompts: 100.4, price: -100 }),
    undefined,
    '22–28 Nov cost $852.27, as much as 15–21 Nov (+$0.40). The causes below cancel each other',
  ],
  [
    'hardly divisible',
    found(10, 20, { undivided: 9, prompts: 1 }),
    { share: 0.84, agent: 'copilot' },
    '84.0% of this cost cannot be divided: copilot states costs without tokens',
  ],
  [
    'without prompts',
    found(10, 20, { prompts: 10 }),
    { share: 0.1, agent: null },
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
