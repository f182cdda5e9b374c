import { addDays, addMonths, monthOf, type Span } from '../../base/dates.ts'
import { dollarsOf, MONEY_DECIMALS, unitsOf, unscaled } from '../../base/decimals.ts'
import { validationError } from '../../base/errors.ts'
import { JsonText } from '../../base/json-text.ts'
import type { Sql } from '../../database/client.ts'
import { ALERT_THRESHOLD_PERCENT, forecastOf, type Spent, usedOf } from '../budgets/forecast.ts'
import { type BudgetScope, budgetIdOf, budgetInForce } from '../budgets/scope-queries.ts'
import { costRows, usageRows } from '../usage/sources.ts'
import { bucketOf, comparedRange } from '../usage/sums.ts'
import type { Budget, CostQuery, CostTrendQuery, TrendGranularity } from './model.ts'
import { COARSER, countBuckets, type Limit, trendItems } from './trend.ts'

/**
 * The budget of the month of `today`. `since`: the month of the budget record in force; `limit` in micro-dollars; `exceededOn`:
 * the day on which the month's cost exceeded it, null if it did not.
 */
function budgetStatus(
  scope: BudgetScope,
  since: string,
  limit: bigint,
  { exceededOn, ...spent }: Spent & { exceededOn: string | null },
  today: string,
): Budget {
  const start = monthOf(today)
  const cost = spent.before + spent.today
  const forecast = forecastOf(spent, today)
  return {
    id: budgetIdOf(scope, since),
    scope: scope.scope === 'project' ? 'project' : 'organization',
    period: 'monthly',
    period_start: start,
    period_end: addDays(addMonths(start, 1), -1),
    remaining: cost > limit ? 0 : unscaled(limit - cost, MONEY_DECIMALS),
    ...usedOf(limit, cost),
    alert_threshold: ALERT_THRESHOLD_PERCENT,
    projected_cost: forecast.cost,
    projected_exceed_date: exceededOn ?? forecast.exceedsOn(limit),
    currency: 'USD',
  }
}

/** Buckets in one trend, empty ones included: 27 years of days. */
const MAX_BUCKETS = 10_000

interface CostRow {
  /** Micro-dollars, as all of these. */
  total: string
  /** Tokens. */
  unpriced: string
  /** Cost and tokens of the range that it is compared with, as an array of PostgreSQL. */
  previous: string | null
  /** Arrays of PostgreSQL with the items of `by_period`; null for none. */
  periods: string | null
  period_costs: string | null
  /** JSON with the names of `by_project`, and an array with its costs; null for none. */
  projects: string | null
  project_costs: string | null
  current_month: string
  /** The cost of the budget’s scope this month, and today: micro-dollars. */
  month_cost: string
  today_cost: string
  /** The scope of the budget, the month of its record in force, and its limit; null without one. */
  scope: BudgetScope['scope'] | null
  scope_key: string
  since: string | null
  limit: string | null
  /** The day on which this month's cost exceeded the limit. */
  exceeded_on: string | null
}

