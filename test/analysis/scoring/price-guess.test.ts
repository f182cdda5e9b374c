import { expect, test } from 'bun:test'
import { loadGuesses } from '../../../src/analysis/scoring/price-guess.ts'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { parsePriceOverrides } from '../../../src/base/model-prices.ts'

const AT = '2026-11-24T12:00:00.000Z'
const guess = await loadGuesses()

test.each([
  ['gpt-6.3-sol', 'gpt-6.2-sol'],
  ['gpt-6.3-sol-2026-12-01', 'gpt-6.2-sol'],
  ['openai/gpt-5.7-sol', 'gpt-5.6-sol'],
  // no other model of this kind
  ['gpt-5.6-nova', 'gpt-5.6'],
  ['claude-opus-9-1', 'claude-opus-5-5'],
  ['claude-4.9-sonnet', 'claude-sonnet-5'],
  ['qwen4-coder-plus', 'qwen3-coder-plus'],
  ['claude-opus-4-6 (priority)', 'claude-opus-4-6'],
  ['claude-nova-6', null],
  ['in-house', null],
  ['constructor', null],
])('%s may cost what %s costs', (model, nearest) => {
  expect(guess(model, AT)).toMatchObject({ nearest })
})

test('a model with a price needs no guess', () => {
  expect(guess('gpt-6.2-sol', AT)).toBeUndefined()
  expect(guess('claude-opus-4-6[1m]', AT)).toBeUndefined()
})

test('the line is one of a file of prices, and its price is that of the nearest model', async () => {
  const line = guess('gpt-6.3-sol', AT)?.line ?? ''
  expect(line).toBe('"gpt-6.3-sol": { "input": 2, "output": 10, "cache_read": 0.1, "cache_write": 2.5 }')
  const usage = { tokens: { input: 7, output: 11, cache_read: 13, cache_creation: 17 }, at: AT }
  const own = await loadPricer()
  expect(own.cost({ model: 'gpt-6.3-sol', ...usage })).toBeUndefined()
  const accepted = await loadPricer(parsePriceOverrides(`{${line}}`))
  expect(accepted.cost({ model: 'gpt-6.3-sol', ...usage })).toBe(own.cost({ model: 'gpt-6.2-sol', ...usage }))
})

test('a line without known prices cannot be taken unfilled', () => {
  const line = guess('in-house', AT)?.line ?? ''
  expect(line).toBe('"in-house": { "input": …, "output": … }')
  expect(() => parsePriceOverrides(`{${line}}`)).toThrow('not JSON')
})
