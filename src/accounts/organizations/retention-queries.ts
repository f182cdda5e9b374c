// Reads, shortens and confirms how long sessions, deliveries and audit entries are kept. A retention that is made shorter
// holds a day after it was set, or once it is confirmed: until then it deletes nothing that the one before would not, and
// what it will delete is announced.

import { TIME_PATTERN } from '../../base/dates.ts'
import { plural } from '../../base/text.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'

const wait = (sql: ISql): Fragment => sql`interval '24 hours'`
const waits = (sql: ISql): Fragment => sql`coalesce(o.retention_shortened_at > now() - ${wait(sql)}, false)`

/** The days that the organization `o` keeps sessions now; null: for ever. */
export const keptDays = (sql: ISql): Fragment => sql`
  case when ${waits(sql)} then o.retention_before_days else o.retention_sessions_days end`

/** A shorter retention that waits. */
export interface PendingRetention {
  days: number
  /** Sessions that it would delete. */
  sessions: number
  /** When it holds: RFC 3339. */
  at: string
}

export async function findPendingRetention(sql: ISql, orgId: string): Promise<PendingRetention | null> {
  const [row] = await sql<PendingRetention[]>`
    select o.retention_sessions_days as days,
      to_char((o.retention_shortened_at + ${wait(sql)}) at time zone 'UTC', ${TIME_PATTERN}) as at,
      (
        select count(*)::integer
        from sessions s
        where s.org_id = ${orgId}
          and s.created_at < (
            date_trunc('day', (o.retention_shortened_at + ${wait(sql)}) at time zone 'UTC')
              - o.retention_sessions_days * interval '1 day'
          ) at time zone 'UTC'
      ) as sessions
    from organizations o
    where o.org_id = ${orgId}
      and ${waits(sql)}`
  return row ?? null
}

const isShorter = (days: number | null, than: number | null): boolean =>
  (days ?? Infinity) < (than ?? Infinity)

/** Sets the retention of sessions, where shorter from tomorrow on unless `confirms`. Needs the organization's lock. */
export async function setRetention(
  tx: ISql,
  orgId: string,
  days: number | null | undefined,
  confirms: boolean | 'all',
): Promise<void> {
  const [row] = await tx<{ wanted: number | null; kept: number | null; isWaiting: boolean }[]>`
    select o.retention_sessions_days as wanted, ${keptDays(tx)} as kept, ${waits(tx)} as "isWaiting"
    from organizations o
    where o.org_id = ${orgId}`
  if (row === undefined) return
  const daysToKeep = confirms === false ? row.kept : row.wanted
  const wanted = days === undefined ? row.wanted : days
  const isWaiting = confirms !== 'all' && isShorter(wanted, daysToKeep)
  // the sessions that go were announced already
  const wasWaiting = confirms === false && row.isWaiting && !isShorter(wanted, row.wanted)
  await tx`
    update organizations
    set retention_sessions_days = ${wanted},
      retention_before_days = ${isWaiting ? daysToKeep : null},
      retention_shortened_at = ${isWaiting ? (wasWaiting ? tx`retention_shortened_at` : tx`now()`) : null}
    where org_id = ${orgId}`
}

/** The rows that a setting RETENTION_* deletes. */
const COUNTED = {
  RETENTION_DELIVERIES_DAYS: {
    what: 'deliveries',
    older: (sql: ISql, before: Fragment) => sql`
      from webhook_deliveries d
      where d.created_at < ${before}
        and d.completed_at < ${before}`,
  },
  RETENTION_AUDIT_DAYS: {
    what: 'audit entries',
    older: (sql: ISql, before: Fragment) => sql`from audit_log l where l.created_at < ${before}`,
  },
}
type RetentionSetting = keyof typeof COUNTED

/** Days that stand for ever: more than a setting takes. */
const FOR_EVER = 2_147_483_647

/** The days of a setting in force where a server has `wanted`; 0: for ever. The first value of a database holds at once. */
export async function daysInForce(sql: Sql, name: RetentionSetting, wanted: number): Promise<number> {
  const [row] = await sql<{ days: number }[]>`
    insert into retention_settings as r (name, days, wanted)
    values (${name}, ${wanted || FOR_EVER}, ${wanted || FOR_EVER})
    on conflict (name) do update
    set (days, wanted, shortened_at) = (
      select case when n.waits then r.days else excluded.wanted end, excluded.wanted,
        case
          when not n.waits then null
          when excluded.wanted >= r.wanted then coalesce(r.shortened_at, now())
          else now()
        end
      from (
        select excluded.wanted < r.days
          and not (excluded.wanted >= r.wanted and coalesce(r.shortened_at < now() - ${wait(sql)}, false)) as waits
      ) n
    )
    returning days`
  const days = row?.days ?? wanted
  return days === FOR_EVER ? 0 : days
}

interface Waiting {
  orgId: string | null
  /** The setting, or the organization's slug. */
  place: string
  days: number
  at: string
}

export async function listPendingRetentions(sql: ISql): Promise<Waiting[]> {
  return await sql<Waiting[]>`
    select null::text as "orgId", r.name as place, r.wanted as days,
      to_char((r.shortened_at + ${wait(sql)}) at time zone 'UTC', ${TIME_PATTERN}) as at
    from retention_settings r
    where r.shortened_at is not null
    union all
    select o.org_id, o.slug, o.retention_sessions_days,
      to_char((o.retention_shortened_at + ${wait(sql)}) at time zone 'UTC', ${TIME_PATTERN})
    from organizations o
    where ${waits(sql)}
      and o.deleted_at is null
    order by 2`
}

/** Says of a retention that waits what it will delete, and how to confirm it. */
export async function announcementOf(sql: ISql, { orgId, place, days, at }: Waiting): Promise<string> {
  if (orgId !== null) {
    const sessions = (await findPendingRetention(sql, orgId))?.sessions ?? 0
    return `${place}: from ${at} on sessions older than ${plural(days, 'day')} are deleted, ${sessions} now; org update ${place} --retention-sessions ${days} --yes does it at once`
  }
  const { what, older } = COUNTED[place as RetentionSetting]
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    ${older(sql, sql`now() - ${days} * interval '1 day'`)}`
  return `${place}: from ${at} on ${what} older than ${plural(days, 'day')} are deleted, ${row?.count ?? 0} now; retention confirm --yes does it at once`
}

/** Has the settings that wait hold at once. */
export async function confirmSettings(sql: Sql): Promise<void> {
  await sql`
    update retention_settings
    set days = wanted, shortened_at = null
    where shortened_at is not null`
}
