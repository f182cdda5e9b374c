/** Writes numbers of lines as ranges, `1-3,5`, which `parseRanges` reads and `countIn` counts. */
export function rangesOf(numbers: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last !== undefined && number <= last[1] + 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',')
}

/** `1-3,5` as pairs of the first and the last; null where it is something else. */
export function parseRanges(text: string): [number, number][] | null {
  const ranges = text.split(',').map((part): [number, number] | null => {
    const [, from, to = from] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? []
    return from === undefined ? null : [Number(from), Number(to)]
  })
  return ranges.includes(null) ? null : ranges.filter((range) => range !== null)
}

/** Counts the numbers that are in the range from `from` to `to`. */
export const countIn = (ranges: readonly [number, number][], from: number, to: number): number =>
  ranges.reduce((sum, [first, last]) => sum + Math.max(0, Math.min(last, to) - Math.max(first, from) + 1), 0)
