import type { Fragment, ISql } from '../../database/client.ts'
import { USED } from './model.ts'

/** An equal part of a column of `s` for its ticket `t`, rounded down to a micro-dollar or token; the last ticket has the rest. */
function partOf(sql: ISql, name: string): Fragment {
  const column = sql.unsafe(`s.${name}`)
  // whole tokens are divided as integers
  const each =
    name === 'cost' ? sql`div(${column} * 1000000, t.parts) * 0.000001` : sql`(${column} / t.parts)`
  return sql`
    case
      when t.parts is null then ${column}
      when t.nth < t.parts then ${each}
      else ${column} - (t.parts - 1) * ${each}
    end as ${sql.unsafe(name)}`
}

/** The divided columns of a row `s` left joined with its tickets `t`. */
export const dividedSums = (sql: ISql): Fragment =>
  USED.map((column) => partOf(sql, column)).reduce((all, each) => sql`${all}, ${each}`)
