// Area under the ROC curve, and logistic regression.

/** The chance that a change with a defect has a greater score than one without; a tie is half a chance (Mann–Whitney U). */
export function areaUnderCurve(scored: readonly { score: number; isDefect: boolean }[]): number {
  const ranked = scored.toSorted((a, b) => a.score - b.score)
  let rankSum = 0
  let defects = 0
  for (let start = 0; start < ranked.length; ) {
    let end = start
    while (end < ranked.length && ranked[end]?.score === ranked[start]?.score) end += 1
    const tied = ranked.slice(start, end).filter((change) => change.isDefect).length
    rankSum += (tied * (start + 1 + end)) / 2
    defects += tied
    start = end
  }
  return (rankSum - (defects * (defects + 1)) / 2) / (defects * (ranked.length - defects))
}

const MAX_STEPS = 25
/** Keeps the matrix from being singular; too small to change a weight's fourth decimal. */
const RIDGE: number = 1e-6

/** Weights of a logistic regression, the intercept first: Newton's method on the likelihood (IRLS). */
export function fitLogistic(rows: readonly number[][], labels: readonly boolean[]): number[] {
  const inputs = rows.map((row) => [1, ...row])
  const size = inputs[0]?.length ?? 0
  let weights = new Array<number>(size).fill(0)
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const hessian = weights.map((_weight, at) => weights.map((_other, to) => (at === to ? RIDGE : 0)))
    const gradient = weights.map((weight) => -RIDGE * weight)
    for (const [index, input] of inputs.entries()) {
      const p = 1 / (1 + Math.exp(-dot(weights, input)))
      const error = (labels[index] ? 1 : 0) - p
      for (const [at, value] of input.entries()) {
        gradient[at] = (gradient[at] ?? 0) + error * value
        const line = hessian[at] ?? []
        for (let to = 0; to < size; to += 1) {
          line[to] = (line[to] ?? 0) + p * (1 - p) * value * (input[to] ?? 0)
        }
      }
    }
    const move = solve(hessian, gradient)
    weights = weights.map((weight, at) => weight + (move[at] ?? 0))
    if (Math.max(...move.map(Math.abs)) < 1e-9) break
  }
  return weights
}

export const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)

/** Solves matrix · x = vector by Gauss–Jordan elimination with pivots. */
function solve(matrix: readonly number[][], vector: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, vector[index] ?? 0])
  for (let column = 0; column < rows.length; column += 1) {
    const below = rows.slice(column).map((row) => Math.abs(row[column] ?? 0))
    const pivot = column + below.indexOf(Math.max(...below))
    const [chosen = [], other = []] = [rows[pivot], rows[column]]
    rows[pivot] = other
    rows[column] = chosen
    for (const [index, row] of rows.entries()) {
      if (index === column) continue
      const factor = (row[column] ?? 0) / (chosen[column] ?? 1)
      rows[index] = row.map((value, at) => value - factor * (chosen[at] ?? 0))
    }
  }
  return rows.map((row, index) => (row.at(-1) ?? 0) / (row[index] ?? 1))
}
