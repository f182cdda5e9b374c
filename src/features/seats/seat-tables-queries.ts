import { addDays, dayOf, daysFrom, instantsOf } from '../../base/dates.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { memberOf } from '../../database/member-addresses.ts'
import { dayIn } from '../../database/rows.ts'
import { hitEnd } from '../usage/resumed-write.ts'
import type { SeatQuery } from './model.ts'
import { usedOnDays } from './use-queries.ts'

export type Filters = { [Name in keyof SeatQuery]?: SeatQuery[Name] | undefined }

/** The time, and the time zone of the organization's days. */
export interface Clock {
  now: Date
  zone: string
}

/** Windows of earlier days are not known. */
const FIRST_DAY = '2020-01-01'

const RANGE_DAYS = 30
/** A plan in force for fewer days is new. */
const NEW_DAYS = 14

/** A day of each month is a whole number of these parts of it: the least common multiple of 28 to 31. */
export const PARTS = 377_580

/** The days of a query: without dates the last 30 whole ones. */
function seatRange({ date_from, date_to }: Filters, today: string) {
  const yesterday = addDays(today, -1)
  const to = date_to ?? (date_from !== undefined && date_from > yesterday ? date_from : yesterday)
  return { from: date_from ?? addDays(to, 1 - RANGE_DAYS), to }
}

/** The percentage of a column `l`, or `w`, as JSON. */
const percent = (column: string) => `trim_scale(round(${column}, 6))`

