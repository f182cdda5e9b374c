import { dateOf, monthOf, spansOf } from '../dates.ts'
import type { Sql } from '../db/client.ts'
import { unitsOf } from '../decimals.ts'
import { bucketsOf, byKey, dollars, periodsOf, type TaggedRow } from './buckets.ts'
import { budgetStatus } from './budget.ts'
import type { CostQuery, CostSummary, CostTrend, CostTrendQuery } from './model.ts'

type Filter = Pick<CostQuery, 'project' | 'date_from' | 'date_to'>

/** Days of the organization's rollup: one project's, or all projects' (''). */
const matchingDays = (sql: Sql, orgId: string, { project = '', date_from, date_to }: Filter) => sql`
  from session_rollups r
  where r.org_id = ${orgId}
    and r.grain = 'day'
    and r.project = ${project}
    ${date_from === undefined ? sql`` : sql`and r.bucket >= ${date_from}`}
    ${date_to === undefined ? sql`` : sql`and r.bucket <= ${date_to}`}`

const kindOf = (row: TaggedRow) => row.kind

/** What the sessions that match cost, by period and project, and how the month stands. */
export async function getCost(sql: Sql, orgId: string, query: CostQuery, now: Date): Promise<CostSummary> {
  const thisMonth = monthOf(dateOf(now))
  const rows = await sql<TaggedRow[]>`
    select 'day' as kind, r.bucket::text as key, r.cost, r.sessions
    ${matchingDays(sql, orgId, query)}
    union all
    select 'project', p.project, sum(p.cost), 0
    from (${projectCosts(sql, orgId, query)}) p
    group by p.project
    union all
    select 'month', r.bucket::text, r.cost, 0
    from session_rollups r
    where r.org_id = ${orgId}
      and r.grain = 'month'
      and r.project = ${query.project ?? ''}
      and r.bucket = ${thisMonth}
    union all
    (
      select 'budget', b.month::text, b.limit_usd, 0
      from budgets b
      where b.org_id = ${orgId}
        and b.month <= ${thisMonth}
      order by b.month desc
      limit 1
    )
    union all
    select 'month_day', r.bucket::text, r.cost, 0
    from session_rollups r
    where r.org_id = ${orgId}
      and r.grain = 'day'
      and r.project = ''
      and r.bucket >= ${thisMonth}
      and r.bucket < (${thisMonth}::date + interval '1 month')`
  const { day = [], project = [], budget = [], month = [], month_day = [] } = Object.groupBy(rows, kindOf)
  const periods = bucketsOf(day, query.group_by)
  const monthDays = month_day.toSorted(byKey).map((row) => ({ date: row.key, cost: unitsOf(row.cost) }))
  const [limit] = budget
  return {
    total_cost: dollars(periods.reduce((sum, period) => sum + period.cost, 0n)),
    current_month: Number(month[0]?.cost ?? 0),
    currency: 'USD',
    by_period: periods.map(({ period, cost }) => ({ period, cost: dollars(cost) })),
    by_project: byCost(project),
    current_budget: limit === undefined ? null : budgetStatus(limit.key, unitsOf(limit.cost), monthDays, now),
  }
}

/** By cost descending, then by name in code point order. */
function byCost(rows: readonly TaggedRow[]): CostSummary['by_project'] {
  return rows
    .map((row) => ({ project: row.key, cost: Number(row.cost) }))
    .sort((a, b) => b.cost - a.cost || (a.project < b.project ? -1 : 1))
}

/** Each project's cost in the range: from its months, and only at the range's ends from its days. */
const projectCosts = (sql: Sql, orgId: string, query: CostQuery) =>
  spansOf(query.date_from, query.date_to)
    .map(
      ({ grain, from, before }) => sql`
        select r.project, r.cost
        from session_rollups r
        where r.org_id = ${orgId}
          and r.grain = ${grain}
          ${query.project === undefined ? sql`and r.project <> ''` : sql`and r.project = ${query.project}`}
          ${from === undefined ? sql`` : sql`and r.bucket >= ${from}`}
          ${before === undefined ? sql`` : sql`and r.bucket < ${before}`}`,
    )
    .reduce((rows, more) => sql`${rows} union all ${more}`)

/** Cost by day, week or month, buckets without sessions included, with the running sum and the limit in force. */
export async function getCostTrend(sql: Sql, orgId: string, query: CostTrendQuery): Promise<CostTrend> {
  const rows = await sql<TaggedRow[]>`
    select 'day' as kind, r.bucket::text as key, r.cost, r.sessions
    ${matchingDays(sql, orgId, query)}
    union all
    select 'budget', b.month::text, b.limit_usd, 0
    from budgets b
    where b.org_id = ${orgId}`
  const { day = [], budget: limits = [] } = Object.groupBy(rows, kindOf)
  const buckets = bucketsOf(day, query.granularity)
  const byPeriod = new Map(buckets.map((bucket) => [bucket.period, bucket]))
  limits.sort(byKey)
  let cumulative = 0n
  const data = periodsOf(query, buckets).map((period) => {
    const bucket = byPeriod.get(period)
    cumulative += bucket?.cost ?? 0n
    const limit = limits.findLast((row) => row.key <= period)
    return {
      period,
      cost: dollars(bucket?.cost ?? 0n),
      sessions: bucket?.sessions ?? 0,
      cumulative_cost: dollars(cumulative),
      budget: limit === undefined ? null : Number(limit.cost),
    }
  })
  return { granularity: query.granularity, data }
}
