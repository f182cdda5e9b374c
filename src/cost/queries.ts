import { addDays, addMonths, dateOf, isPastLastDate, LAST_DATE, mondayOf, monthOf } from '../dates.ts'
import type { Sql } from '../db/client.ts'
import { MONEY_DECIMALS, scaled, unscaled } from '../decimals.ts'
import { validationError } from '../errors.ts'
import { budgetStatus, type DayCost } from './budget.ts'
import type { CostQuery, CostSummary, CostTrend, CostTrendQuery } from './model.ts'

/** Buckets in one trend, empty ones included: 27 years of days. */
const MAX_BUCKETS = 10_000

type Filter = Pick<CostQuery, 'project' | 'date_from' | 'date_to'>

const within = (sql: Sql, { date_from, date_to }: Filter) => sql`
  ${date_from === undefined ? sql`` : sql`and r.bucket >= ${date_from}`}
  ${date_to === undefined ? sql`` : sql`and r.bucket <= ${date_to}`}`

/** Days of the organization's rollup: one project's, or all projects' (''). */
const matchingDays = (sql: Sql, orgId: string, filter: Filter) => sql`
  from session_rollups r
  where r.org_id = ${orgId}
    and r.grain = 'day'
    and r.project = ${filter.project ?? ''}
    ${within(sql, filter)}`

interface SummaryRow {
  total_cost: string
  current_month: string
  by_period: CostSummary['by_period']
  by_project: CostSummary['by_project']
  budget: { month: string; limit: number } | null
  month_days: { date: string; cost: number }[]
}

/** What the sessions that match cost, by period and project, and how the month stands; one statement, one instant. */
export async function getCost(sql: Sql, orgId: string, query: CostQuery, now: Date): Promise<CostSummary> {
  const month = monthOf(dateOf(now))
  const [row] = await sql<[SummaryRow]>`
    with days as materialized (
      select r.bucket, r.cost
      ${matchingDays(sql, orgId, query)}
    ),
    periods as (
      select date_trunc(${query.group_by}, d.bucket::timestamp)::date as period, sum(d.cost) as cost
      from days d
      group by 1
    ),
    projects as (
      select p.project, sum(p.cost) as cost
      from (${projectCosts(sql, orgId, query)}) p
      group by p.project
    )
    select
      (select coalesce(sum(d.cost), 0) from days d) as total_cost,
      (
        select coalesce(sum(r.cost), 0)
        from session_rollups r
        where r.org_id = ${orgId} and r.grain = 'month' and r.project = ${query.project ?? ''} and r.bucket = ${month}
      ) as current_month,
      (
        select coalesce(json_agg(json_build_object('period', p.period, 'cost', p.cost) order by p.period), '[]')
        from periods p
      ) as by_period,
      (
        select coalesce(
          json_agg(json_build_object('project', p.project, 'cost', p.cost) order by p.cost desc, p.project),
          '[]'
        )
        from projects p
      ) as by_project,
      (
        select json_build_object('month', b.month, 'limit', b.limit_usd)
        from budgets b
        where b.org_id = ${orgId} and b.month <= ${month}
        order by b.month desc
        limit 1
      ) as budget,
      (
        select coalesce(json_agg(json_build_object('date', r.bucket, 'cost', r.cost) order by r.bucket), '[]')
        from session_rollups r
        where r.org_id = ${orgId}
          and r.grain = 'day'
          and r.project = ''
          and r.bucket >= ${month}
          and r.bucket < ${addMonths(month, 1)}
      ) as month_days`
  const days: DayCost[] = row.month_days.map((day) => ({ date: day.date, cost: micros(day.cost) }))
  return {
    total_cost: Number(row.total_cost),
    current_month: Number(row.current_month),
    currency: 'USD',
    by_period: row.by_period,
    by_project: row.by_project,
    current_budget:
      row.budget === null ? null : budgetStatus(row.budget.month, micros(row.budget.limit), days, now),
  }
}

const micros = (dollars: number): bigint => scaled(dollars, MONEY_DECIMALS)