/** Statement parts: `seats s`, a row for each plan of the range and for what plans paid that are not known. */
export function seatTables(sql: ISql, orgId: string, query: Filters, { now, zone }: Clock): Fragment {
  const today = dayOf(now, zone)
  const range = seatRange(query, today)
  const { from, to } = range
  const known = { from: from < FIRST_DAY ? FIRST_DAY : from, to: to > today ? addDays(today, 1) : to }
  const { from: since = now, before = now } = instantsOf(known.from, known.to, zone)
  // a window that is not over is shown with the range that ends now
  const isNow = to >= addDays(today, -1)
  const ofVendor = (table: 'p' | 'u' | 'w') =>
    query.vendor === undefined ? sql`` : sql`and ${sql.unsafe(table)}.vendor = ${query.vendor}`
  const anchor = sql`coalesce(w.hit_at, w.last_at)`
  // rows between two changes of plans are of one plan: they are summed before plans are looked for
  const segmentOf = (day: Fragment) => sql`width_bucket(${day}, (select g.starts from segments g))`
  // the member's own plan, else seats that are shared
  const ofPlan = sql`
    cross join lateral (select (select g.starts from segments g)[r.segment] as day) s
    ${memberOf(sql, orgId, sql`r.key`)}
    left join lateral (
      select e->>0 as id
      from jsonb_array_elements((select o.of_key from own_plans o) -> (m.id || ' ' || r.vendor)) e
      where s.day between (e->>1)::date and (e->>2)::date
      limit 1
    ) o on true
    left join lateral (
      select p.id
      from shared p
      where o.id is null
        and p.vendor = r.vendor
        and s.day between p.first and p.last
      order by p.first_day, p.plan, p.id
      limit 1
    ) q on true`
  const planId = sql`coalesce(o.id, q.id)`
  const owner = sql`${planId} as plan_id, case when ${planId} is null then coalesce(m.id, '') else '' end as member_id, r.vendor`
  return sql`
    with plans_in_range as materialized (
      select p.*, greatest(p.first_day, ${from}::date) as first, least(coalesce(p.last_day, ${to}::date), ${to}::date) as last
      from plans p
      where p.org_id = ${orgId}
        and p.first_day <= ${to}::date
        and coalesce(p.last_day, ${to}::date) >= ${from}::date
        ${ofVendor('p')}
    ),
    shared as materialized (select p.* from plans_in_range p where p.member = ''),
    -- one value: joined, each row was compared with each plan
    own_plans as materialized (
      select jsonb_object_agg(p.key, p.plans) as of_key
      from (
        select p.member || ' ' || p.vendor as key, jsonb_agg(jsonb_build_array(p.id, p.first, p.last)) as plans
        from plans_in_range p
        where p.member <> ''
        group by 1
      ) p
    ),
    segments as materialized (
      select array_agg(distinct d.day order by d.day) as starts
      from (
        select ${from}::date as day
        union all
        select p.first from plans_in_range p
        union all
        select p.last + 1 from plans_in_range p
      ) d
    ),
    days as materialized (
      select
        u.member as key, u.vendor, ${segmentOf(sql`u.day`)} as segment, sum(u.cost) as cost,
        sum(u.cost) filter (where u.paid_by = 'plan') as plan_cost, sum(u.cost) filter (where u.paid_by = 'api') as api_cost,
        sum(u.sessions) as sessions, range_agg(daterange(u.day, u.day, '[]')) as active
      from (${usedOnDays(sql, orgId, range)}) u
      where true
        ${ofVendor('u')}
      group by 1, 2, 3
    ),
    uses as materialized (
      select
        ${owner}, coalesce(sum(case when ${planId} is null then r.plan_cost else r.cost - coalesce(r.api_cost, 0) end), 0) as cost,
        sum(r.sessions) as sessions, range_agg(r.active) as active
      from days r
      ${ofPlan}
      where ${planId} is not null
        or r.plan_cost is not null
      group by 1, 2, 3
    ),
    windows as materialized (
      select
        w.member as key, w.vendor, w.limit_name, w.scope, ${segmentOf(sql`w.day`)} as segment, max(w.peak_percent) as peak,
        count(*) filter (where w.is_counted) as windows, count(w.hit_at) filter (where w.is_counted) as hits,
        sum(w.hours) filter (where w.is_counted) as hours, bool_or(w.overage) as overage, max(w.current) as current
      from (
        select
          w.member, w.vendor, w.limit_name, w.scope, w.peak_percent, w.overage, w.hit_at,
          least(${dayIn(sql, anchor, daysFrom(known.from, known.to), zone)}, ${to}::date) as day, ${anchor} < ${before} as is_counted,
          case when w.hit_at is not null then
            extract(epoch from greatest(least(${hitEnd(sql)}, w.resumed_at) - w.hit_at, '0')) / 3600
          end as hours,
          case when ${isNow}::boolean and w.resets and w.ends > ${now} then w.last_percent end as current
        from limit_windows w
        where w.org_id = ${orgId}
          and w.last_at >= ${since}
          and (
            ${anchor} < ${before}
            or (${isNow}::boolean and w.resets and w.ends > ${now})
          )
          ${ofVendor('w')}
      ) w
      where w.day >= ${from}::date
      group by 1, 2, 3, 4, 5
    ),
    limits as materialized (
      select
        ${owner}, r.limit_name, r.scope, max(r.peak) as peak, sum(r.windows) as windows, sum(r.hits) as hits,
        coalesce(sum(r.hours), 0) as hours, bool_or(r.overage) as overage, max(r.current) as current
      from windows r
      ${ofPlan}
      group by 1, 2, 3, 4, 5
    ),
    stated as materialized (
      select
        l.plan_id, l.member_id, l.vendor, coalesce(sum(l.hits) filter (where l.limit_name = 'week'), 0) as weeks_hit,
        coalesce(sum(l.hits) filter (where l.limit_name = 'five_hour'), 0) as hours_hit,
        json_agg(
          json_build_object(
            'limit', l.limit_name, 'scope', nullif(l.scope, ''), 'peak_percent', ${sql.unsafe(percent('l.peak'))},
            'windows', l.windows, 'hits', l.hits, 'hours_blocked', ${sql.unsafe(percent('l.hours'))},
            'overage', l.overage, 'current', ${sql.unsafe(percent('l.current'))}
          )
          order by l.limit_name collate "C", l.scope collate "C"
        ) as limits
      from limits l
      group by 1, 2, 3
    ),
    of_plans as (
      select
        p.id, p.member, p.vendor, p.plan, p.quantity, p.first_day, p.last_day, d.parts * p.quantity as parts,
        p.price_month * coalesce(p.usd_rate, 1) * p.quantity * d.parts as paid_parts,
        p.included_credits * p.quantity * d.parts as credit_parts
      from plans_in_range p
      cross join lateral (
        select sum(
          (least(p.last, m.first + m.days - 1) - greatest(p.first, m.first) + 1) * (${PARTS} / m.days)
        ) as parts
        from (
          select g.at::date as first, (g.at + interval '1 month')::date - g.at::date as days
          from generate_series(date_trunc('month', p.first::timestamp), p.last::timestamp, interval '1 month') as g (at)
        ) m
      ) d
      union all
      select null, k.member_id, k.vendor, null, 0, null, null, 0, 0, null
      from (
        select u.member_id, u.vendor from uses u where u.plan_id is null
        union
        select l.member_id, l.vendor from stated l where l.plan_id is null
      ) k
    ),
    measured as (
      select
        p.*, coalesce(u.cost, 0) as cost, coalesce(u.sessions, 0) as sessions,
        (select coalesce(sum(upper(a) - lower(a)), 0) from unnest(u.active) a) as active_days,
        upper(u.active) - 1 as last_active_day, coalesce(l.limits, '[]') as limits, coalesce(l.weeks_hit, 0) as weeks_hit,
        coalesce(l.hours_hit, 0) as hours_hit,
        case when p.paid_parts > 0 then coalesce(u.cost, 0) * ${PARTS} / p.paid_parts end as ratio,
        sum(p.credit_parts) over pooled as pool_parts,
        case when p.vendor = 'github' then sum(coalesce(u.cost, 0)) over pooled * 100 end as pool_used
      from of_plans p
      left join uses u
        on u.vendor = p.vendor
        and coalesce(u.plan_id, '') = coalesce(p.id, '')
        and u.member_id = case when p.id is null then p.member else '' end
      left join stated l
        on l.vendor = p.vendor
        and coalesce(l.plan_id, '') = coalesce(p.id, '')
        and l.member_id = case when p.id is null then p.member else '' end
      window pooled as (partition by p.vendor, p.plan)
    ),
    seats as materialized (
      select
        s.*,
        case
          when s.id is null then null
          when ${today}::date - s.first_day < ${NEW_DAYS} then 'new'
          when s.active_days = 0 then 'idle'
          when s.weeks_hit > 0 or s.hours_hit >= 3 then 'limited'
          when s.ratio < 0.25 then 'low'
          else 'fits'
        end as verdict
      from measured s
    )`
}