/** Sums the cost of a range by period and project, with the state of the month, as of one instant. */
export async function getCost(sql: Sql, orgId: string, query: CostQuery, today: string): Promise<JsonText> {
  const thisMonth = monthOf(today)
  const dims = query.project === undefined ? 'all' : 'project'
  const project = query.project ?? ''
  const buckets = query.group_by === 'month' ? 'month' : 'day'
  const ofMonth = (grain: Span['grain'], of: 'all' | 'project') =>
    sql.unsafe(`sum_bigint(r.micros) filter (where v.grain = '${grain}' and v.dims = '${of}')`)
  const projects = usageRows(sql, orgId, query, {
    ...{ columns: ['project'], buckets: undefined, sums: ['main_sessions', 'micros'], isSigned: true },
  })
  const previous =
    query.compare === undefined
      ? sql`null`
      : sql`(
          select array[sum_bigint(r.micros), sum_bigint(r.unpriced_tokens)]::text
          from (${costRows(sql, orgId, { ...query, ...comparedRange(query) }, 'month')}) r
        )`
  const [row] = await sql<[CostRow]>`
    select p.total, p.unpriced, p.periods, p.period_costs, ${previous} as previous, j.projects, j.project_costs,
      m.own as current_month, c.micros as month_cost, c.today as today_cost,
      b.scope, b.scope_key, b.since::text as since, b.limit_usd as limit,
      case when c.micros > b.limit_usd * 1000000 then (
        select d.bucket::text
        from (
          select r.bucket, sum(r.micros) over (order by r.bucket rows unbounded preceding) as micros
          from usage_rollups r
          where r.org_id = ${orgId}
            and r.dims = case when b.scope = 'project' then 'project' else 'all' end
            and r.grain = 'day'
            and r.bucket >= ${thisMonth}
            and r.bucket < ${addMonths(thisMonth, 1)}
            and r.project = b.scope_key
        ) d
        where d.micros > b.limit_usd * 1000000
        order by d.bucket
        limit 1
      ) end as exceeded_on
    from (
      select
        sum_bigint(p.micros) as total, sum_bigint(p.unpriced) as unpriced,
        array_agg(p.period order by p.period) filter (where p.sessions > 0 or p.micros > 0)::text as periods,
        array_agg(p.micros order by p.period) filter (where p.sessions > 0 or p.micros > 0)::text as period_costs
      from (
        select
          ${bucketOf(sql, query.group_by, sql`r.bucket`)} as period, sum_bigint(r.micros) as micros,
          sum_bigint(r.main_sessions) as sessions, sum_bigint(r.unpriced_tokens) as unpriced
        from (${costRows(sql, orgId, query, buckets, ['bucket', 'main_sessions', 'micros', 'unpriced_tokens'])}) r
        group by 1
      ) p
    ) p
    cross join (
      select
        json_agg(p.project order by p.micros desc, p.project collate "C")::text as projects,
        array_agg(p.micros order by p.micros desc, p.project collate "C")::text as project_costs
      from (
        select nullif(r.project, '') as project, sum_bigint(r.micros) as micros
        from (${projects}) r
        group by r.project
        having sum_bigint(r.main_sessions) > 0 or sum_bigint(r.micros) > 0
      ) p
    ) j
    cross join (
      select
        ${ofMonth('month', 'all')} as micros, ${ofMonth('month', dims)} as own,
        ${ofMonth('day', 'all')} as today, ${ofMonth('day', dims)} as own_today
      from (
        values ('all', 'month', ${thisMonth}::date, ''), ('all', 'day', ${today}::date, '')
        ${
          query.project === undefined
            ? sql``
            : sql`, ('project', 'month', ${thisMonth}::date, ${project}), ('project', 'day', ${today}::date, ${project})`
        }
      ) as v (dims, grain, bucket, project)
      join usage_rollups r
        on r.org_id = ${orgId}
        and r.dims = v.dims
        and r.grain = v.grain
        and r.bucket = v.bucket
        and r.project = v.project
    ) m
    left join (
      select s.scope, s.scope_key, b.since, b.limit_usd
      from (
        values ('project', ${project}, ${thisMonth}::date), ('organization', '', ${thisMonth}::date)
      ) as s (scope, scope_key, month)
      cross join lateral ${budgetInForce(sql, orgId)} b
      -- the project's own comes first
      order by s.scope desc
      limit 1
    ) b on true
    cross join lateral (
      select
        case when b.scope = 'project' then m.own else m.micros end as micros,
        case when b.scope = 'project' then m.own_today else m.today end as today
    ) c`
  const { scope, scope_key, since, limit } = row
  const ofToday = BigInt(row.today_cost)
  const spent = { before: BigInt(row.month_cost) - ofToday, today: ofToday, exceededOn: row.exceeded_on }
  const budget =
    scope === null || since === null || limit === null
      ? null
      : budgetStatus({ scope, scope_key }, since, unitsOf(limit), spent, today)
  const [before, tokens] = itemsIn(row.previous)
  const costs = itemsIn(row.project_costs).map(dollarsOf)
  const periodCosts = itemsIn(row.period_costs).map(dollarsOf)
  return new JsonText(
    JSON.stringify({
      ...{ total_cost: dollarsOf(row.total), unpriced_tokens: Number(row.unpriced) },
      ...{ current_month: dollarsOf(row.current_month), currency: 'USD' },
      by_period: itemsIn(row.periods).map((period, index) => ({ period, cost: periodCosts[index] })),
      by_project: (JSON.parse(row.projects ?? '[]') as (string | null)[]).map((project, index) => ({
        ...{ project, cost: costs[index] },
      })),
      current_budget: budget,
      ...(before !== undefined && {
        previous: { total_cost: dollarsOf(before), unpriced_tokens: Number(tokens) },
      }),
    }),
  )
}

