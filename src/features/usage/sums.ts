// Parts of statements that read tables of sums: which rows cover a range, and the keys that they are grouped by.

import { daysBefore, daysBetween, daysOf, FIRST_DATE, type Span, spansOf } from '../../base/dates.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { summedProject } from '../../database/rollups.ts'
import { COSTS, type RangeFilters, rangeOfDays, type SumKey, USED } from './model.ts'

/** The length of a bucket. */
export type Length = 'day' | 'week' | 'month' | 'year'

/** The period of a row of sums. */
type Grain = Span['grain'] | 'all'
type Groupings = Partial<Record<Grain, readonly (readonly string[])[]>>

/** Pull requests and commits; a repository is a key beside its project. */
export const FACT_GROUPINGS = [
  ...[[], ['agent'], ['project'], ['member'], ['project', 'member'], ['member', 'agent']],
  ['project', 'member', 'agent'],
]

/**
 * Says which sums answer which question. A question names columns: what its figures are by, and what it filters by. The first grouping
 * of a grain that has all of them answers it: those with the fewest rows come first. Where none has, sessions are read.
 */
export const SUMS = {
  // cost, tokens, sessions, turns: `usageRows`, and by ticket
  usage_rollups: {
    month: [
      ...[[], ['model'], ['agent', 'model'], ['project'], ['member'], ['project', 'agent', 'model']],
      ...[['member', 'agent', 'model'], ['project', 'member'], ['branch'], ['project', 'branch']],
      ['member', 'branch'],
    ],
    day: [[], ['model'], ['agent', 'model'], ['project'], ['member'], ['branch']],
    all: [['member', 'branch']],
  },
  ticket_rollups: { month: [['ticket'], ['project', 'ticket']], day: [['ticket']], all: [['ticket']] },
  // the same by what agents write on calls: `usageRows` with `facet`; session_facets has no row for what is usual
  facet_rollups: { month: [['agent']], day: [['agent']] },
  session_facets: { day: [['project', 'member', 'agent', 'model', 'branch']] },
  // the same of all time, a row for each branch: `branchRows`
  branch_rollups: { all: [['project', 'branch']] },
  // cost, tokens, calls by model and price: `priceRows`. A branch has as many days as sessions, almost
  price_rollups: {
    month: [['agent', 'vendor'], ['project'], ['member'], ['branch']],
    day: [['agent', 'vendor'], ['project'], ['member']],
  },
  // sessions, their quality and security: `sessionSums`
  session_rollups: { month: [['project']], day: [['project']] },
  // pull requests and what they cost; agents' lines: `sourcesBy`
  outcome_rollups: { month: FACT_GROUPINGS, day: FACT_GROUPINGS },
  commit_rollups: { month: FACT_GROUPINGS, day: FACT_GROUPINGS },
} satisfies Record<string, Groupings>

/** The sums of a grain, in one of the tables, that have the columns: rows with these `dims`. */
export function sumsWith<Table extends keyof typeof SUMS>(
  tables: readonly Table[],
  grain: Grain,
  needed: readonly string[],
) {
  for (const table of tables) {
    const groupings: Groupings = SUMS[table]
    const grouping = groupings[grain]?.find((columns) => needed.every((column) => columns.includes(column)))
    if (grouping !== undefined) return { table, dims: dimsOf(grouping) }
  }
  return undefined
}

/** The value of `dims` in rows of a grouping. */
export const dimsOf = (columns: readonly string[]): string => columns.join('_') || 'all'

/** A span, or the sums of all time. */
export type SpanOrAll = Omit<Span, 'grain'> & { grain: Grain }

const unionOf = (sql: ISql, rows: readonly Fragment[]): Fragment =>
  rows.reduce((all, more) => sql`${all} union all ${more}`)

/** Rows of some spans, with those of others taken from them. */
export const signedRows = <Each extends SpanOrAll>(
  sql: ISql,
  { added, subtracted }: { added: readonly Each[]; subtracted: readonly Each[] },
  rowsOf: (span: Each, sign: '' | '-') => Fragment,
): Fragment =>
  unionOf(sql, [...added.map((span) => rowsOf(span, '')), ...subtracted.map((span) => rowsOf(span, '-'))])

/** Rows `r` of `rows`, `select … from … r where …`, of these spans. */
export const inSpans = (sql: ISql, spans: readonly SpanOrAll[], rows: Fragment): Fragment =>
  unionOf(
    sql,
    spans.map(
      ({ grain, from, before }) => sql`
        ${rows}
          -- not a parameter: the generic plan would expect as many rows of months as of days
          and r.grain = ${sql.unsafe(`'${grain}'`)}
          ${from === undefined ? sql`` : sql`and r.bucket >= ${from}`}
          ${before === undefined ? sql`` : sql`and r.bucket < ${before}`}`,
    ),
  )

