// Makes the sums of commits and pull requests, by which outcomes are read.

import type { Fragment, ISql } from '../../database/client.ts'
import type { OrgId } from '../../database/derived-tables.ts'
import { type Rollup, rollup } from '../../database/rollups.ts'
import { dimsOf, FACT_GROUPINGS } from './sums.ts'

/**
 * Declares a rollup of facts by day and month, for several groupings. Facts are rows with `day`, the columns of `keys` and
 * `sums`, and `by_agent`: null counts in every grouping, true in those by agent, false in the others.
 */
interface Facts {
  name: string
  keys: readonly string[]
  /** Besides `facts`, which counts them. */
  sums: readonly string[]
  /** All of an organization. */
  facts: (sql: ISql, orgId: OrgId) => Fragment
}

/** Keys that a grouping is not by are ''. */
export const factRollup = ({ name, keys, sums, facts }: Facts): Rollup => {
  const key = ['dims', 'grain', 'bucket', ...keys]
  const grouped = keys.map((column) => `case when g.has_${column} then f.${column} else '' end as ${column}`)
  const summed = sums.map((column) => `sum(f.${column}) as ${column}`)
  const groupings = FACT_GROUPINGS.map((grouping) => {
    const has = keys.map((column) => grouping.includes(column === 'repo' ? 'project' : column))
    return `('${dimsOf(grouping)}', ${has.join(', ')})`
  })
  const places = key.map((_, index) => index + 1)
  const list = (sql: ISql, texts: readonly unknown[]) => sql.unsafe(texts.join(', '))
  return rollup({
    name,
    key,
    sums: ['facts', ...sums],
    rows: (sql, orgId) => rowsOf(sql, facts(sql, orgId)),
    count: (sql, rows) => sql`
      select
        g.dims, t.grain,
        case when t.grain = 'day' then f.day else date_trunc('month', f.day::timestamp)::date end as bucket,
        ${list(sql, [...grouped, 'count(*) as facts', ...summed])}
      from (select s.* ${rows}) f
      join (values ${list(sql, groupings)}) as g (dims, ${sql.unsafe(`has_${keys.join(', has_')}`)})
        on f.by_agent is null
        or f.by_agent = g.has_agent
      cross join (values ('day'), ('month')) as t (grain)
      group by ${list(sql, places)}`,
    describe: ({ dims, grain, bucket }) => `${name} of a ${grain} (${bucket}) by ${dims}`,
  })
}

const rowsOf = (sql: ISql, facts: Fragment) => sql`from (${facts}) s where true`

/** The counts of facts, for `addDifference`. */
export const countsOf = (sql: ISql, counted: Rollup, facts: Fragment) =>
  counted.countRows(sql, rowsOf(sql, facts))

/** The columns `sums` of facts, which are 0 but for the known ones. */
export const measures = (sql: ISql, sums: readonly string[], texts: Readonly<Record<string, string>>) =>
  sql.unsafe(sums.map((column) => `${texts[column] ?? '0'}::numeric as ${column}`).join(', '))
