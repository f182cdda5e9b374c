// Divides the tokens and the cost of a session among its cells (cells.ts).

import { allTokens } from '../records/session.ts'
import { PRICED_KINDS, type Pricer } from '../scoring/prices.ts'
import { byBytes, byKind, type Cell, OTHER, sumOf, sumOfAll, usualCosts } from './cells.ts'
import { largestRemainder } from './largest-remainder.ts'
import type { FactSession } from './model.ts'

/** Divides the session's tokens among cells, each kind by model and then by day. `endOf`: the cell of a model's rest. */
export function divideTokens(
  cells: readonly Cell[],
  mainCell: Cell,
  tokens: FactSession['detail']['tokens'],
  endOf: (model: string) => Cell,
): void {
  const countIn = (kind: number) => (cell: Cell) => cell.tokens[kind] ?? 0
  const hours = tokens?.cache_creation_1h ?? sumOf(cells.map(countIn(HOUR)))
  const totals = byKind({ ...allTokens(tokens), cache_creation_1h: hours })
  for (const [kind, total] of totals.entries()) {
    const counted = sumOf(cells.map(countIn(kind)))
    if (total === counted) continue
    if (counted === 0) mainCell.tokens[kind] = total
    for (const { model, own, part } of counted === 0 ? [] : byModel(cells, total, countIn(kind))) {
      const counts = own.map(countIn(kind))
      const more = part - sumOf(counts)
      if (more > 0) {
        const { tokens } = endOf(model)
        tokens[kind] = (tokens[kind] ?? 0) + more
      } else if (more < 0) {
        const parts = largestRemainder(BigInt(part), counts.map(BigInt))
        for (const [index, cell] of own.entries()) cell.tokens[kind] = Number(parts[index])
      }
    }
  }
}

/** The cells of each model, and its part of a total in proportion to `weightOf` its cells; one of these is above 0. */
function byModel(cells: readonly Cell[], total: number, weightOf: (cell: Cell) => number) {
  const models = [...Map.groupBy(cells, ({ model }) => model)].sort(([a], [b]) => byBytes(a, b))
  const sum = BigInt(sumOf(cells.map(weightOf)))
  let through = 0n
  return models.map(([model, share]) => {
    const before = (BigInt(total) * through) / sum
    through += BigInt(sumOf(share.map(weightOf)))
    return { model, own: share, part: Number((BigInt(total) * through) / sum - before) }
  })
}

const HOUR = PRICED_KINDS.length - 1

export function divideCost(
  cells: readonly Cell[],
  mainCell: Cell,
  { cost, unpriced_tokens, created_at }: FactSession,
  pricer: Pricer,
): void {
  const unpricedIn = ({ unpriced }: Cell) => unpriced
  if (sumOf(cells.map(unpricedIn)) === 0) mainCell.unpriced_tokens = unpriced_tokens
  else
    for (const { own, part } of byModel(cells, unpriced_tokens, unpricedIn)) {
      const parts = dividedBy(BigInt(part), own.map(unpricedIn).map(BigInt))
      for (const [index, cell] of own.entries()) cell.unpriced_tokens = Number(parts[index])
    }
  const hasCosts = cells.some(({ weight }) => weight > 0n)
  const areListed =
    cells.every(({ isListed }) => isListed) && cells.some(({ listed }) => sumOfAll(listed) > 0n)
  const weightOf = ({ weight, listed, counted }: Cell) =>
    hasCosts ? weight : areListed ? sumOfAll(listed) : BigInt(counted)
  const costs = dividedBy(cost, cells.map(weightOf), cells.indexOf(mainCell))
  for (const [index, cell] of cells.entries()) {
    const share = costs[index] ?? 0n
    if (share > 0n) cell.costs = largestRemainder(share, kindsOf(cell, created_at, pricer))
  }
}

/** The parts of a total by the largest remainder; all of it at `rest` where no weight is above 0. */
const dividedBy = (total: bigint, weights: readonly bigint[], rest = 0): bigint[] =>
  weights.some((weight) => weight > 0n)
    ? largestRemainder(total, weights)
    : weights.map((_, index) => (index === rest ? total : 0n))

function kindsOf(cell: Cell, at: string, pricer: Pricer): bigint[] {
  for (const kinds of [cell.kinds, cell.listed]) if (sumOfAll(kinds) > 0n) return kinds
  const [input = 0, output = 0, cache_read = 0, write = 0, hour = 0] = cell.tokens
  const tokens = { input, output, cache_read, cache_creation: write + hour, cache_creation_1h: hour }
  const list = pricer.divided({ model: cell.model, tokens, at, aggregated: true })?.costs
  const kinds = [...(list ?? usualCosts(cell.tokens)), 0n]
  return sumOfAll(kinds) === 0n ? kinds.with(OTHER, 1n) : kinds
}
