import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  CAUSES,
  type ChangeParts,
  type KeyWork,
  logPartsOf,
  partsOf,
  roundedParts,
  WORK_KINDS,
} from '../../../src/analysis/scoring/change-parts.ts'

// The causes of a change of cost: they add up to it, and one cause alone is found alone.

const TOKENS = WORK_KINDS.filter((kind) => kind !== 'other')
type Tokens = Record<(typeof TOKENS)[number], number>
const eachOf = (amountOf: (kind: keyof Tokens) => number) =>
  Object.fromEntries(TOKENS.map((kind) => [kind, amountOf(kind)])) as Tokens
const listOf = (given: Partial<Tokens> = {}) => TOKENS.map((kind) => given[kind] ?? 0)
const work = (
  given: Omit<Partial<KeyWork>, 'quantity' | 'base'> & { quantity?: Partial<Tokens>; base?: Partial<Tokens> },
): KeyWork => ({
  ...{ prompts: 1, calls: 1, cost: 0, undivided: 0, isAtBase: false, ...given },
  quantity: listOf(given.quantity),
  base: listOf(given.base),
})
const found = (parts: ChangeParts) =>
  Object.fromEntries(CAUSES.flatMap((cause) => (parts[cause] === 0 ? [] : [[cause, parts[cause]]])))
const sum = (amounts: Record<string, number>) => Object.values(amounts).reduce((all, each) => all + each, 0)

describe('by hand', () => {
  test('one prompt more', () => {
    const before = work({
      ...{ prompts: 10, calls: 20, cost: 1_000_000 },
      ...{ quantity: { input: 500, output: 70 }, base: { input: 600_000, output: 400_000 } },
    })
    const after = work({
      ...{ prompts: 11, calls: 22, cost: 1_100_000 },
      ...{ quantity: { input: 550, output: 77 }, base: { input: 660_000, output: 440_000 } },
    })
    expect(found(partsOf(before, after))).toEqual({ prompts: 100_000 })
  })

  test('twice the calls at half the price cancel each other', () => {
    // both sides cost 1,000,000, and ln 2 = 0.693147…
    const before = work({ cost: 1_000_000, quantity: { input: 100 }, base: { input: 1_000_000 } })
    const after = work({ ...before, calls: 2, quantity: { input: 200 }, base: { input: 2_000_000 } })
    expect(found(partsOf(before, after))).toEqual({ calls_per_prompt: 693_147, price: -693_147 })
  })

  test('twice the input, and a cache that was not used before', () => {
    // shares .25, .75, 0 become .2, .3, .5; their means .224071 and .491110; 600 / ln 2.5 = 654.814
    const before = work({
      cost: 400_000_000,
      quantity: { input: 100, output: 100 },
      base: { input: 100, output: 300 },
    })
    const after = work({
      cost: 1_000_000_000,
      quantity: { input: 200, output: 100, cache_write_1h: 900 },
      base: { input: 200, output: 300, cache_write_1h: 500 },
    })
    const parts = found(partsOf(before, after))
    expect(Object.keys(parts)).toEqual(['input_per_call', 'cache_write_per_call'])
    expect((parts.input_per_call ?? 0) / 1e6).toBeCloseTo(142.204, 2)
    expect(sum(parts)).toBe(600_000_000)
  })

  test('what has no causes is of the prompts, costs without tokens are apart', () => {
    const before = work({ cost: 5, undivided: 3, quantity: { input: 1 }, base: { input: 5 } })
    const gone = { prompts: -5, undivided: -1 }
    expect(found(partsOf(before, work({ prompts: 0, calls: 0, undivided: 2 })))).toEqual(gone)
    const other = work({ cost: 9, quantity: { output: 1 }, base: { output: 9 } })
    expect(found(partsOf(before, other))).toEqual({ prompts: 4, undivided: -3 })
  })

  test('amounts are rounded by the largest remainder, ties to the first', () => {
    expect(roundedParts({ a: 1.5, b: 1.5, c: -1 }, 2)).toEqual({ a: 2, b: 1, c: -1 })
    expect(roundedParts({ a: 2.0000001, b: 1.0000001 }, 2)).toEqual({ a: 1, b: 1 })
  })
})