/** Each project's cost in the range: from its months, and only at the range's ends from its days. */
function projectCosts(sql: Sql, orgId: string, query: CostQuery) {
  const rows = (grain: 'day' | 'month', from: string | undefined, before: string | undefined) => sql`
    select r.project, r.cost
    from session_rollups r
    where r.org_id = ${orgId}
      and r.grain = ${grain}
      ${query.project === undefined ? sql`and r.project <> ''` : sql`and r.project = ${query.project}`}
      ${from === undefined ? sql`` : sql`and r.bucket >= ${from}`}
      ${before === undefined ? sql`` : sql`and r.bucket < ${before}`}`
  const from = query.date_from
  // no session is later than the last date there is, and no date comes after it
  const before =
    query.date_to === undefined || query.date_to === LAST_DATE ? undefined : addDays(query.date_to, 1)
  const firstMonth = from === undefined || from === monthOf(from) ? from : addMonths(from, 1)
  const endMonth = before === undefined ? undefined : monthOf(before)
  if (firstMonth !== undefined && endMonth !== undefined && firstMonth >= endMonth)
    return rows('day', from, before)
  return sql`
    ${rows('month', firstMonth, endMonth)}
    ${from === firstMonth ? sql`` : sql`union all ${rows('day', from, firstMonth)}`}
    ${before === endMonth ? sql`` : sql`union all ${rows('day', endMonth, before)}`}`
}

interface TrendRow {
  periods: { period: string; cost: number; sessions: number }[]
  budgets: { month: string; limit: number }[]
}

/** Cost by day, week or month, buckets without sessions included, with the running sum and the limit in force. */
export async function getCostTrend(sql: Sql, orgId: string, query: CostTrendQuery): Promise<CostTrend> {
  const granularity = query.granularity
  const [row] = await sql<[TrendRow]>`
    with periods as (
      select date_trunc(${granularity}, r.bucket::timestamp)::date as period, sum(r.cost) as cost, sum(r.sessions) as sessions
      ${matchingDays(sql, orgId, query)}
      group by 1
    )
    select
      (
        select coalesce(json_agg(json_build_object('period', p.period, 'cost', p.cost, 'sessions', p.sessions) order by p.period), '[]')
        from periods p
      ) as periods,
      (
        select coalesce(json_agg(json_build_object('month', b.month, 'limit', b.limit_usd) order by b.month), '[]')
        from budgets b
        where b.org_id = ${orgId}
      ) as budgets`
  const known = new Map(row.periods.map((bucket) => [bucket.period, bucket]))
  let cumulative = 0n
  const data = bucketsOf(granularity, query, row.periods).map((period) => {
    const bucket = known.get(period)
    cumulative += micros(bucket?.cost ?? 0)
    return {
      period,
      cost: bucket?.cost ?? 0,
      sessions: bucket?.sessions ?? 0,
      cumulative_cost: unscaled(cumulative, MONEY_DECIMALS),
      budget: row.budgets.findLast((budget) => budget.month <= period)?.limit ?? null,
    }
  })
  return { granularity, data }
}

const FIRST_DAY = { day: (date: string) => date, week: mondayOf, month: monthOf }
const NEXT = {
  day: (date: string) => addDays(date, 1),
  week: (date: string) => addDays(date, 7),
  month: (date: string) => addMonths(date, 1),
}

/** First days of all buckets from date_from (else the first with sessions) to date_to (else the last with sessions). */
function bucketsOf(
  granularity: keyof typeof NEXT,
  query: CostTrendQuery,
  known: readonly { period: string }[],
): string[] {
  const first = query.date_from ?? known[0]?.period ?? query.date_to
  const last = query.date_to ?? known.at(-1)?.period ?? query.date_from
  if (first === undefined || last === undefined) return []
  const buckets: string[] = []
  for (
    let bucket = FIRST_DAY[granularity](first);
    bucket <= last && !isPastLastDate(bucket);
    bucket = NEXT[granularity](bucket)
  ) {
    if (buckets.length === MAX_BUCKETS) {
      throw validationError({
        field: 'date_to',
        message: `the range has more than ${MAX_BUCKETS} ${granularity}s: ask for a shorter one or a coarser granularity`,
      })
    }
    buckets.push(bucket)
  }
  return buckets
}
