// Says when a window of a limit ends, finds when members went on after a hit, and sums windows by day. A window that was hit keeps the
// member's next call of the vendor that succeeded, before its end: found when the window or a session is written, since a
// list of seats would read the turns of every session around every hit. Such a list reads sums of days, not some windows for
// each person and day.

import { VENDORS } from '../../analysis/usage/model.ts'
import { asciiLower } from '../../base/text.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import type { DerivedTable, OrgId, ProgramTable } from '../../database/derived-tables.ts'
import { personOf } from '../../database/member-addresses.ts'

/** A session began at most this long before a hit that it has calls after. */
const LONGEST_SESSION = '7 days'

/** Hours of the windows whose end nobody stated; an hour where they are not known. */
const HOURS: Readonly<Record<string, number>> = {
  five_hour: 5,
  week: 168,
  month: 720,
  credits: 720,
  spend: 720,
}
/** The longest of them. */
export const LONGEST_MS = 720 * 3_600_000
export const hoursOf = (limit: string): number => HOURS[limit] ?? 1
const lengthOf = (sql: ISql): Fragment =>
  sql`coalesce((${JSON.stringify(HOURS)}::text::json->>w.limit_name)::integer, 1) * interval '1 hour'`

/** When a window `w` is over, from its last observation. */
export const windowEnd = (sql: ISql): Fragment =>
  sql`case when w.resets then w.ends else w.last_at + ${lengthOf(sql)} end`

/** When a hit of a window `w` no longer blocks, whatever is called. */
export const hitEnd = (sql: ISql): Fragment =>
  sql`case when w.resets then w.ends else w.hit_at + ${lengthOf(sql)} end`

/** The vendor of an agent's calls, as text, where nothing says so. */
export const vendorOfAgent = (sql: ISql, agent: Fragment): Fragment =>
  sql`coalesce(${JSON.stringify(VENDORS)}::text::json->>${agent}, 'other')`

/** The windows that are looked at: those that are over at `from` or later, of people with these ids or addresses; of all without. */
export interface Touched {
  keys?: readonly string[]
  from?: string
}

/** The windows `w` that were hit, with the next call as it follows from the sessions. */
const computed = (sql: ISql, orgId: string, { keys, from }: Touched): Fragment => sql`
  select
    w.owner, w.vendor, w.limit_name, w.scope, w.resets, w.starts, w.resumed_at as known,
    (
      select min(t.started_at)
      from session_usage u
      join session_details d
        on d.org_id = ${orgId}
        and d.session_id = u.session_id
      cross join lateral json_to_recordset(d.detail->'turn_records')
        as t (role text, started_at timestamptz, tokens json, vendor text)
      where u.org_id = ${orgId}
        and u.member = w.member
        -- a day of any time zone, for the index
        and u.day >= (w.hit_at at time zone 'UTC' - ${LONGEST_SESSION}::interval)::date - 1
        and u.day <= (${hitEnd(sql)} at time zone 'UTC')::date + 1
        and u.created_at < ${hitEnd(sql)}
        and u.created_at > w.hit_at - ${LONGEST_SESSION}::interval
        and coalesce(u.ended_at, u.created_at) > w.hit_at
        and u.is_main
        and t.role = 'assistant'
        and t.started_at > w.hit_at
        and t.started_at < ${hitEnd(sql)}
        -- what failed has no answer
        and coalesce((t.tokens->>'output')::bigint, 1) > 0
        and coalesce(t.vendor, d.detail->>'vendor', ${vendorOfAgent(sql, sql`(d.detail->>'source')`)}) = w.vendor
    ) as resumed_at
  from limit_windows w
  where w.org_id = ${orgId}
    and w.hit_at is not null
    and w.member <> ''
    ${from === undefined ? sql`` : sql`and ${hitEnd(sql)} >= ${from}::timestamptz`}
    ${
      keys === undefined
        ? sql``
        : sql`
          and w.member = any (array(
            select ${personOf(sql, orgId, sql`n.key`)}
            from unnest(${[...keys]}::text[]) as n (key)
          ))`
    }`

/** Finds the next calls of windows again. Needs the organization's lock. */
export async function refreshResumed(tx: ISql, orgId: string, touched: Touched): Promise<void> {
  if (touched.keys?.length === 0) return
  const changed = await tx<MemberDay[]>`
    update limit_windows w
    set resumed_at = c.resumed_at
    from (${computed(tx, orgId, touched)}) c
    where w.org_id = ${orgId}
      and w.owner = c.owner
      and w.vendor = c.vendor
      and w.limit_name = c.limit_name
      and w.scope = c.scope
      and w.resets = c.resets
      and w.starts = c.starts
      and w.resumed_at is distinct from c.resumed_at
    returning w.member, w.day`
  await sumWindows(tx, orgId, changed)
}