const amount = (max: number) => fc.nat({ max })
const amounts = (max: number) =>
  fc
    .array(amount(max), { minLength: TOKENS.length, maxLength: TOKENS.length })
    .map((each) => eachOf((kind) => each[TOKENS.indexOf(kind)] ?? 0))
const side = fc
  .record({
    prompts: fc.nat({ max: 1e5 }),
    calls: fc.nat({ max: 1e7 }),
    cost: fc.integer({ min: 0, max: 10 ** 13 }),
    undivided: amount(1e9),
    quantity: amounts(2 ** 31),
    base: amounts(2 ** 31),
  })
  .map(work)
const often = { numRuns: 1_000 }

test('the parts add up to the change', () => {
  fc.assert(
    fc.property(side, side, amount(1e9), amount(1e9), (before, after, other0, other1) => {
      const change = after.cost + after.undivided - before.cost - before.undivided
      expect(sum(partsOf(before, after))).toBe(change)
      const withOther = (given: KeyWork, other: number) => ({
        ...given,
        ...{ quantity: [...Array.from(given.quantity), other], base: [...Array.from(given.base), other] },
      })
      const logs = logPartsOf(withOther(before, other0), withOther(after, other1))
      if (logs === undefined) return
      const all = Object.values(logs).reduce((total, part) => total + part, 0)
      expect(all).toBeCloseTo(Math.log(after.cost / before.cost), 8)
    }),
    often,
  )
})

test('the ranges the other way round have the same parts with the other sign, but for rounding', () => {
  fc.assert(
    fc.property(side, side, (before, after) => {
      const [there, back] = [partsOf(before, after), partsOf(after, before)]
      for (const cause of CAUSES) expect(Math.abs(there[cause] + back[cause])).toBeLessThanOrEqual(1)
    }),
    often,
  )
})

/** A multiple of the work. */
const timesOf = (given: KeyWork, times: number): KeyWork => ({
  ...{ prompts: given.prompts * times, calls: given.calls * times, cost: given.cost * times },
  undivided: 0,
  isAtBase: false,
  quantity: Array.from(given.quantity, (count) => count * times),
  base: Array.from(given.base, (cost) => cost * times),
})
const priced = fc
  .record({
    prompts: fc.integer({ min: 1, max: 30 }),
    calls: fc.integer({ min: 1, max: 1000 }),
    cost: fc.integer({ min: 1, max: 1e9 }),
    quantity: amounts(1e7),
    prices: fc.array(fc.integer({ min: 1, max: 1e6 }), {
      minLength: TOKENS.length,
      maxLength: TOKENS.length,
    }),
  })
  .filter(({ quantity }) => sum(quantity) > 0)
  .map(({ prices, ...given }) =>
    work({ ...given, base: eachOf((kind) => given.quantity[kind] * (prices[TOKENS.indexOf(kind)] ?? 1)) }),
  )
const count = fc.integer({ min: 1, max: 500 })

test('one more prompt alone is all of the change', () => {
  fc.assert(
    fc.property(priced, count, (each, times) => {
      const parts = partsOf(timesOf(each, times), timesOf(each, times + 1))
      expect(found(parts)).toEqual({ prompts: each.cost })
    }),
    often,
  )
})

test('rounding of what was paid is no part', () => {
  fc.assert(
    fc.property(priced, count, fc.integer({ min: -3, max: 3 }), (each, times, rounding) => {
      const sides = [times, times + 1].map((n) => ({ ...timesOf(each, n), isAtBase: true }))
      const [before, after] = [sides[0] ?? each, sides[1] ?? each]
      const cost = after.cost + rounding
      fc.pre(cost > 0 && each.cost > 3)
      expect(found(partsOf(before, { ...after, cost }))).toEqual({ prompts: cost - before.cost })
    }),
    often,
  )
})

test('another price alone is all of the change', () => {
  fc.assert(
    fc.property(priced, count, (each, more) => {
      const parts = partsOf(each, { ...each, cost: each.cost + more })
      expect(found(parts)).toEqual({ price: more })
    }),
    often,
  )
})
