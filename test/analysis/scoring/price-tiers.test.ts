import { expect, test } from 'bun:test'
import { tierOf } from '../../../src/analysis/scoring/price-tiers.ts'
import { asDollars, loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { parsePriceOverrides } from '../../../src/base/model-prices.ts'

// Prices in a tier: of US dollars per million tokens of input, output and cached input.

const MILLION = 1_000_000
const AT = '2026-11-20T12:00:00.000Z'

async function priceOf(model: string, tier: string | null, overrides = '{}'): Promise<(number | null)[]> {
  const pricer = await loadPricer(parsePriceOverrides(overrides))
  return [{ input: MILLION }, { output: MILLION }, { cache_read: MILLION }].map((tokens) => {
    const cost = pricer.cost({ model, tokens, at: AT, tier, aggregated: true })
    return cost === undefined ? null : asDollars(cost)
  })
}

test.each([
  ['claude-opus-4-6', 'fast', 30, 150, 3],
  ['claude-opus-4-7-20260416', 'fast', 30, 150, 3],
  ['claude-opus-4-8', 'fast', 10, 50, 1],
  ['claude-opus-5', 'fast', 10, 50, 1],
  ['claude-opus-5-5', 'fast', 8, 40, 0.4],
  ['claude-opus-4-6', 'us', 5.5, 27.5, 0.55],
  ['claude-sonnet-4-6', 'us', 3.3, 16.5, 0.33],
  // earlier models have one place
  ['claude-opus-4-5', 'us', 5, 25, 0.5],
  ['claude-opus-4-6', 'fast us', 33, 165, 3.3],
  ['claude-opus-4-8', 'batch', 2.5, 12.5, 0.25],
  ['claude-haiku-4-5', 'batch us', 0.5, 2.5, 0.05],
  ['gpt-5.4', 'priority', 5, 30, 0.5],
  ['gpt-5.4', 'fast', 5, 30, 0.5],
  ['gpt-5.5', 'priority', 12.5, 75, 1.25],
  ['gpt-5.5-2026-04-23', 'flex', 2.5, 15, 0.25],
  ['openai/gpt-5.4', 'batch', 1.25, 7.5, 0.125],
  ['gpt-5-mini', 'priority', 0.45, 3.6, 0.045],
  ['gpt-5.3-codex', 'priority', 3.5, 28, 0.35],
  ['gpt-4o-mini', 'priority', 0.25, 1, 0.125],
  ['o4-mini', 'priority', 2, 8, 0.5],
])('a tier has its part of the list price: %s %s', async (model, tier, input, output, cached) => {
  expect(await priceOf(model, tier)).toEqual([input, output, cached])
})

test('a tier without a known price has none', async () => {
  for (const [model, tier] of [
    ['claude-sonnet-4-6', 'fast'],
    ['claude-opus-4-6', 'priority'],
    ['claude-opus-4-6', 'flex'],
    ['claude-opus-4-6', 'fast priority'],
    ['claude-opus-4-6', 'eu'],
    ['gpt-5.4', 'scale'],
    ['gpt-5.4', 'us'],
    ['gpt-5.4-pro', 'priority'],
    ['glm-4.6', 'batch'],
    ['nobodys-model', 'fast'],
  ] as const)
    expect([model, tier, ...(await priceOf(model, tier))]).toEqual([model, tier, null, null, null])
})

test('the operator’s price of a model has the tier’s part; one of the tier counts as it is', async () => {
  const prices =
    '{"claude-opus-4-6":{"input":1,"output":2},"claude-opus-4-6 (priority)":{"input":9,"output":9}}'
  expect(await priceOf('claude-opus-4-6', 'fast', prices)).toEqual([6, 12, 6])
  expect(await priceOf('claude-opus-4-6', 'priority', prices)).toEqual([9, 9, 9])
})

test('tiers of a usage are named apart from the list price', () => {
  expect(tierOf('standard', 'standard', 'global')).toBeNull()
  expect(tierOf('normal', 'default', 'not_available')).toBeNull()
  expect(tierOf(null, undefined, '')).toBeNull()
  expect(tierOf('[trimmed]', 7, {})).toBeNull()
  expect(tierOf('fast', 'standard', 'us')).toBe('fast us')
  expect(tierOf('standard', 'Priority', 'not_available')).toBe('priority')
})
