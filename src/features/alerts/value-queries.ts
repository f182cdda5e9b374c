// Reads the figures of alerts, from the sums that are kept when sessions change. Those of a quality by member, model or
// agent, which no sum has, are read from the usage of the window's sessions.

import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { addDays, dayOf, daysOf } from '../../base/dates.ts'
import { unitsOf } from '../../base/decimals.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { summedProject, WITHOUT_PROJECT } from '../../database/rollups.ts'
import { inDays } from '../../database/rows.ts'
import { forecastOf } from '../budgets/forecast.ts'
import { countIdleSeats } from '../seats/seat-queries.ts'
import { matching } from '../usage/filters.ts'
import type { Dimension } from '../usage/model.ts'
import { sessionsWithShares, usageRows } from '../usage/sources.ts'
import { bucketOf, columnOfKey, OTHERS, projectSums, teamTable } from '../usage/sums.ts'
import { type Clock, rounded, type Series, WINDOWS_BEFORE, windowAt } from './evaluate.ts'
import { countFailingEndpoints, countSilentMachines, findLimits } from './figure-queries.ts'
import type { Each, Metric, Watched } from './model.ts'

/** An alert's figures: see `evaluate`. */
export interface Values {
  series: Map<string, Series>
  /** The value of a key that is not in `series`. */
  empty: number | null
  /** When it changes although nothing is written. */
  changesAt?: Date | undefined
}

/** The figures to read: `from` and `to` are days, both inclusive. */
interface Context {
  sql: ISql
  orgId: string
  watched: Watched
  from: string
  to: string
  zone: string
  /** The member whose figures alone are under the key of a team. */
  onlyMember: VisibleMember | null
}

/** A key of a row of the table as text, '' without one. */
function keySql({ sql, onlyMember }: Context, by: Each | Dimension | null, table: 'r' | 'f' | 'u'): Fragment {
  if (by === null) return sql`''::text`
  const key = sql`coalesce(${columnOfKey(sql, by, table)}, '')`
  if (by !== 'team' || onlyMember === null) return key
  return sql`case when ${sql.unsafe(table)}.member = ${onlyMember.id} then ${key} else ${OTHERS}::text end`
}

const filtersOf = ({ watched: { scope }, from, to }: Context) => ({ ...scope, date_from: from, date_to: to })

/** Rows (key, part, period, value) of money or tokens. */
function usageSums(context: Context, by: Dimension | null, measure: 'micros' | 'unpriced_tokens'): Fragment {
  const { sql, orgId, watched } = context
  const each = watched.each === 'team' ? 'member' : watched.each
  const rows = usageRows(sql, orgId, filtersOf(context), {
    columns: [each, by].filter((column) => column !== null),
    buckets: watched.window === 'month' ? 'month' : 'day',
  })
  return sql`
    select
      ${keySql(context, watched.each, 'r')} as key, ${keySql(context, by, 'r')} as part,
      ${bucketOf(sql, watched.window, sql`r.bucket`)} as period, sum(r.${sql(measure)})${measure === 'micros' ? sql` * 0.000001` : sql``} as value
    from (${rows}) r
    group by 1, 2, 3`
}

/** Rows of open findings, each file and fingerprint once. */
function findingCounts(context: Context, by: Dimension | null): Fragment {
  const { sql, orgId, watched, from, to, zone } = context
  const { model, agent, ...filters } = watched.scope
  const used = (name: 'model' | 'agent', value: string | undefined) =>
    value === undefined
      ? sql``
      : sql`
          and exists (
            select
            from session_usage u
            where u.org_id = ${orgId}
              and u.session_id = f.session_id
              and u.${sql(name)} = ${value}
          )`
  const part =
    by === 'model'
      ? sql`
          (
            select u.model
            from session_usage u
            where u.org_id = ${orgId}
              and u.session_id = f.session_id
              and u.is_main
          )`
      : keySql(context, by, 'f')
  return sql`
    select
      ${keySql(context, watched.each, 'f')} as key, ${part} as part,
      ${bucketOf(sql, watched.window, sql`f.day`)} as period,
      count(distinct (f.project, f.file_key, f.fingerprint)) as value
    from findings f
    where f.org_id = ${orgId}
      and f.status = 'open'
      ${inDays(sql, sql`f.created_at`, { date_from: from, date_to: to }, zone)}
      ${matching(sql, orgId, filters, 'f')}
      ${used('model', model)}
      ${used('agent', agent)}
    group by 1, 2, 3`
}

