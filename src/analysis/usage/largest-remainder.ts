/** `total` divided in proportion to `weights`, exactly: what rounding leaves goes to those that lack most, then the first. */
export function largestRemainder(total: bigint, weights: readonly bigint[]): bigint[] {
  const sum = weights.reduce((all, weight) => all + weight, 0n)
  const parts = weights.map((weight) => (total * weight) / sum)
  let left = total - parts.reduce((all, part) => all + part, 0n)
  if (left === 0n) return parts
  const remainders = weights.map((weight, index) => ({ index, rest: (total * weight) % sum }))
  remainders.sort((a, b) => (a.rest === b.rest ? a.index - b.index : a.rest > b.rest ? -1 : 1))
  for (const { index } of remainders) {
    if (left === 0n) break
    parts[index] = (parts[index] ?? 0n) + 1n
    left -= 1n
  }
  return parts
}
