// Divides facts further by what agents write on calls (skill, effort, tier, …): a part for each combination of these values.

import { CALL_NOTE_NAMES, type CallNotes } from '../records/session.ts'
import { byBytes, type Cell, newCounts, type Part, sumOfAll, usualCosts } from './cells.ts'
import { largestRemainder } from './largest-remainder.ts'
import { FACETS, type FacetPart, type FactKey, STANDARD, type TIERS } from './model.ts'

type Noted = { readonly [Name in keyof CallNotes]?: string | null }

export const isNoted = (noted: Noted): boolean => CALL_NOTE_NAMES.some((name) => noted[name] != null)

const SERVICE_TIERS = ['fast', 'flex', 'priority', 'batch'] as const
/** The tier of a price: that of the service, else whether the prompt was long. A region is none. */
export function tierFacetOf(price: string): (typeof TIERS)[number] {
  const terms = price.split(' ')
  return [...SERVICE_TIERS, 'long' as const].find((tier) => terms.includes(tier)) ?? STANDARD
}

/** The values of a turn, or of a session. `key`: that of a call; `rest`: the values of what it says nothing of. */
export function facetValues(
  noted: Noted,
  source: string | null,
  key: Pick<FactKey, 'price' | 'vendor' | 'paid_by'> | undefined,
  rest: readonly string[] = [],
): string[] {
  const keyValues = key && { tier: tierFacetOf(key.price), vendor: key.vendor, paid_by: key.paid_by }
  return FACETS.map((facet, index) => {
    if (facet === 'tier' || facet === 'vendor' || facet === 'paid_by')
      return keyValues?.[facet] ?? rest[index] ?? ''
    const value = noted[facet]
    if (value == null || value === '') return rest[index] ?? ''
    return facet === 'version' && source !== null ? `${source} ${value}` : value
  })
}

export const facetPart = ({ parts }: Pick<Cell, 'parts'>, values: string[]): Part =>
  parts.getOrInsertComputed(values.join('\n'), () => ({
    ...newCounts(),
    ...{ values, turns: 0, main_turns: 0, firsts: 0, model_firsts: 0 },
  }))

const sortedParts = ({ parts }: Pick<Cell, 'parts'>): Part[] =>
  [...parts].sort(([a], [b]) => byBytes(a, b)).map(([, part]) => part)

/** Adds turns of a day to the parts of a cell, in proportion to the turn records of that day; without any to the usual one. */
export function addTurns(
  cell: Cell,
  turns: number,
  byValues: ReadonlyMap<string, { values: string[]; turns: number }> | undefined,
  usual: string[],
  isMain: number,
): void {
  const groups = [...(byValues ?? [])].sort(([a], [b]) => byBytes(a, b)).map(([, each]) => each)
  const all = groups.length === 0 ? [{ values: usual, turns: 1 }] : groups
  const divided = largestRemainder(
    BigInt(turns),
    all.map((each) => BigInt(each.turns)),
  )
  for (const [index, { values }] of all.entries()) {
    const part = facetPart(cell, values)
    part.turns += Number(divided[index])
    part.main_turns += isMain * Number(divided[index])
  }
}

/** Marks the first part of a session, or of one of its models, with each value of a facet, by the bits of facets. */
export function markFirsts(
  cell: Cell,
  cells: readonly Cell[],
  usual: string[],
  name: 'firsts' | 'model_firsts',
): void {
  const parts = cells.flatMap(sortedParts)
  const called = parts.filter(({ calls, isUsed }) => calls > 0 || isUsed)
  const used = called.length > 0 ? called : parts.filter(({ turns }) => turns > 0)
  const values = used.length === 0 ? [usual] : used.map((part) => part.values)
  const seen = FACETS.map(() => new Set<string>())
  let bits = 1 << FACETS.length
  for (const each of values.toSorted((a, b) => byBytes(a.join('\n'), b.join('\n')))) {
    for (const [index, value] of each.entries()) {
      if (seen[index]?.has(value) === false) bits |= 1 << index
      seen[index]?.add(value)
    }
    if (bits !== 0) facetPart(cell, each)[name] |= bits
    bits = 0
  }
}

/** The parts of a cell whose sums are known: they add up to it. None where no part of the session has a value. */
export function dividedParts(cell: Cell, usual: string[]): FacetPart[] {
  if (cell.parts.size === 0) facetPart(cell, usual)
  const parts = sortedParts(cell)
  const turns = parts.map((part) => BigInt(part.turns))
  const numbers = (total: number, weightOf: (part: Part) => number) =>
    divide(BigInt(total), [parts.map((part) => BigInt(weightOf(part))), turns]).map(Number)
  const tokens = cell.tokens.map((total, kind) => numbers(total, (part) => part.tokens[kind] ?? 0))
  const unpriced = numbers(cell.unpriced_tokens, (part) => part.unpriced)
  const prompts = numbers(cell.prompts, (part) => part.prompts)
  const costs = dividedCosts(cell.costs, parts)
  return parts.map(({ values, firsts, model_firsts, turns, main_turns, calls }, index) => {
    const [input = 0, output = 0, cache_read = 0, write = 0, hour = 0] = tokens.map((of) => of[index] ?? 0)
    return {
      ...{ values, firsts, model_firsts, turns, main_turns, calls, prompts: prompts[index] ?? 0 },
      ...{ input, output, cache_read, cache_creation: write + hour, cache_creation_1h: hour },
      costs: costs[index] ?? [],
      unpriced_tokens: unpriced[index] ?? 0,
    }
  })
}

/** The costs by kind of each part: they add up to those of its calls, and to those of the cell's kinds. */
function dividedCosts(total: readonly bigint[], parts: readonly Part[]): bigint[][] {
  const weights = [
    parts.map(({ weight }) => weight),
    parts.map(({ listed }) => sumOfAll(listed)),
    parts.map(({ counted }) => BigInt(counted)),
    parts.map(({ turns }) => BigInt(turns)),
  ]
  const costs = divide(sumOfAll(total), weights).map((cost, index) => {
    const { kinds = [], listed = [], tokens = [] } = parts[index] ?? {}
    return divide(cost, [kinds, listed, [...usualCosts(tokens), 0n], total])
  })
  const lacking = total.map((amount, kind) => amount - sumOfAll(costs.map((of) => of[kind] ?? 0n)))
  for (const of of costs)
    for (const kind of of.keys())
      for (const other of of.keys()) {
        const [given, taken] = [-(lacking[kind] ?? 0n), lacking[other] ?? 0n]
        const moved = [of[kind] ?? 0n, given, taken].reduce((least, each) => (each < least ? each : least))
        if (moved <= 0n) continue
        of[kind] = (of[kind] ?? 0n) - moved
        of[other] = (of[other] ?? 0n) + moved
        lacking[kind] = (lacking[kind] ?? 0n) + moved
        lacking[other] = (lacking[other] ?? 0n) - moved
      }
  return costs
}

/** The total by the first weights of which one is above 0; where there are none, all of it is the first's. */
function divide(total: bigint, weights: readonly (readonly bigint[])[]): bigint[] {
  const firstWeights = weights.find((some) => some.some((weight) => weight > 0n))
  return firstWeights === undefined
    ? (weights[0] ?? []).map((_, index) => (index === 0 ? total : 0n))
    : largestRemainder(total, firstWeights)
}
