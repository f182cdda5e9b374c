// Lists seats with the use of their plans, and counts idle ones for alerts.

import { addDays, dayOf } from '../../base/dates.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import { personGiven } from '../../database/member-addresses.ts'
import { listOf } from '../../http/list-queries.ts'
import { csvColumns } from '../../http/responses/csv.ts'
import { isOfTeam } from '../usage/member-queries.ts'
import { Seat, SeatPage, SeatQuery } from './model.ts'
import { type Clock, type Filters, PARTS, seatTables } from './seat-tables-queries.ts'

/** The condition that a row of `seats s` matches. */
function matches(sql: ISql, orgId: string, { plan, member, team, verdict }: Filters): Fragment {
  return sql`
    true
    ${plan === undefined ? sql`` : sql`and s.plan = ${plan}`}
    ${member === undefined ? sql`` : sql`and s.member <> '' and s.member = ${personGiven(sql, orgId, member)}`}
    ${team === undefined ? sql`` : sql`and ${isOfTeam(sql, orgId, sql`s.member`, team)}`}
    ${verdict === undefined ? sql`` : sql`and s.verdict = ${verdict}`}`
}

/** Seats `r` as JSON text. */
const seatItem = (sql: Sql, hidesMembers: boolean): Fragment => sql`
  json_build_object(
    'member', ${hidesMembers ? sql`null::text` : sql`nullif(r.member, '')`}, 'vendor', r.vendor, 'plan', r.plan,
    'quantity', r.quantity, 'from', r.first_day, 'to', r.last_day,
    'paid', trim_scale(round(r.paid_parts / ${PARTS}, 6)), 'cost', trim_scale(round(r.cost, 6)),
    'ratio', trim_scale(round(r.ratio, 6)), 'sessions', r.sessions, 'active_days', r.active_days,
    'last_active_day', r.last_active_day,
    'limits', coalesce(
      (
        select json_agg(
          json_build_object(
            'limit', l.limit_name, 'scope', nullif(l.scope, ''), 'peak_percent', trim_scale(l.peak), 'windows', l.windows,
            'hits', l.hits, 'hours_blocked', trim_scale(round(l.blocked / 3600000000, 6)), 'overage', l.overage, 'current', trim_scale(l.current)
          )
          order by l.limit_name collate "C", l.scope collate "C"
        )
        from (
          select
            w.limit_name, w.scope, max(w.peak) as peak, sum(w.windows) as windows, sum(w.hits) as hits, sum(w.blocked) as blocked,
            bool_or(w.overage) as overage, max(w.current) as current
          from unnest(r.windows) as w (
            limit_name text, scope text, peak numeric, windows numeric, hits numeric, blocked numeric, overage boolean, current numeric
          )
          group by 1, 2
        ) l
      ),
      '[]'
    ),
    'pool', case
      when r.pool_parts is not null then json_build_object(
        'credits', trim_scale(round(r.pool_parts / ${PARTS}, 6)), 'used', trim_scale(round(r.pool_used, 6)),
        'percent', trim_scale(round(r.pool_used * 100 * ${PARTS} / nullif(r.pool_parts, 0), 6))
      )
    end,
    'verdict', r.verdict
  )::text`

/** The seats, those with the largest use first, and the total of all that match. */
export const seatList = (now: () => Date) =>
  listOf({
    query: SeatQuery,
    page: SeatPage,
    columns: csvColumns(Seat),
    parts: (sql, orgId, query, { hidesMembers, zone }) => ({
      tables: sql`
        ${seatTables(sql, orgId, query, { now: now(), zone })},
        found as materialized (
          select s.*
          from seats s
          where ${matches(sql, orgId, query)}
        )`,
      rows: sql`select s.* from found s`,
      order: sql`
        r.cost desc, r.paid_parts desc, r.vendor, r.plan collate "C" nulls last, r.member collate "C", r.first_day, r.id`,
      item: seatItem(sql, hidesMembers),
      more: sql`
        select json_build_object(
          'seats', coalesce(sum(s.quantity), 0), 'paid', coalesce(trim_scale(round(sum(s.paid_parts) / ${PARTS}, 6)), 0),
          'cost', coalesce(trim_scale(round(sum(s.cost), 6)), 0),
          'idle', coalesce(sum(s.quantity) filter (where s.verdict = 'idle'), 0),
          'low', coalesce(sum(s.quantity) filter (where s.verdict = 'low'), 0),
          'limited', coalesce(sum(s.quantity) filter (where s.verdict = 'limited'), 0)
        )::text
        from found s`,
    }),
    text: ({ items, more }, pagination) =>
      `{"currency":"USD","data":[${items}],"total":${more},"pagination":${JSON.stringify(pagination)}}`,
  })

/** The seats of a scope that were idle on the last whole days. */
export async function countIdleSeats(
  sql: ISql,
  orgId: string,
  { member, team }: Filters,
  days: number,
  clock: Clock,
): Promise<number> {
  const to = addDays(dayOf(clock.now, clock.zone), -1)
  const query = { date_from: addDays(to, 1 - days), date_to: to, member, team }
  const [row] = await sql<{ idle: number }[]>`
    ${seatTables(sql, orgId, query, clock)}
    select coalesce(sum(s.quantity), 0)::integer as idle
    from seats s
    where ${matches(sql, orgId, { ...query, verdict: 'idle' })}`
  return row?.idle ?? 0
}
