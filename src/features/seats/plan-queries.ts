// Reads plans: the list of GET /plans, one, those in force, and the caller's own.

import type { Access } from '../../accounts/people/callers.ts'
import { TIME_PATTERN } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { personGiven } from '../../database/member-addresses.ts'
import { listOf } from '../../http/list-queries.ts'
import { csvColumns } from '../../http/responses/csv.ts'
import { LONGEST_MS, windowEnd } from '../usage/windows-write.ts'
import { type MySeats, Plan, PlanListQuery, PlanPage } from './model.ts'
import { type PlanRow, planColumns } from './plan-write.ts'

/** The plan as answers show it. */
export const shownPlan = ({ member, price_month, usd_rate, included_credits, ...row }: PlanRow): Plan => ({
  ...row,
  member: member === '' ? null : member,
  price_month: Number(price_month),
  usd_rate: usd_rate === null ? null : Number(usd_rate),
  included_credits: included_credits === null ? null : Number(included_credits),
})

/** The plans, those that began last first. */
export const planList = listOf({
  query: PlanListQuery,
  page: PlanPage,
  columns: csvColumns(Plan),
  parts: (sql, orgId, { vendor, plan, member }, { hidesMembers }) => ({
    rows: sql`
      select p.*
      from plans p
      where p.org_id = ${orgId}
        ${vendor === undefined ? sql`` : sql`and p.vendor = ${vendor}`}
        ${plan === undefined ? sql`` : sql`and p.plan = ${plan}`}
        ${member === undefined ? sql`` : sql`and p.member <> '' and p.member = ${personGiven(sql, orgId, member)}`}`,
    order: sql`r.first_day desc, r.vendor, r.plan collate "C", r.member collate "C", r.id`,
    fields: {
      ...{ id: sql`r.id`, vendor: sql`r.vendor`, plan: sql`r.plan` },
      ...{ member: hidesMembers ? sql`null::text` : sql`nullif(r.member, '')`, quantity: sql`r.quantity` },
      ...{ from: sql`r.first_day`, to: sql`r.last_day`, price_month: sql`trim_scale(r.price_month)` },
      ...{ currency: sql`r.currency`, usd_rate: sql`trim_scale(r.usd_rate)` },
      included_credits: sql`trim_scale(r.included_credits)`,
    },
  }),
})

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
