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
type Tokens = Record<(typeof TOKENS)[number], bigint>
const eachOf = (amountOf: (kind: keyof Tokens) => bigint) =>
  Object.fromEntries(TOKENS.map((kind) => [kind, amountOf(kind)])) as Tokens
const NO_KINDS = eachOf(() => 0n)
const work = (
  given: Omit<Partial<KeyWork>, 'quantity' | 'base'> & { quantity?: Partial<Tokens>; base?: Partial<Tokens> },
): KeyWork => ({
  ...{ prompts: 1, calls: 1, cost: 0n, undivided: 0n, isAtBase: false, ...given },
  quantity: { ...NO_KINDS, ...given.quantity },
  base: { ...NO_KINDS, ...given.base },
})
const found = (parts: ChangeParts) =>
  Object.fromEntries(CAUSES.flatMap((cause) => (parts[cause] === 0n ? [] : [[cause, parts[cause]]])))
const sum = (amounts: Record<string, bigint>) => Object.values(amounts).reduce((all, each) => all + each, 0n)

describe('by hand', () => {
  test('one prompt more', () => {
    const before = work({
      ...{ prompts: 10, calls: 20, cost: 1_000_000n },
      ...{ quantity: { input: 500n, output: 70n }, base: { input: 600_000n, output: 400_000n } },
    })
    const after = work({
      ...{ prompts: 11, calls: 22, cost: 1_100_000n },
      ...{ quantity: { input: 550n, output: 77n }, base: { input: 660_000n, output: 440_000n } },
    })
    expect(found(partsOf(before, after))).toEqual({ prompts: 100_000n })
  })

  test('twice the calls at half the price cancel each other', () => {
    // both sides cost 1,000,000, and ln 2 = 0.693147…
    const before = work({ cost: 1_000_000n, quantity: { input: 100n }, base: { input: 1_000_000n } })
    const after = work({ ...before, calls: 2, quantity: { input: 200n }, base: { input: 2_000_000n } })
    expect(found(partsOf(before, after))).toEqual({ calls_per_prompt: 693_147n, price: -693_147n })
  })

  test('twice the input, and a cache that was not used before', () => {
    // shares .25, .75, 0 become .2, .3, .5; their means .224071 and .491110; 600 / ln 2.5 = 654.814
    const before = work({
      cost: 400_000_000n,
      quantity: { input: 100n, output: 100n },
      base: { input: 100n, output: 300n },
    })
    const after = work({
      cost: 1_000_000_000n,
      quantity: { input: 200n, output: 100n, cache_write_1h: 900n },
      base: { input: 200n, output: 300n, cache_write_1h: 500n },
    })
    const parts = found(partsOf(before, after))
    expect(Object.keys(parts)).toEqual(['input_per_call', 'cache_write_per_call'])
    expect(Number(parts.input_per_call) / 1e6).toBeCloseTo(142.204, 2)
    expect(sum(parts)).toBe(600_000_000n)
  })

  test('what has no causes is of the prompts, costs without tokens are apart', () => {
    const before = work({ cost: 5n, undivided: 3n, quantity: { input: 1n }, base: { input: 5n } })
    const gone = { prompts: -5n, undivided: -1n }
    expect(found(partsOf(before, work({ prompts: 0, calls: 0, undivided: 2n })))).toEqual(gone)
    const other = work({ cost: 9n, quantity: { output: 1n }, base: { output: 9n } })
    expect(found(partsOf(before, other))).toEqual({ prompts: 4n, undivided: -3n })
  })

  test('amounts are rounded by the largest remainder, ties to the first', () => {
    expect(roundedParts({ a: 1.5, b: 1.5, c: -1 }, 2n)).toEqual({ a: 2n, b: 1n, c: -1n })
    expect(roundedParts({ a: 2.0000001, b: 1.0000001 }, 2n)).toEqual({ a: 1n, b: 1n })
  })
})

const amount = (max: number) => fc.nat({ max }).map(BigInt)
const amounts = (max: number) =>
  fc
    .array(amount(max), { minLength: TOKENS.length, maxLength: TOKENS.length })
    .map((each) => eachOf((kind) => each[TOKENS.indexOf(kind)] ?? 0n))
const side = fc
  .record({
    prompts: fc.nat({ max: 1e5 }),
    calls: fc.nat({ max: 1e7 }),
    cost: fc.bigInt({ min: 0n, max: 10n ** 13n }),
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
      const withOther = (given: KeyWork, other: bigint) => ({
        ...given,
        ...{ quantity: { ...given.quantity, other }, base: { ...given.base, other } },
      })
      const logs = logPartsOf(withOther(before, other0), withOther(after, other1))
      if (logs === undefined) return
      const all = Object.values(logs).reduce((total, part) => total + part, 0)
      expect(all).toBeCloseTo(Math.log(Number(after.cost) / Number(before.cost)), 8)
    }),
    often,
  )
})

test('the ranges the other way round have the same parts with the other sign, but for rounding', () => {
  fc.assert(
    fc.property(side, side, (before, after) => {
      const [there, back] = [partsOf(before, after), partsOf(after, before)]
      for (const cause of CAUSES) expect(Math.abs(Number(there[cause] + back[cause]))).toBeLessThanOrEqual(1)
    }),
    often,
  )
})

/** A multiple of the work. */
const timesOf = (given: KeyWork, times: number): KeyWork => ({
  ...{ prompts: given.prompts * times, calls: given.calls * times, cost: given.cost * BigInt(times) },
  undivided: 0n,
  isAtBase: false,
  quantity: eachOf((kind) => given.quantity[kind] * BigInt(times)),
  base: eachOf((kind) => given.base[kind] * BigInt(times)),
})
const priced = fc
  .record({
    prompts: fc.integer({ min: 1, max: 30 }),
    calls: fc.integer({ min: 1, max: 1000 }),
    cost: fc.integer({ min: 1, max: 1e9 }).map(BigInt),
    quantity: amounts(1e7),
    prices: fc.array(fc.integer({ min: 1, max: 1e6 }), {
      minLength: TOKENS.length,
      maxLength: TOKENS.length,
    }),
  })
  .map(({ prices, ...given }) => {
    const { quantity } = work(given)
    return work({
      ...given,
      base: eachOf((kind) => quantity[kind] * BigInt(prices[TOKENS.indexOf(kind)] ?? 1)),
    })
  })
  .filter(({ quantity }) => sum(quantity) > 0n)
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
      const cost = after.cost + BigInt(rounding)
      fc.pre(cost > 0n && each.cost > 3n)
      expect(found(partsOf(before, { ...after, cost }))).toEqual({ prompts: cost - before.cost })
    }),
    often,
  )
})

test('another price alone is all of the change', () => {
  fc.assert(
    fc.property(priced, count, (each, more) => {
      const parts = partsOf(each, { ...each, cost: each.cost + BigInt(more) })
      expect(found(parts)).toEqual({ price: BigInt(more) })
    }),
    often,
  )
})
