import { dateOf, daysOf, monthOf, type Span, shortSpansOf, spansOf } from '../dates.ts'
import type { Fragment, Sql } from '../db/client.ts'
import { unitsOf } from '../decimals.ts'
import { validationError } from '../errors.ts'
import { JsonText } from '../json-text.ts'
import { budgetStatus } from './budget.ts'
import type { CostQuery, CostTrendQuery } from './model.ts'

type Filter = Pick<CostQuery, 'project' | 'date_from' | 'date_to'>

/** Buckets in one trend, empty ones included: 27 years of days. */
const MAX_BUCKETS = 10_000

interface CostRow {
  total: string
  /** Tokens. */
  unpriced: string
  /** The JSON of the items of `by_period` and `by_project`; null for none. */
  periods: string | null
  projects: string | null
  /** The month of the budget record in force, and its limit; null without one. */
  since: string | null
  limit: string | null
  current_month: string
  /** Of all projects: the days of this month with sessions, ascending, and what each cost. */
  dates: string[] | null
  costs: string[] | null
}

/** What the sessions that match cost, by period and project, and how the month stands, as of one instant. */
export async function getCost(sql: Sql, orgId: string, query: CostQuery, now: Date): Promise<JsonText> {
  const thisMonth = monthOf(dateOf(now))
  const [row] = await sql<CostRow[]>`
    with periods as materialized (
      select ${firstDayOf(sql, query.group_by)} as period, sum(r.cost) as cost, sum(r.unpriced_tokens) as unpriced
      from (${matchingRows(sql, orgId, query, query.group_by)}) r
      group by 1
    )
    select
      (select coalesce(trim_scale(sum(p.cost)), 0) from periods p) as total,
      (select coalesce(sum(p.unpriced), 0) from periods p) as unpriced,
      (
        select string_agg('{"period":"' || p.period || '","cost":' || trim_scale(p.cost) || '}', ',' order by p.period)
        from periods p
      ) as periods,
      (
        select string_agg(
          '{"project":' || to_json(p.project) || ',"cost":' || trim_scale(p.cost) || '}',
          ',' order by p.cost desc, p.project collate "C"
        )
        from (
          select r.project, sum(r.cost) as cost
          from (${projectCosts(sql, orgId, query)}) r
          group by r.project
          having sum(r.sessions) > 0
        ) p
      ) as projects,
      (
        select coalesce(trim_scale(sum(r.cost)), 0)
        from session_rollups r
        where r.org_id = ${orgId}
          and r.grain = 'month'
          and r.project = ${query.project ?? ''}
          and r.bucket = ${thisMonth}
      ) as current_month,
      b.month::text as since, b.limit_usd as limit, m.dates, m.costs
    from (
      select array_agg(r.bucket::text order by r.bucket) as dates, array_agg(r.cost::text order by r.bucket) as costs
      from session_rollups r
      where r.org_id = ${orgId}
        and r.grain = 'day'
        and r.project = ''
        and r.bucket >= ${thisMonth}
        and r.bucket < (${thisMonth}::date + interval '1 month')
    ) m
    left join (
      select b.month, b.limit_usd
      from budgets b
      where b.org_id = ${orgId}
        and b.month <= ${thisMonth}
      order by b.month desc
      limit 1
    ) b on true`
  if (row === undefined) throw new Error('the statement gave no row')
  const { total, unpriced, periods, projects, current_month, since, limit, dates, costs } = row
  const days = (dates ?? []).map((date, index) => ({ date, cost: unitsOf(costs?.[index] ?? '0') }))
  const budget = since === null || limit === null ? null : budgetStatus(since, unitsOf(limit), days, now)
  return new JsonText(
    `{"total_cost":${total},"unpriced_tokens":${unpriced},"current_month":${current_month},"currency":"USD",` +
      `"by_period":[${periods ?? ''}],"by_project":[${projects ?? ''}],"current_budget":${JSON.stringify(budget)}}`,
  )
}

/**
 * The first day of the bucket of `granularity` that the rollup row `r` lies in; weeks begin on Monday, as 0001-01-01 was.
 * For a week date_trunc takes several times as long.
 */
function firstDayOf(sql: Sql, granularity: CostQuery['group_by']): Fragment {
  if (granularity === 'day') return sql`r.bucket`
  if (granularity === 'week') return sql`r.bucket - (r.bucket - '0001-01-01'::date) % 7`
  return sql`date_trunc('month', r.bucket::timestamp)::date`
}

/** The rollup's rows in the spans, of the project that `ofProject` says. */
const rowsOf = (sql: Sql, orgId: string, spans: readonly Span[], ofProject: Fragment): Fragment =>
  spans
    .map(
      ({ grain, from, before }): Fragment => sql`
        select r.project, r.bucket, r.sessions, r.cost, r.unpriced_tokens
        from session_rollups r
        where r.org_id = ${orgId}
          and r.grain = ${grain}
          and r.project ${ofProject}
          ${from === undefined ? sql`` : sql`and r.bucket >= ${from}`}
          ${before === undefined ? sql`` : sql`and r.bucket < ${before}`}`,
    )
    .reduce((rows, more) => sql`${rows} union all ${more}`)

