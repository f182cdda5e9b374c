import { loadavg } from 'node:os'

/** The figures of one case at both sizes. */
export interface Outcome {
  name: string
  /** Milliseconds, lower is better, or requests a second, higher is better. */
  small: number
  big: number
  /** Factor by which the larger size is worse. */
  ratio: number
  limit: number | null
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** The value below which the fraction `part` of `values` lies; NaN without values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

const verdictOf = ({ ratio, limit }: Outcome): string =>
  limit === null ? 'not held' : ratio < limit ? 'ok' : 'BEYOND'

/** The cases that exceed their limit. */
export const beyond = (outcomes: readonly Outcome[]): Outcome[] =>
  outcomes.filter((outcome) => verdictOf(outcome) === 'BEYOND')

/** Prints lines of cells as columns, the first to the left and the others to the right. */
export function printColumns(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  for (const row of rows) {
    const cells = row.map((cell, column) => {
      const width = widths[column] ?? 0
      return column === 0 ? cell.padEnd(width) : cell.padStart(width)
    })
    print(cells.join('  '))
  }
}

/** Prints outcomes with their verdicts under `title`. */
export function printOutcomes(
  title: string,
  [small, big]: readonly [string, string],
  outcomes: readonly Outcome[],
  decimals: number,
): void {
  print(`\n${title} (load average ${loadavg()[0]?.toFixed(2)})`)
  printColumns([
    ['case', small, big, 'ratio', 'limit', 'verdict'],
    ...outcomes.map((outcome) => [
      outcome.name,
      outcome.small.toFixed(decimals),
      outcome.big.toFixed(decimals),
      outcome.ratio.toFixed(2),
      outcome.limit === null ? '' : String(outcome.limit),
      verdictOf(outcome),
    ]),
  ])
}

/** Prints one line. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
