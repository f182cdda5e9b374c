import { expect, test } from 'bun:test'
import { createBasePrices, loadPriceHistory, paidPrices } from '../../../src/analysis/scoring/base-prices.ts'

// Tokens at the prices of one day: dollars per million tokens of input, output, cache read and both cache writes.

const history = await loadPriceHistory({ 'in-house': { input: 3, output: 9 } })
const pricesOn = (day: string, model: string, terms = 'standard') =>
  createBasePrices(history, `${day}T00:00:00.000Z`)(model, terms)?.map((pico) => pico / 1e6)

test.each([
  ['a price of the day', '2026-10-06', 'claude-sonnet-5-5', 'standard', [2, 10, 0.2, 2.5, 4]],
  ['and of the day on which it changes', '2026-10-07', 'claude-sonnet-5-5', 'standard', [2, 10, 0.1, 2.5, 4]],
  ['a long prompt', '2026-11-01', 'claude-haiku-5-5', 'long', [0.5, 2.5, 0.05, 0.625, 1]],
  ['a tier', '2026-11-01', 'claude-opus-4-6', 'fast', [30, 150, 3, 37.5, 60]],
  ['an operator’s price', '2026-11-01', 'in-house', 'standard', [3, 9, 3, 3, 3]],
  ['peak hours', '2026-09-16', 'deepseek-v4-flash', 'peak', [0.3, 1.2, 0.006, 0.3, 0.3]],
  [
    'and the hours beside them',
    '2026-09-16',
    'deepseek-v4-flash',
    'standard',
    [0.15, 0.6, 0.003, 0.15, 0.15],
  ],
  [
    'the peak hours of a weekend are those before',
    '2026-09-20',
    'deepseek-v4-flash',
    'peak',
    [0.3, 1.2, 0.006, 0.3, 0.3],
  ],
  [
    'before there were peak hours',
    '2026-08-14',
    'deepseek-v4-flash',
    'peak',
    [0.14, 0.28, 0.0028, 0.14, 0.14],
  ],
])('%s', (_name, day, model, terms, prices) => {
  expect(pricesOn(day, model, terms)).toEqual(prices)
})

test('a model without a price on that day has its first one', () => {
  const of = (at: string) => ({
    divided: ({ at: time }: { at: string }) =>
      time < '2026-05-02'
        ? undefined
        : { costs: [7n, 7n, 7n, 7n, 7n].map((each) => each * 10n ** 9n), terms: [] },
    changesOf: () => ['2026-05-01T00:00:00.000Z', '2026-05-02T00:00:00.000Z', at],
  })
  const prices = createBasePrices(of('2026-06-01T00:00:00.000Z'), '2026-04-01T00:00:00.000Z')
  expect(prices('m', 'standard')).toEqual([7, 7, 7, 7, 7])
  expect(pricesOn('2026-11-01', 'of-nobody')).toBeUndefined()
})

test('without a price it is that of the first range that paid for tokens of the kind', () => {
  const paid = (tokens: number, cost: number) => [tokens, 0, 7, 0, 0, cost, 3]
  expect(paidPrices([paid(10, 20), paid(5, 90)])).toEqual([2_000_000, 0, 0, 0, 0])
  expect(paidPrices([paid(10, 0), paid(5, 90)])).toEqual([18_000_000, 0, 0, 0, 0])
})