function qualityMeans(context: Context): Fragment {
  const { sql, orgId, watched, from, to } = context
  const { each, scope } = watched
  const isSummed =
    (each === null || each === 'project') && Object.keys(scope).every((name) => name === 'project')
  if (!isSummed)
    return sql`
      select
        ${keySql(context, each, 'u')} as key, '' as part, ${bucketOf(sql, watched.window, sql`u.day`)} as period,
        round(avg(u.quality_score), 2) as value
      ${sessionsWithShares(sql, orgId, filtersOf(context))}
      group by 1, 2, 3`
  const ofProject =
    each === 'project' && scope.project === undefined ? sql`<> ''` : sql`= ${summedProject(scope.project)}`
  const grain = watched.window === 'month' ? 'month' : 'day'
  const key = each === null ? sql`''::text` : sql`replace(r.project, ${WITHOUT_PROJECT}, '')`
  return sql`
    select
      ${key} as key, '' as part, ${bucketOf(sql, watched.window, sql`r.bucket`)} as period,
      round(sum(r.quality_sum) / sum(r.sessions), 2) as value
    from (${projectSums(sql, orgId, [{ ...daysOf(from, to), grain }], ofProject)}) r
    group by 1, 2, 3
    having sum(r.sessions) > 0`
}

/** Rows of windows of limits that were hit, by the day of their first hit. */
const limitHits = (context: Context): Fragment => {
  const { sql, orgId, watched, from, to } = context
  return sql`
    select
      ${keySql(context, watched.each, 'f')} as key, '' as part,
      ${bucketOf(sql, watched.window, sql`f.day`)} as period, sum(f.hits) as value
    from limit_days f
    where f.org_id = ${orgId}
      and f.day between ${from}::date and ${to}::date
      and f.hits > 0
      ${matching(sql, orgId, watched.scope, 'f')}
    group by 1, 2, 3`
}

const rowsOf = (context: Context, by: Dimension | null): Fragment => {
  const { metric } = context.watched
  if (metric === 'findings') return findingCounts(context, by)
  if (metric === 'average_quality') return qualityMeans(context)
  if (metric === 'limit_hits') return limitHits(context)
  return usageSums(context, by, metric === 'unpriced_tokens' ? metric : 'micros')
}

/** Metrics that are 0 without sessions; the others have no data then. */
const ZERO: ReadonlySet<Metric> = new Set(['cost', 'forecast', 'findings', 'unpriced_tokens', 'limit_hits'])

/** Whether figures of the scope tell what its members do. */
export const isTelling = ({ team, model, agent }: Watched['scope']): boolean =>
  (team ?? model ?? agent) !== undefined

