import { allTokens } from '../records/session.ts'
import { largestRemainder } from '../scoring/largest-remainder.ts'
import { PRICED_KINDS, type Pricer } from '../scoring/prices.ts'
import { byBytes, byKind, type Cell, OTHER, sumOf, sumOfAll, usualCosts } from './cells.ts'
import type { FactSession } from './model.ts'

/** Makes the cells' tokens those of the session. `endOf`: the cell of what a model used beyond its calls. */
export function divideTokens(
  cells: readonly Cell[],
  mainCell: Cell,
  given: FactSession['detail']['tokens'],
  endOf: (model: string) => Cell,
): void {
  const countIn = (kind: number) => (cell: Cell) => cell.tokens[kind] ?? 0
  const hours = given?.cache_creation_1h ?? sumOf(cells.map(countIn(HOUR)))
  const totals = byKind({ ...allTokens(given), cache_creation_1h: hours })
  for (const [kind, total] of totals.entries()) {
    const counts = cells.map(countIn(kind))
    const counted = sumOf(counts)
    if (total === counted) continue
    if (counted === 0) {
      mainCell.tokens[kind] = total
    } else if (total < counted) {
      const parts = largestRemainder(BigInt(total), counts.map(BigInt))
      for (const [index, cell] of cells.entries()) cell.tokens[kind] = Number(parts[index])
    } else {
      const byModel = Map.groupBy(cells, ({ model }) => model)
      const models = [...byModel.keys()].sort(byBytes)
      const weights = models.map((model) => BigInt(sumOf((byModel.get(model) ?? []).map(countIn(kind)))))
      for (const [index, part] of largestRemainder(BigInt(total - counted), weights).entries()) {
        if (part === 0n) continue
        const { tokens } = endOf(models[index] ?? '')
        tokens[kind] = (tokens[kind] ?? 0) + Number(part)
      }
    }
  }
}

const HOUR = PRICED_KINDS.length - 1

/** Gives the session's cost and its unpriced tokens to the cells. */
export function divideCost(
  cells: readonly Cell[],
  mainCell: Cell,
  { cost, unpriced_tokens, created_at }: FactSession,
  pricer: Pricer,
): void {
  const divide = (total: bigint, weights: readonly bigint[]): bigint[] =>
    weights.some((weight) => weight > 0n)
      ? largestRemainder(total, weights)
      : cells.map((cell) => (cell === mainCell ? total : 0n))
  const unpriced = divide(
    BigInt(unpriced_tokens),
    cells.map((cell) => BigInt(cell.unpriced)),
  )
  const hasCosts = cells.some(({ weight }) => weight > 0n)
  const areListed =
    cells.every(({ isListed }) => isListed) && cells.some(({ listed }) => sumOfAll(listed) > 0n)
  const weightOf = ({ weight, listed, counted }: Cell) =>
    hasCosts ? weight : areListed ? sumOfAll(listed) : BigInt(counted)
  const costs = divide(cost, cells.map(weightOf))
  for (const [index, cell] of cells.entries()) {
    cell.unpriced_tokens = Number(unpriced[index])
    const own = costs[index] ?? 0n
    if (own > 0n) cell.costs = largestRemainder(own, kindsOf(cell, created_at, pricer))
  }
}

/** The weights that a cell's cost is divided by. */
function kindsOf(cell: Cell, at: string, pricer: Pricer): bigint[] {
  for (const kinds of [cell.kinds, cell.listed]) if (sumOfAll(kinds) > 0n) return kinds
  const [input = 0, output = 0, cache_read = 0, write = 0, hour = 0] = cell.tokens
  const tokens = { input, output, cache_read, cache_creation: write + hour, cache_creation_1h: hour }
  const list = pricer.divided({ model: cell.model, tokens, at, aggregated: true })?.costs
  const kinds = [...(list ?? usualCosts(cell.tokens)), 0n]
  return sumOfAll(kinds) === 0n ? kinds.with(OTHER, 1n) : kinds
}