interface Called {
  user_id: string | null
  user_email: string | null
  created_at: string | Date
}

/** The same for the members of sessions that were written or deleted. */
export async function refreshResumedOf(tx: ISql, orgId: string, sessions: readonly Called[]): Promise<void> {
  const keys = new Set(sessions.flatMap(({ user_id, user_email }) => user_id ?? user_email ?? []))
  const first = Math.min(...sessions.map(({ created_at }) => new Date(created_at).getTime()))
  if (keys.size > 0) await refreshResumed(tx, orgId, { keys: [...keys], from: new Date(first).toISOString() })
}

/** Deletes the windows of a person, by their addresses. Needs the organization's lock. */
export async function deleteWindowsOf(tx: ISql, orgId: string, addresses: readonly string[]): Promise<void> {
  const deleted = await tx<MemberDay[]>`
    delete from limit_windows
    where org_id = ${orgId}
      and owner = any (${addresses.map(asciiLower)}::text[])
    returning member, day`
  await sumWindows(tx, orgId, deleted)
}

/** The next calls, as `doctor` compares them. */
const RESUMED: ProgramTable = {
  name: 'limit_windows',
  async findDiffering(sql: Sql, orgId) {
    const [row] = await sql<Record<string, string>[]>`
      select c.vendor, c.limit_name
      from (${computed(sql, orgId, {})}) c
      where c.known is distinct from c.resumed_at
      order by c.owner, c.vendor, c.limit_name, c.scope, c.resets, c.starts
      limit 1`
    return row
  },
  rebuild: (tx, orgId) => refreshResumed(tx, orgId, {}),
  describe: ({ vendor, limit_name }) => `next call after a limit (${vendor} ${limit_name})`,
}

/** The sums of the windows by the day of their first hit, else of their last observation; `blocked` in microseconds. */
const dayRows = (sql: ISql, orgId: OrgId, condition = sql``): Fragment => sql`
  select
    w.day, w.member, w.vendor, w.limit_name, w.scope, count(*) as windows, count(w.hit_at) as hits,
    coalesce(sum(
      (extract(epoch from greatest(least(${hitEnd(sql)}, w.resumed_at) - w.hit_at, '0')) * 1000000)::bigint
    ), 0)::bigint as blocked,
    bool_or(w.overage) as overage, max(w.peak_percent) as peak_percent
  from limit_windows w
  where w.org_id = ${orgId}
    ${condition}
  group by 1, 2, 3, 4, 5
  -- the rows of a range of days are read from fewer pages
  order by 1`

export const LIMIT_DAYS: DerivedTable = {
  name: 'limit_days',
  columns: [
    ...['day', 'member', 'vendor', 'limit_name', 'scope'],
    ...['windows', 'hits', 'blocked', 'overage', 'peak_percent'],
  ],
  query: dayRows,
  describe: ({ day, vendor, limit_name }) => `windows of a day (${day}, ${vendor} ${limit_name})`,
}

/** In the order in which they follow from each other. */
export const LIMIT_TABLES = [RESUMED, LIMIT_DAYS]

/** A person and a day on which a window of theirs counts, or has counted. */
export interface MemberDay {
  member: string
  day: string
}

/** Sums the windows of these days again, of these people and of those whose they were. Needs the organization's lock. */
export async function sumWindows(
  tx: ISql,
  orgId: string,
  changed: readonly MemberDay[],
  former: readonly string[] = [],
): Promise<void> {
  if (changed.length === 0) return
  const members = new Set([...former, ...changed.map(({ member }) => member)])
  const days = new Set(changed.map(({ day }) => day))
  const condition = tx`and w.day = any(${[...days]}::date[]) and w.member = any(${[...members]}::text[])`
  await sumWindowsOf(tx, orgId, condition)
}

/** The same of those that meet a condition on `w.day` and `w.member`. */
export async function sumWindowsOf(tx: ISql, orgId: string, condition: Fragment): Promise<void> {
  await tx`
    delete from limit_days w
    where w.org_id = ${orgId}
      ${condition}`
  await tx`
    insert into limit_days (org_id, ${tx.unsafe(LIMIT_DAYS.columns.join(', '))})
    select ${orgId}, q.*
    from (${dayRows(tx, orgId, condition)}) q`
}