/** An alert's values by key, and with `times` those of the windows before. With `onlyMember` as a breakdown shows them. */
export async function readValues(
  sql: ISql,
  orgId: string,
  given: Watched,
  { now, zone }: Clock,
  onlyMember: VisibleMember | null = null,
): Promise<Values> {
  const isOwn = onlyMember !== null && isTelling(given.scope)
  const watched = isOwn ? { ...given, scope: { ...given.scope, member: onlyMember.id } } : given
  const { metric, window, each, times } = watched
  if (metric === 'failing_endpoints')
    return { series: new Map([['', [await countFailingEndpoints(sql, orgId)]]]), empty: 0 }
  if (metric === 'silent_machines') {
    const { silent, next } = await countSilentMachines(sql, orgId, watched, now)
    return { series: new Map([['', [silent]]]), empty: 0, changesAt: next }
  }
  const today = dayOf(now, zone)
  if (metric === 'idle_seats') {
    // the days of a week that has just begun say nothing
    const days = window === 'week' ? 7 : 30
    return {
      series: new Map([['', [await countIdleSeats(sql, orgId, watched.scope, days, { now, zone })]]]),
      empty: 0,
    }
  }
  const periods = Array.from({ length: times === undefined ? 1 : WINDOWS_BEFORE + 1 }, (_, back) =>
    windowAt(window, today, -back),
  )
  const to = addDays(windowAt(window, today, 1), -1)
  const context = { sql, orgId, watched, from: periods.at(-1) ?? '', to, zone, onlyMember }
  // a forecast needs today's part too, as of the same instant
  const ofToday =
    metric === 'forecast'
      ? sql`
          union all
          select q.key, 'today', q.value::text
          from (${rowsOf({ ...context, from: today, to: today }, null)}) q`
      : sql``
  const rows = await sql<{ key: string; period: string; value: string }[]>`
    with ${teamTable(sql, orgId)}
    select q.key, q.period::text as period, q.value::text as value
    from (${rowsOf(context, null)}) q
    ${ofToday}`
  const limitOf = metric === 'budget_percent' ? await findLimits(sql, orgId, given) : undefined
  const valueIn = (key: string, period: string, values: ReadonlyMap<string, string>): number | null => {
    const value = values.get(period)
    if (limitOf !== undefined) {
      const limit = limitOf(key, period)
      return limit === undefined ? null : rounded((100 * Number(value ?? 0)) / limit)
    }
    if (value === undefined) return ZERO.has(metric) ? 0 : null
    if (metric !== 'forecast' || period !== periods[0]) return Number(value)
    const spentToday = unitsOf(values.get('today') ?? '0.000000')
    return forecastOf({ before: unitsOf(value) - spentToday, today: spentToday }, today).cost
  }
  const byKey = Map.groupBy(rows, ({ key }) => key)
  if (each === null) byKey.set('', rows)
  const series = new Map<string, Series>()
  for (const [key, ofKey] of byKey) {
    const values = new Map(ofKey.map(({ period, value }) => [period, value]))
    const [current = null, ...before] = periods.map((period) => valueIn(key, period, values))
    series.set(key, [current, ...before])
  }
  return { series, empty: ZERO.has(metric) ? 0 : null }
}

/** Figures without contributors: means and counts of what has none. */
const WHOLE: ReadonlySet<Metric> = new Set([
  ...(['average_quality', 'silent_machines', 'failing_endpoints', 'idle_seats', 'limit_hits'] as const),
])
const LARGEST = 3

/** The largest contributors to the values of these keys in the window of this time: money of the month for its forecast. */
export async function readTop(
  sql: ISql,
  orgId: string,
  watched: Watched,
  keys: readonly string[],
  { now, zone }: Clock,
): Promise<Map<string, { key: string | null; value: number }[]>> {
  const { metric, window, each, scope } = watched
  if (WHOLE.has(metric) || keys.length === 0) return new Map()
  const by =
    scope.member !== undefined || each === 'member'
      ? 'model'
      : scope.project !== undefined || each === 'project'
        ? 'member'
        : 'project'
  const today = dayOf(now, zone)
  const [from, to] = [windowAt(window, today), addDays(windowAt(window, today, 1), -1)]
  const context = { sql, orgId, watched, from, to, zone, onlyMember: null }
  const rows = await sql<{ key: string; part: string; value: string }[]>`
    with ${teamTable(sql, orgId)}
    select t.key, t.part, t.value::text as value
    from (
      select q.key, q.part, q.value, row_number() over (partition by q.key order by q.value desc, q.part collate "C") as place
      from (${rowsOf(context, by)}) q
      where q.key = any (${[...keys]}::text[])
        and q.value > 0
    ) t
    where t.place <= ${LARGEST}
    order by t.key, t.place`
  return new Map(
    [...Map.groupBy(rows, ({ key }) => key)].map(([key, parts]) => [
      key,
      parts.map(({ part, value }) => ({ key: part === '' ? null : part, value: Number(value) })),
    ]),
  )
}
