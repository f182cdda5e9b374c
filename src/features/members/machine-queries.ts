// Lists machines, with those that have stopped sending.

import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { TIME_PATTERN } from '../../base/dates.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import { memberItem, memberOf, personOf } from '../../database/member-addresses.ts'
import { readPage } from '../../database/rows.ts'
import type { PageQuery } from '../../http/query.ts'
import type { MachinePage } from './team-model.ts'

/** The member or other user of a machine `k`, as JSON. */
const userOf = (sql: ISql, orgId: string): Fragment => sql`
  (
    select ${memberItem(sql, sql`k.user_key`)}
    from (values (1)) one
    ${memberOf(sql, orgId, personOf(sql, orgId, sql`k.user_key`))}
  )`

/** A page of the machines that send records, the one seen last first; with `onlyMember` of those that send theirs. */
export const listMachines = (sql: Sql, orgId: string, query: PageQuery, onlyMember: VisibleMember | null) =>
  readPage<MachinePage['data'][number]>(sql, query, {
    columns: sql`
      ${userOf(sql, orgId)} as member,
      k.machine, to_char(k.last_seen_at at time zone 'UTC', ${TIME_PATTERN}) as last_seen_at, k.sessions::float8 as sessions`,
    from: sql`
      from machines k
      where k.org_id = ${orgId}
        ${onlyMember === null ? sql`` : sql`and ${personOf(sql, orgId, sql`k.user_key`)} = ${onlyMember.id}`}`,
    order: sql`k.last_seen_at desc, k.machine, k.user_key`,
  })

/** A machine that has not sent records for some days; `days` are whole ones. */
interface SilentMachine {
  machine: string
  user_key: string
  days: number
}

/**
 * `from machines k where …`: each machine once. A name without a user counts only where no user has it: a machine that has sent
 * nothing but commits has one, until it sends sessions.
 */
export const fromMachines = (sql: ISql, orgId: string) => sql`
  from machines k
  where k.org_id = ${orgId}
    and (
      k.user_key <> ''
      or not exists (
        select
        from machines o
        where o.org_id = ${orgId}
          and o.user_key <> ''
          and o.machine = k.machine
      )
    )`

/** The organization's machines that have been silent for at least `silentDays`, and for `goneDays`. */
export async function findSilentMachines(
  sql: ISql,
  orgId: string,
  now: Date,
  { silentDays, goneDays }: { silentDays: number; goneDays: number },
) {
  const rows = await sql<SilentMachine[]>`
    select k.machine, k.user_key, floor(extract(epoch from ${now}::timestamptz - k.last_seen_at) / 86400)::integer as days
    ${fromMachines(sql, orgId)}
    order by k.last_seen_at, k.machine, k.user_key`
  return {
    heard: rows.filter(({ days }) => days < silentDays).length,
    /** Longest first. */
    silent: rows.filter(({ days }) => days >= silentDays && days < goneDays),
    /** So long that they are not expected to come back. */
    gone: rows.filter(({ days }) => days >= goneDays).length,
  }
}

/** Machines that sent sessions and are silent, those of the last `goneDays`, the longest silent first. */
export const listSilent = async (
  sql: Sql,
  orgId: string,
  onlyMember: VisibleMember | null,
  now: Date,
  { silentDays, goneDays }: { silentDays: number; goneDays: number },
): Promise<MachinePage['data']> =>
  await sql<MachinePage['data']>`
    select
      ${userOf(sql, orgId)} as member,
      k.machine, to_char(k.last_seen_at at time zone 'UTC', ${TIME_PATTERN}) as last_seen_at, k.sessions::float8 as sessions
    ${fromMachines(sql, orgId)}
      ${onlyMember === null ? sql`` : sql`and ${personOf(sql, orgId, sql`k.user_key`)} = ${onlyMember.id}`}
      and k.sessions > 0
      and k.last_seen_at < ${now}::timestamptz - ${silentDays}::integer * interval '1 day'
      and k.last_seen_at >= ${now}::timestamptz - ${goneDays}::integer * interval '1 day'
    order by k.last_seen_at, k.machine, k.user_key
    limit 20`
