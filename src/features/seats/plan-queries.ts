import type { Access } from '../../accounts/people/callers.ts'
import { TIME_PATTERN } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import { type PageRow, pageText } from '../../base/json-text.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import { personGiven } from '../../database/member-addresses.ts'
import type { Viewer } from '../../http/whole-list.ts'
import { LONGEST_MS, windowEnd } from '../usage/windows-write.ts'
import type { MySeats, Plan, PlanListQuery } from './model.ts'
import { type PlanRow, planColumns } from './plan-write.ts'

/** The plan as answers show it. */
export const shownPlan = ({ member, price_month, usd_rate, included_credits, ...row }: PlanRow): Plan => ({
  ...row,
  member: member === '' ? null : member,
  price_month: Number(price_month),
  usd_rate: usd_rate === null ? null : Number(usd_rate),
  included_credits: included_credits === null ? null : Number(included_credits),
})

const itemOf = (sql: ISql, hidesMembers: boolean): Fragment => sql`
  json_build_object(
    'id', p.id, 'vendor', p.vendor, 'plan', p.plan,
    'member', ${hidesMembers ? sql`null::text` : sql`nullif(p.member, '')`}, 'quantity', p.quantity,
    'from', p.first_day, 'to', p.last_day, 'price_month', trim_scale(p.price_month), 'currency', p.currency,
    'usd_rate', trim_scale(p.usd_rate), 'included_credits', trim_scale(p.included_credits)
  )::text`

const ORDER = `p.first_day desc, p.vendor, p.plan collate "C", p.member collate "C", p.id`

const matching = (sql: ISql, orgId: string, { vendor, plan, member }: PlanListQuery): Fragment => sql`
  from plans p
  where p.org_id = ${orgId}
    ${vendor === undefined ? sql`` : sql`and p.vendor = ${vendor}`}
    ${plan === undefined ? sql`` : sql`and p.plan = ${plan}`}
    ${member === undefined ? sql`` : sql`and p.member <> '' and p.member = ${personGiven(sql, orgId, member)}`}`

/** A page of the plans, those that began last first. */
export async function listPlans(sql: Sql, orgId: string, query: PlanListQuery, { hidesMembers }: Viewer) {
  const [row] = await sql<PageRow[]>`
    select
      (select count(*) ${matching(sql, orgId, query)}) as total,
      (
        select string_agg(i.item, ',' order by i.nth)
        from (
          select ${itemOf(sql, hidesMembers)} as item, row_number() over (order by ${sql.unsafe(ORDER)}) as nth
          ${matching(sql, orgId, query)}
          order by nth
          limit ${query.per_page}
          offset ${(query.page - 1) * query.per_page}
        ) i
      ) as items`
  return pageText(row?.items ?? null, query, row?.total ?? '0')
}

/** All of them in the same order: `item`, as JSON. */
export const allPlans = (sql: Sql, orgId: string, query: PlanListQuery, { hidesMembers }: Viewer) => sql`
  select ${itemOf(sql, hidesMembers)} as item
  ${matching(sql, orgId, query)}
  order by ${sql.unsafe(ORDER)}`

/** One plan. Throws NOT_FOUND. */
export async function getPlan(sql: ISql, orgId: string, id: string): Promise<PlanRow> {
  const [row] = await sql<PlanRow[]>`
    select ${planColumns(sql)}
    from plans p
    where p.org_id = ${orgId}
      and p.id = ${id}`
  if (row === undefined) throw new ApiError('NOT_FOUND', 'no such plan')
  return row
}

/** The plans of a member and vendor, or seats of a plan that are shared, that are in force on a day. */
export async function findInForce(
  tx: ISql,
  orgId: string,
  { vendor, plan, member, from }: Pick<PlanRow, 'vendor' | 'plan' | 'member' | 'from'>,
): Promise<PlanRow[]> {
  return await tx<PlanRow[]>`
    select ${planColumns(tx)}
    from plans p
    where p.org_id = ${orgId}
      and p.vendor = ${vendor}
      and p.member = ${member}
      and (p.member <> '' or p.plan = ${plan})
      and p.first_day < ${from}::date
      and (p.last_day is null or p.last_day >= ${from}::date)`
}

/** The caller's own plans that are in force, and windows that are not over; none for a key of nobody. */
export async function findMySeats(
  sql: Sql,
  { orgId, person, memberEmail }: Pick<Access, 'orgId' | 'person' | 'memberEmail'>,
  today: string,
  now: Date,
): Promise<MySeats> {
  const email = person?.email ?? memberEmail
  if (email === null) return { plans: [], windows: [] }
  const [plans, windows] = await Promise.all([
    sql<MySeats['plans']>`
      select p.vendor, p.plan, p.first_day::text as "from", p.last_day::text as "to"
      from plans p
      where p.org_id = ${orgId}
        and p.member = ${personGiven(sql, orgId, email)}
        and p.first_day <= ${today}::date
        and coalesce(p.last_day, ${today}::date) >= ${today}::date
      order by p.vendor, p.first_day, p.id`,
    sql<MySeats['windows']>`
      select
        w.vendor, w.limit_name as "limit", nullif(w.scope, '') as scope, w.last_percent::float8 as used_percent,
        case when w.resets then to_char(w.ends at time zone 'UTC', ${TIME_PATTERN}) end as resets_at,
        w.hit_at is not null as hit
      from limit_windows w
      where w.org_id = ${orgId}
        and w.member = ${personGiven(sql, orgId, email)}
        and w.ends > ${new Date(now.getTime() - LONGEST_MS)}
        and ${windowEnd(sql)} > ${now}
      order by w.vendor, w.limit_name collate "C", w.scope collate "C", w.ends desc, w.owner, w.resets, w.starts`,
  ])
  return { plans: [...plans], windows: [...windows] }
}
