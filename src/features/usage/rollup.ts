// Declares the sums of usage: by the keys of breakdowns, branch, price, ticket and facet.

import { FACETS } from '../../analysis/usage/model.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { countedProject, describeSummed, type Rollup, rollup, tableRows } from '../../database/rollups.ts'
import { EXPLAINED, USED } from './model.ts'
import { dividedSums, SUMS, selected } from './sums.ts'
import { TRAIT_ROLLUP, WORK_ROLLUP } from './work-rollup.ts'

/** The sums of what is divided. */
const usedSums = (sql: ISql, alias: 's' | 'b'): Fragment =>
  selected(sql, USED, (column) => `sum_bigint(${alias}.${column})`)

interface Grouped extends Pick<Rollup, 'sums' | 'rows' | 'describe'> {
  name: 'usage_rollups' | 'ticket_rollups' | 'price_rollups'
  /** All columns of the groupings, '' in rows that are not by them. */
  columns: readonly string[]
  /** Columns that every row is by. */
  always?: readonly string[]
  /** Selects of rows `s` what is summed, and their columns. */
  read: (sql: ISql) => Fragment
  summed: (sql: ISql) => Fragment
}

/** Declares sums of rows by each of the table's groupings. */
function grouped({ name, columns, always = [], read, summed, ...declared }: Grouped): Rollup {
  const sets = Object.entries(SUMS[name]).flatMap(([grain, groupings]) =>
    groupings.map((grouping) => {
      const names = [...(grain === 'all' ? [] : [grain]), ...grouping, ...always]
      return `(${names.map((column) => `s.${column}`).join(', ')})`
    }),
  )
  const list = (columnText: (column: string) => string) => columns.map(columnText).join(', ')
  const dims = list((column) => `case grouping(s.${column}) when 0 then '${column}' end`)
  const keys = [
    list((column) => `coalesce(s.${column}, '') as ${column}`),
    ...always.map((column) => `s.${column}`),
  ]
  return rollup({
    ...declared,
    ...{ name, key: ['dims', 'grain', 'bucket', ...columns, ...always], prefix: ['dims', 'grain', 'bucket'] },
    count: (sql, rows) => sql`
      with s as materialized (
        select s.day, date_trunc('month', s.day::timestamp)::date as month, ${read(sql)}
        ${rows}
      )
      select
        ${sql.unsafe(`coalesce(nullif(concat_ws('_', ${dims}), ''), 'all')`)} as dims,
        case when grouping(s.day) = 0 then 'day' when grouping(s.month) = 0 then 'month' else 'all' end as grain,
        coalesce(s.day, s.month, date '1970-01-01') as bucket, ${sql.unsafe(keys.join(', '))}, ${summed(sql)}
      from s
      group by grouping sets (${sql.unsafe(sets.join(', '))})`,
  })
}

/**
 * The sums of breakdowns, each row of the columns that `dims` names. Rows that are not of models count a session by its
 * main part only. A session counts on its first day, what it used on the days on which that happened.
 */
export const USAGE_ROLLUP = grouped({
  name: 'usage_rollups',
  columns: ['project', 'member', 'agent', 'model', 'branch'],
  sums: [
    ...['sessions', 'main_sessions', 'turns', 'main_turns', 'begun_cost', ...USED],
    ...['transcript_tokens', 'telemetry_tokens', 'captured_tokens'],
  ],
  rows: tableRows('session_usage'),
  read: (sql) => sql`
    s.project, s.member, s.agent, s.model, s.branch, s.is_main, s.sessions, s.day_turns, s.main_turns,
    case when s.is_main then (s.session_cost * 1000000)::bigint else 0 end as begun_cost,
    s.transcript_tokens, s.telemetry_tokens, ${selected(sql, USED, (column) => `s.${column}`)}`,
  summed: (sql) => sql`
    case grouping(s.model) when 0 then sum(s.sessions) else count(*) filter (where s.is_main) end as sessions,
    count(*) filter (where s.is_main) as main_sessions,
    case grouping(s.model) when 0 then sum(s.day_turns) else sum(s.main_turns) end as turns,
    sum(s.main_turns) as main_turns, sum_bigint(s.begun_cost) as begun_cost,
    sum_bigint(s.transcript_tokens) as transcript_tokens, sum_bigint(s.telemetry_tokens) as telemetry_tokens,
    sum_bigint(least(s.transcript_tokens, s.telemetry_tokens)) as captured_tokens, ${usedSums(sql, 's')}`,
  describe: ({ dims, grain, bucket }) => `usage of a ${grain} (${bucket}) by ${dims}`,
})

/** The sums of all time by branch: a row in the session's project (or WITHOUT_PROJECT), and one in all, whose project is ''. */
export const BRANCH_ROLLUP = rollup({
  name: 'branch_rollups',
  key: ['project', 'branch'],
  sums: ['sessions', 'turns', ...USED],
  rows: USAGE_ROLLUP.rows,
  count: (sql, rows) => sql`
    with branches as materialized (
      select
        s.project, s.branch, count(*) filter (where s.is_main) as sessions, sum(s.main_turns) as turns,
        ${usedSums(sql, 's')}
      ${rows}
      group by s.project, s.branch
    )
    select
      p.project, b.branch, sum_bigint(b.sessions) as sessions, sum_bigint(b.turns) as turns, ${usedSums(sql, 'b')}
    from branches b
    cross join lateral (values (${countedProject(sql, 'b.project')}), ('')) as p (project)
    group by p.project, b.branch`,
  describe: ({ branch, project }) =>
    `usage of the branch ${branch || '(none)'} in ${describeSummed(project)}`,
})

