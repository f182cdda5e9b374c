import { addDays, dayOf } from '../../base/dates.ts'
import { JsonText } from '../../base/json-text.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import { personGiven } from '../../database/member-addresses.ts'
import type { Viewer } from '../../http/whole-list.ts'
import { isOfTeam } from '../usage/scope-queries.ts'
import type { SeatQuery } from './model.ts'
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

const ORDER = `s.cost desc, s.paid_parts desc, s.vendor, s.plan collate "C" nulls last, s.member collate "C", s.first_day, s.id`

const itemOf = (sql: Sql, hidesMembers: boolean): Fragment => sql`
  json_build_object(
    'member', ${hidesMembers ? sql`null::text` : sql`nullif(s.member, '')`}, 'vendor', s.vendor, 'plan', s.plan,
    'quantity', s.quantity, 'from', s.first_day, 'to', s.last_day,
    'paid', trim_scale(round(s.paid_parts / ${PARTS}, 6)), 'cost', trim_scale(round(s.cost, 6)),
    'ratio', trim_scale(round(s.ratio, 6)), 'sessions', s.sessions, 'active_days', s.active_days,
    'last_active_day', s.last_active_day,
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
          from unnest(s.windows) as w (
            limit_name text, scope text, peak numeric, windows numeric, hits numeric, blocked numeric, overage boolean, current numeric
          )
          group by 1, 2
        ) l
      ),
      '[]'
    ),
    'pool', case
      when s.pool_parts is not null then json_build_object(
        'credits', trim_scale(round(s.pool_parts / ${PARTS}, 6)), 'used', trim_scale(round(s.pool_used, 6)),
        'percent', trim_scale(round(s.pool_used * 100 * ${PARTS} / nullif(s.pool_parts, 0), 6))
      )
    end,
    'verdict', s.verdict
  )::text`

/** A page of the seats that match, those with the largest use first, and the total of all. */
export async function listSeats(
  sql: Sql,
  orgId: string,
  query: SeatQuery,
  { hidesMembers }: Viewer,
  clock: Clock,
): Promise<JsonText> {
  const { page, per_page } = query
  const [row] = await sql<{ items: string | null; rows: string; total: string }[]>`
    ${seatTables(sql, orgId, query, clock)},
    found as materialized (
      select s.*
      from seats s
      where ${matches(sql, orgId, query)}
    )
    select
      (select count(*) from found s) as rows,
      (
        select json_build_object(
          'seats', coalesce(sum(s.quantity), 0), 'paid', coalesce(trim_scale(round(sum(s.paid_parts) / ${PARTS}, 6)), 0),
          'cost', coalesce(trim_scale(round(sum(s.cost), 6)), 0),
          'idle', coalesce(sum(s.quantity) filter (where s.verdict = 'idle'), 0),
          'low', coalesce(sum(s.quantity) filter (where s.verdict = 'low'), 0),
          'limited', coalesce(sum(s.quantity) filter (where s.verdict = 'limited'), 0)
        )::text
        from found s
      ) as total,
      (
        select string_agg(i.item, ',' order by i.nth)
        from (
          select ${itemOf(sql, hidesMembers)} as item, row_number() over (order by ${sql.unsafe(ORDER)}) as nth
          from found s
          order by nth
          limit ${per_page}
          offset ${(page - 1) * per_page}
        ) i
      ) as items`
  const { items = null, rows = '0', total = '{}' } = row ?? {}
  const pagination = { page, per_page, total: Number(rows) }
  return new JsonText(
    `{"currency":"USD","data":[${items ?? ''}],"total":${total},"pagination":${JSON.stringify(pagination)}}`,
    pagination,
  )
}

/** All of them in the same order: `item`, as JSON. */
export const allSeats =
  (now: () => Date) =>
  (sql: Sql, orgId: string, query: SeatQuery, { hidesMembers, zone }: Viewer & { zone: string }): Fragment =>
    sql`
    ${seatTables(sql, orgId, query, { now: now(), zone })}
    select ${itemOf(sql, hidesMembers)} as item
    from seats s
    where ${matches(sql, orgId, query)}
    order by ${sql.unsafe(ORDER)}`

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