/** The values of an array as PostgreSQL writes it, of numbers or dates; none of null. */
const itemsIn = (array: string | null): string[] => array?.slice(1, -1).split(',') ?? []

/**
 * Cost by day, week or month, buckets without any included, with the running sum and the limit in force. The buckets
 * reach from date_from (else the first with cost or sessions) to date_to (else the last). Where they are more than
 * 10,000, those of the next coarser granularity; throws VALIDATION_ERROR where the caller gave both ends.
 */
export async function getCostTrend(
  sql: Sql,
  orgId: string,
  query: CostTrendQuery,
  granularity: TrendGranularity = query.granularity,
): Promise<JsonText> {
  const { date_from, date_to } = query
  const byDays = granularity === 'day' || granularity === 'week'
  const rows = costRows(sql, orgId, query, byDays ? 'day' : 'month', ['bucket', 'main_sessions', 'micros'])
  const buckets =
    granularity === 'day'
      ? sql`select r.bucket as period, r.micros, r.main_sessions as sessions from (${rows}) r`
      : sql`
          select
            ${bucketOf(sql, granularity, sql`r.bucket`)} as period, sum_bigint(r.micros) as micros,
            sum_bigint(r.main_sessions) as sessions
          from (${rows}) r
          group by 1`
  // texts: arrays with the buckets, and limits as `month limit` separated by `,`; null for none
  const [row] = await sql<[Record<'periods' | 'costs' | 'sessions' | 'limits', string | null>]>`
    select
      array_agg(k.period order by k.period)::text as periods, array_agg(k.micros order by k.period)::text as costs,
      array_agg(k.sessions order by k.period)::text as sessions,
      (
        select string_agg(b.month || ' ' || trim_scale(b.limit_usd), ',' order by b.month)
        from budgets b
        where b.org_id = ${orgId}
          and b.scope = 'organization'
      ) as limits
    from (${buckets}) k
    where k.micros > 0
      or k.sessions > 0`
  const [periods, costs, sessions] = [itemsIn(row.periods), itemsIn(row.costs), itemsIn(row.sessions)]
  let cumulative = 0n
  // PostgreSQL took three times as long for a response that it made of these as JSON
  const items = periods.map((period, index) => {
    const cost = costs[index] ?? ''
    cumulative += BigInt(cost)
    const sum = unscaled(cumulative, MONEY_DECIMALS)
    return `{"period":"${period}","cost":${dollarsOf(cost)},"sessions":${sessions[index]},"cumulative_cost":${sum}`
  })
  const limits = (row.limits?.split(',') ?? []).map((item): Limit => {
    const [month = '', limit = ''] = item.split(' ')
    return [month, limit]
  })
  const [firstKnown, lastKnown] = [periods[0], periods.at(-1)]
  const first = date_from ?? firstKnown ?? date_to
  const last = date_to ?? lastKnown ?? date_from
  if (first === undefined || last === undefined) return trendOf(granularity, '')
  if (countBuckets(granularity, first, last) > MAX_BUCKETS) {
    const coarser = COARSER[granularity]
    if (coarser !== undefined && (date_from === undefined || date_to === undefined))
      return await getCostTrend(sql, orgId, query, coarser)
    throw validationError({
      field: 'date_to',
      message: `from ${first} to ${last} are more than ${MAX_BUCKETS} ${granularity}s: give a shorter range, or a coarser granularity`,
    })
  }
  return trendOf(granularity, trendItems(granularity, { first, last }, items, limits))
}

const trendOf = (granularity: string, items: string): JsonText =>
  new JsonText(`{"granularity":"${granularity}","data":[${items}]}`)