/** The sums by model and what its price was in, of sessions with calls and of others: a change of cost is explained from them. */
export const PRICE_ROLLUP = grouped({
  name: 'price_rollups',
  columns: ['project', 'member', 'agent', 'vendor', 'branch'],
  always: ['model', 'price', 'has_calls'],
  sums: EXPLAINED,
  // a model without calls has nothing
  rows: (sql, orgId, table) => sql`
    ${USAGE_ROLLUP.rows(sql, orgId, table)}
      and ${sql.unsafe(EXPLAINED.map((column) => `s.${column}`).join(' + '))} > 0`,
  read: (sql) => sql`
    s.project, s.member, s.agent, s.vendor, s.branch, s.model, s.price, s.has_calls,
    ${selected(sql, EXPLAINED, (column) => `s.${column}`)}`,
  summed: (sql) => selected(sql, EXPLAINED, (column) => `sum_bigint(s.${column})`),
  describe: ({ dims, grain, bucket, model }) =>
    `usage of a ${grain} (${bucket}) at prices of ${model} by ${dims}`,
})

/**
 * The sums by ticket, '' for what has none. `sessions` and `turns` count a session under each of its tickets, `main_sessions` and
 * `main_turns` under the first.
 */
export const TICKET_ROLLUP = grouped({
  name: 'ticket_rollups',
  columns: ['project', 'ticket'],
  sums: ['sessions', 'main_sessions', 'turns', 'main_turns', ...USED],
  rows: (sql, orgId, table = sql`session_usage`) => sql`
    from ${table} s
    left join session_tickets t
      on t.org_id = s.org_id
      and t.session_id = s.session_id
    where s.org_id = ${orgId}`,
  read: (sql) => sql`
    s.project, coalesce(t.ticket, '') as ticket, s.is_main, coalesce(t.nth, 1) = 1 as is_first, s.main_turns,
    ${dividedSums(sql)}`,
  summed: (sql) => sql`
    count(*) filter (where s.is_main) as sessions,
    count(*) filter (where s.is_main and s.is_first) as main_sessions,
    sum(s.main_turns) as turns, coalesce(sum(s.main_turns) filter (where s.is_first), 0) as main_turns,
    ${usedSums(sql, 's')}`,
  describe: ({ dims, grain, bucket, ticket }) =>
    `usage of the ticket ${ticket || '(none)'} (${grain} ${bucket}) by ${dims}`,
})

/** Whether a row `s` of session_facets counts its session under its value of a facet, or with `FACETS.length` at all. */
const firstBit = (bit: number) => `(s.firsts >> ${bit}) & 1`

/** The sums of session_facets by day or month and agent, for each value of each facet. */
export const FACET_ROLLUP = rollup({
  name: 'facet_rollups',
  key: ['facet', 'grain', 'bucket', 'agent', 'value'],
  sums: ['sessions', 'main_sessions', 'turns', ...USED],
  rows: tableRows('session_facets'),
  // most sessions of a batch have the same values
  count: (sql, rows) => sql`
    with b as materialized (
      select
        s.day, s.agent, ${sql.unsafe(FACETS.map((facet) => `s.${facet}`).join(', '))},
        ${sql.unsafe(FACETS.map((facet, bit) => `sum(${firstBit(bit)}) as of_${facet}`).join(', '))},
        sum(${sql.unsafe(firstBit(FACETS.length))}) as main_sessions, sum(s.main_turns) as turns, ${usedSums(sql, 's')}
      ${rows}
      group by s.day, s.agent, ${sql.unsafe(FACETS.map((facet) => `s.${facet}`).join(', '))}
    )
    select
      v.facet, t.grain,
      case when t.grain = 'day' then b.day else date_trunc('month', b.day::timestamp)::date end as bucket,
      b.agent, v.value, sum_bigint(v.sessions) as sessions, sum_bigint(b.main_sessions) as main_sessions,
      sum_bigint(b.turns) as turns, ${usedSums(sql, 'b')}
    from b
    cross join lateral (
      values ${sql.unsafe(FACETS.map((facet) => `('${facet}', b.${facet}, b.of_${facet})`).join(', '))}
    ) as v (facet, value, sessions)
    cross join (values ('day'), ('month')) as t (grain)
    group by 1, 2, 3, 4, 5`,
  describe: ({ facet, value, grain, bucket }) =>
    `usage of a ${grain} (${bucket}) with ${facet} ${value || '(none)'}`,
})

export const FACET_ROLLUPS = [FACET_ROLLUP, TRAIT_ROLLUP]
/** The sums of session_usage, and those. */
export const USAGE_ROLLUPS = [
  ...[USAGE_ROLLUP, PRICE_ROLLUP, BRANCH_ROLLUP, TICKET_ROLLUP, WORK_ROLLUP],
  ...FACET_ROLLUPS,
]
