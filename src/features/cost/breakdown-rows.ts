// Makes items of a breakdown from its rows: dollars from micro-dollars.

import { dollarsOf, roundedQuotient, unscaled } from '../../base/decimals.ts'
import { COSTS } from '../usage/model.ts'
import type { Breakdown, BreakdownItem } from './breakdown-model.ts'

/** The columns of sums `g` that `totalIn` reads from one text, in its order; those of another range follow. */
export const READ = [
  ...['sessions', 'turns', 'input', 'output', 'cache_read', 'cache_creation', 'unpriced_tokens'],
  ...['whole', 'micros', ...COSTS],
]
export const READ_WITH_PREVIOUS = [...READ, 'previous_sessions', 'previous_micros']

/** Sums as they are answered. PostgreSQL takes several times as long to make JSON of them; loops over their names are as slow. */
export function totalIn(text: string): Breakdown['total'] {
  const values = text.split(',')
  const count = (at: number) => Number(values[at])
  const cost = (at: number) => dollarsOf(values[at] ?? '')
  const [, , , , , , , whole = '', micros = ''] = values
  return {
    sessions: count(0),
    turns: count(1),
    tokens: { input: count(2), output: count(3), cache_read: count(4), cache_creation: count(5) },
    cost: cost(8),
    cost_by_kind: {
      input: cost(9),
      output: cost(10),
      cache_read: cost(11),
      cache_write_5m: cost(12),
      cache_write_1h: cost(13),
      other: cost(14),
    },
    share: whole === '0' ? 0 : unscaled(roundedQuotient(BigInt(micros) * 1_000_000n, BigInt(whole)), 6),
    unpriced_tokens: count(6),
    ...(values.length > READ.length && { previous: { cost: cost(16), sessions: count(15) } }),
  }
}

/** A row as JSON: the text of its sums, its key, and the second one if there is. */
export type Row = [sums: string, key: string | null, and_key?: string | null]

export const breakdownItem = (row: Row): BreakdownItem =>
  row.length === 2
    ? { key: row[1], ...totalIn(row[0]) }
    : { key: row[1], and_key: row[2] ?? null, ...totalIn(row[0]) }