/** Rows `r` of session_rollups of these spans, of the projects that `ofProject` says. */
export function projectSums(sql: ISql, orgId: string, spans: readonly Span[], ofProject: Fragment) {
  const rows = sql`
    select
      r.project, r.grain, r.bucket, r.sessions, r.quality_sum, r.quality_min, r.quality_max, r.security_sum,
      r.security_min, r.security_max
    from session_rollups r
    where r.org_id = ${orgId}
      and r.project ${ofProject}`
  return inSpans(sql, spans, rows)
}

/**
 * Rows `r` of session_rollups that cover a range, for buckets of this length: days, or whole months with days at the range's
 * ends. Of one project, '' for what has none, or of all together.
 */
export const sessionSums = (
  sql: ISql,
  orgId: string,
  { project, date_from, date_to }: Partial<Record<keyof RangeFilters, string | undefined>>,
  length: Length,
): Fragment => {
  const spans =
    length === 'day' || length === 'week' ? [daysOf(date_from, date_to)] : spansOf(date_from, date_to)
  return projectSums(sql, orgId, spans, sql`= ${summedProject(project)}`)
}

/** `from branch_rollups r where …`: a row for each branch of the project, or of all. */
export const branchRows = (sql: ISql, orgId: string, { project }: RangeFilters) => sql`
  from branch_rollups r
  where r.org_id = ${orgId}
    and r.project = ${summedProject(project)}`

/** The equally long range before. */
export function rangeBefore({ date_from = FIRST_DATE, date_to = FIRST_DATE }: RangeFilters) {
  const days = daysBetween(date_from, date_to) + 1
  return { date_from: daysBefore(date_from, days), date_to: daysBefore(date_from, 1) }
}

/** The range that a query is compared with. */
export const comparedRange = ({ compare, ...range }: RangeFilters & { compare?: string }) =>
  compare === undefined || compare === 'previous' ? rangeBefore(range) : rangeOfDays(compare)

/**
 * The first day of the bucket that a day, or the first day of a month, lies in; weeks begin on Monday, as 0001-01-01 was. For a
 * week date_trunc takes several times as long.
 */
export function bucketOf(sql: ISql, length: Length, day: Fragment): Fragment {
  if (length === 'day') return day
  if (length === 'week') return sql`(${day} - (${day} - '0001-01-01'::date) % 7)`
  return sql`date_trunc(${sql.unsafe(`'${length}'`)}, ${day}::timestamp)::date`
}

/** The key of what is summed without being named. */
export const OTHERS = '(others)'

/** The table that `columnOfKey` looks teams up in: one value. Joined, each row was compared with each member. */
export const teamTable = (sql: ISql, orgId: string): Fragment => sql`
  teams as materialized (
    select jsonb_object_agg(m.id, m.team) as of_member
    from members m
    where m.org_id = ${orgId}
      and m.team is not null
  )`

/** Selects columns of a row, or sums of them, under their own names. */
export const selected = (
  sql: ISql,
  columns: readonly string[],
  columnText: (column: string) => string,
): Fragment => sql.unsafe(columns.map((column) => `${columnText(column)} as ${column}`).join(', '))

/** An equal part of a sum of columns of `s` for one of its tickets `t`, rounded down. */
const shareOf = (columns: readonly string[]): string =>
  columns.length === 0 ? '0' : `(${columns.map((column) => `s.${column}`).join(' + ')}) / t.parts`

/**
 * The divided columns of a row `s` left joined with its tickets `t`: each ticket has an equal part, rounded down to a token or, of
 * the whole cost, to a micro-dollar; the last one has the rest.
 */
export const dividedSums = (sql: ISql): Fragment =>
  sql.unsafe(
    USED.map((column) => {
      const costs: readonly string[] = COSTS
      const at = costs.indexOf(column)
      const each =
        at === -1 ? shareOf([column]) : `${shareOf(costs.slice(0, at + 1))} - ${shareOf(costs.slice(0, at))}`
      return `
        case
          when t.parts is null then s.${column}
          when t.nth < t.parts then ${each}
          else s.${column} - (t.parts - 1) * (${each})
        end as ${column}`
    }).join(', '),
  )

/** A key of a row of `table` as text, null for what has none; only sums `r` have one of time. */
export function columnOfKey(sql: ISql, key: SumKey, table: 'r' | 'f' | 'u' = 'r'): Fragment {
  switch (key) {
    case 'day':
    case 'week':
    case 'month':
      return sql`${bucketOf(sql, key, sql`r.bucket`)}::text`
    case 'team':
      return sql`(select t.of_member from teams t) ->> ${sql.unsafe(`${table}.member`)}`
    default:
      return sql`nullif(${sql.unsafe(`${table}.${key}`)}, '')`
  }
}
