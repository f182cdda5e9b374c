// The tables that a list of seats is read from: plans of the range, with the use of each.

import { FACETS } from '../../analysis/usage/model.ts'
import { addDays, dayOf, daysBefore } from '../../base/dates.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { memberOf } from '../../database/member-addresses.ts'
import type { SeatQuery } from './model.ts'

export type Filters = { [Name in keyof SeatQuery]?: SeatQuery[Name] | undefined }

/** The time, and the time zone of the organization's days. */
export interface Clock {
  now: Date
  zone: string
}

/** Without dates the last whole days. */
const RANGE_DAYS = 30
/** A plan in force for fewer days is new. */
const NEW_DAYS = 14

/** A day of each month is a whole number of these parts of it: the least common multiple of 28 to 31. */
export const PARTS = 377_580

/** Bits of `firsts`: the part is the first of its session, and the first with its vendor. */
const [FIRST_OF_SESSION, FIRST_OF_VENDOR] = [1 << FACETS.length, 1 << FACETS.indexOf('vendor')]

/** Statement parts: `seats s`, a row for each plan of the range and for what plans paid that are not known. */
export function seatTables(sql: ISql, orgId: string, query: Filters, { now, zone }: Clock): Fragment {
  const { date_from, date_to } = query
  const today = dayOf(now, zone)
  const yesterday = addDays(today, -1)
  const to = date_to ?? (date_from !== undefined && date_from > yesterday ? date_from : yesterday)
  const from = date_from ?? daysBefore(to, RANGE_DAYS - 1)
  const ofVendor = (table: 'd' | 'f' | 'p' | 'u' | 'w') =>
    query.vendor === undefined ? sql`` : sql`and ${sql.unsafe(table)}.vendor = ${query.vendor}`
  // a window that is not over is shown with the range that ends now
  const openWindows = sql`
    union all
    select
      w.member, w.vendor, w.limit_name, w.scope, least(w.day, ${to}::date), w.peak_percent, 0, 0, 0, w.overage, w.last_percent
    from limit_windows w
    where w.org_id = ${orgId}
      and w.ends > ${now}
      and w.resets
      -- not the day alone: the generic plan would look for it, not for the end
      and least(w.day, ${to}::date) >= ${from}::date
      ${ofVendor('w')}`
  // rows between two changes of plans are of one plan: they are summed before plans are looked for
  const segmentOf = (day: Fragment) => sql`width_bucket(${day}, (select g.starts from segments g))`
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
    -- a bit for each day from the last one of the range that is known back to the first
    no_days as materialized (
      select u.last, repeat('0', u.last - greatest(${from}::date, u.first) + 1)::varbit as days
      from (
        select min(u.day) as first, least(${to}::date, max(u.day)) as last
        from session_usage u
        where u.org_id = ${orgId}
      ) u
    ),
    uses as materialized (
      select
        u.member as key, u.vendor, ${segmentOf(sql`u.day`)} as segment, sum(u.cost) as cost,
        sum(u.cost) filter (where u.paid_by = 'plan') as plan_cost, sum(u.cost) filter (where u.paid_by = 'api') as api_cost,
        -- those that began in the range
        count(*) filter (where u.is_main) as sessions,
        bit_or(set_bit((select n.days from no_days n), (select n.last from no_days n) - u.used_on, 1)) as active
      from (
        select u.member, u.vendor, u.day, u.cost, u.paid_by, u.is_main, u.day as used_on
        from session_usage u
        where u.org_id = ${orgId}
          and u.day between ${from}::date and ${to}::date
          -- nothing tells who is paid
          and u.vendor <> ''
          ${ofVendor('u')}
        union all
        -- a session counts under each vendor that it had calls of, not only that of its main row
        select f.member, f.vendor, f.day, 0, '', true, null
        from session_facets f
        join session_usage m
          on m.org_id = ${orgId}
          and m.session_id = f.session_id
          and m.nth = f.nth
          and m.vendor <> f.vendor
        where f.org_id = ${orgId}
          and f.session_id in (
            select o.session_id
            from session_facets o
            where o.org_id = ${orgId}
              and o.day between ${from}::date and ${to}::date
              and o.firsts & ${FIRST_OF_SESSION | FIRST_OF_VENDOR} = ${FIRST_OF_VENDOR}
          )
          and f.firsts & ${FIRST_OF_VENDOR} <> 0
          and f.vendor <> ''
          ${ofVendor('f')}
      ) u
      group by 1, 2, 3
    ),
    windows as materialized (
      select
        w.member as key, w.vendor, w.limit_name, w.scope, ${segmentOf(sql`w.day`)} as segment, max(w.peak_percent) as peak,
        sum(w.windows) as windows, sum(w.hits) as hits, sum(w.blocked) as blocked, bool_or(w.overage) as overage,
        max(w.current) as current
      from (
        select
          d.member, d.vendor, d.limit_name, d.scope, d.day, d.peak_percent, d.windows, d.hits, d.blocked, d.overage,
          null::numeric as current
        from limit_days d
        where d.org_id = ${orgId}
          and d.day between ${from}::date and ${to}::date
          ${ofVendor('d')}
        ${to < yesterday ? sql`` : openWindows}
      ) w
      group by 1, 2, 3, 4, 5
    ),
    -- the member's own plan, else seats that are shared
    owners as materialized (
      select
        r.key, r.vendor, r.segment, coalesce(o.id, q.id) as plan_id,
        case when coalesce(o.id, q.id) is null then coalesce(m.id, '') else '' end as member_id
      from (
        select u.key, u.vendor, u.segment from uses u
        union
        select w.key, w.vendor, w.segment from windows w
      ) r
      cross join lateral (select (select g.starts from segments g)[r.segment] as day) s
      ${memberOf(sql, orgId, sql`r.key`)}
      left join plans_in_range o
        on o.member = m.id
        and o.vendor = r.vendor
        and s.day between o.first and o.last
      left join lateral (
        select p.id
        from shared p
        where o.id is null
          and p.vendor = r.vendor
          and s.day between p.first and p.last
        order by p.first_day, p.plan, p.id
        limit 1
      ) q on true
    ),
    used as materialized (
      select
        o.plan_id, o.member_id, o.vendor,
        coalesce(sum(case when o.plan_id is null then u.plan_cost else u.cost - coalesce(u.api_cost, 0) end), 0) as cost,
        sum(u.sessions) as sessions, bit_or(u.active) as active
      from uses u
      join owners o using (key, vendor, segment)
      where o.plan_id is not null
        or u.plan_cost is not null
      group by 1, 2, 3
    ),
    stated as materialized (
      select
        o.plan_id, o.member_id, o.vendor, coalesce(sum(w.hits) filter (where w.limit_name = 'week'), 0) as weeks_hit,
        coalesce(sum(w.hits) filter (where w.limit_name = 'five_hour'), 0) as hours_hit,
        -- they are summed by limit, and made JSON, of the seats of a page only
        array_agg((w.limit_name, w.scope, w.peak, w.windows, w.hits, w.blocked, w.overage, w.current)) as windows
      from windows w
      join owners o using (key, vendor, segment)
      group by 1, 2, 3
    ),
    months as materialized (
      select g.at::date as first, (g.at + interval '1 month')::date - g.at::date as days
      from generate_series(date_trunc('month', ${from}::timestamp), ${to}::timestamp, interval '1 month') as g (at)
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
        from months m
        where m.first <= p.last
          and m.first + m.days > p.first
      ) d
      union all
      select null, k.member_id, k.vendor, null, 0, null, null, 0, 0, null
      from (
        select u.member_id, u.vendor from used u where u.plan_id is null
        union
        select l.member_id, l.vendor from stated l where l.plan_id is null
      ) k
    ),
    measured as (
      select
        p.*, coalesce(u.cost, 0) as cost, coalesce(u.sessions, 0) as sessions,
        coalesce(bit_count(u.active), 0) as active_days, (select n.last from no_days n) + 1 - position(b'1' in u.active) as last_active_day, l.windows, coalesce(l.weeks_hit, 0) as weeks_hit,
        coalesce(l.hours_hit, 0) as hours_hit,
        case when p.paid_parts > 0 then coalesce(u.cost, 0) * ${PARTS} / p.paid_parts end as ratio,
        sum(p.credit_parts) over pooled as pool_parts,
        case when p.vendor = 'github' then sum(coalesce(u.cost, 0)) over pooled * 100 end as pool_used
      from of_plans p
      left join used u
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