/** Those of the range, of one project or of all together (''): days, but whole months where the buckets are months. */
function matchingRows(
  sql: Sql,
  orgId: string,
  { project = '', ...range }: Filter,
  by: CostQuery['group_by'],
) {
  const { date_from, date_to } = range
  const spans = by === 'month' ? spansOf(date_from, date_to) : [daysOf(date_from, date_to)]
  return rowsOf(sql, orgId, spans, sql`= ${project}`)
}

/**
 * Each project's cost in the range, with a sign: from its months, and only at the range's ends from its days. Fewer days
 * are read when those of a month that are not in the range are subtracted.
 */
const projectCosts = (sql: Sql, orgId: string, { project, date_from, date_to }: Filter) => {
  const ofProject = project === undefined ? sql`<> ''` : sql`= ${project}`
  const { added, subtracted } = shortSpansOf(date_from, date_to)
  const rows = sql`select r.project, r.sessions, r.cost from (${rowsOf(sql, orgId, added, ofProject)}) r`
  if (subtracted.length === 0) return rows
  return sql`
    ${rows}
    union all
    select r.project, - r.sessions, - r.cost from (${rowsOf(sql, orgId, subtracted, ofProject)}) r`
}

/** Steps of a bucket, as PostgreSQL's intervals. */
const STEP = { day: '1 day', week: '7 days', month: '1 month' } as const

/**
 * Cost by day, week or month, buckets without sessions included, with the running sum and the limit in force. The buckets
 * reach from date_from (else the first with sessions) to date_to (else the last with sessions). Throws VALIDATION_ERROR
 * when they are more than 10,000.
 */
export async function getCostTrend(sql: Sql, orgId: string, query: CostTrendQuery): Promise<JsonText> {
  const { granularity, date_from = null, date_to = null } = query
  const [row] = await sql<
    { first: string | null; last: string | null; buckets: string; data: string | null }[]
  >`
    with known as materialized (
      ${
        // a day is one row: grouping them took a fifth of the statement
        granularity === 'day'
          ? sql`select r.bucket as period, r.cost, r.sessions`
          : sql`select ${firstDayOf(sql, granularity)} as period, sum(r.cost) as cost, sum(r.sessions) as sessions`
      }
      from (${matchingRows(sql, orgId, query, granularity)}) r
      ${granularity === 'day' ? sql`` : sql`group by 1`}
    ),
    ends as materialized (
      select e.first, e.last,
        case ${granularity}
          when 'day' then e.last - e.first
          when 'week' then (e.last - date_trunc('week', e.first::timestamp)::date) / 7
          else (extract(year from e.last) * 12 + extract(month from e.last)
            - extract(year from e.first) * 12 - extract(month from e.first))::integer
        end + 1 as buckets
      from (
        select
          coalesce(${date_from}::date, min(k.period), ${date_to}::date) as first,
          coalesce(${date_to}::date, max(k.period), ${date_from}::date) as last
        from known k
      ) e
    ),
    series as (
      select g.period::date as period
      from ends e
      cross join generate_series(
        date_trunc(${granularity}, e.first::timestamp), e.last::timestamp, ${STEP[granularity]}::interval
      ) as g (period)
      where e.buckets <= ${MAX_BUCKETS}
    ),
    limits as materialized (
      select b.month, trim_scale(b.limit_usd)::text as budget, lead(b.month, 1, 'infinity') over (order by b.month) as until
      from budgets b
      where b.org_id = ${orgId}
    ),
    points as (
      select
        s.period, k.cost, k.sessions, l.budget,
        sum(k.cost) over (order by s.period rows unbounded preceding) as cumulative
      from series s
      left join known k on k.period = s.period
      left join limits l on s.period >= l.month and s.period < l.until
    )
    select
      e.first::text as first, e.last::text as last, e.buckets,
      (
        select string_agg(
          '{"period":"' || p.period || '","cost":' || coalesce(trim_scale(p.cost), 0)
            || ',"sessions":' || coalesce(p.sessions, 0)
            || ',"cumulative_cost":' || coalesce(trim_scale(p.cumulative), 0)
            || ',"budget":' || coalesce(p.budget, 'null') || '}',
          ',' order by p.period
        )
        from points p
      ) as data
    from ends e`
  if (row === undefined) throw new Error('the statement gave no row')
  if (Number(row.buckets) > MAX_BUCKETS) {
    throw validationError({
      field: date_to === null ? 'date_from' : 'date_to',
      message: `from ${row.first} to ${row.last} are more than ${MAX_BUCKETS} ${granularity}s: give date_from and date_to, or a coarser granularity`,
    })
  }
  return new JsonText(`{"granularity":"${granularity}","data":[${row.data ?? ''}]}`)
}
