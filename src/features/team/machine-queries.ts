import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { TIME_PATTERN } from '../../base/dates.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { memberItem, memberOfKey } from '../../database/member-addresses.ts'
import { page } from '../../http/query.ts'
import type { MachineListQuery, MachinePage } from './model.ts'

/** A page of the machines that send records, the one seen last first; with `onlyMember` of those that send theirs. */
export async function listMachines(
  sql: Sql,
  orgId: string,
  query: MachineListQuery,
  onlyMember: VisibleMember | null,
): Promise<MachinePage> {
  const visible = onlyMember === null ? sql`` : sql`and k.user_key = any (${onlyMember.keys}::text[])`
  const [row] = await sql<{ total: number; items: MachinePage['data'] | null }[]>`
    select
      (
        select count(*)::integer
        from machines k
        where k.org_id = ${orgId}
          ${visible}
      ) as total,
      (
        select json_agg(
          json_build_object(
            'member', ${memberItem(sql, sql`p.user_key`)},
            'machine', p.machine,
            'last_seen_at', to_char(p.last_seen_at at time zone 'UTC', ${TIME_PATTERN}),
            'sessions', p.sessions
          )
          order by p.last_seen_at desc, p.machine, p.user_key
        )
        from (
          select k.machine, k.last_seen_at, k.sessions, k.user_key
          from machines k
          where k.org_id = ${orgId}
            ${visible}
          order by k.last_seen_at desc, k.machine, k.user_key
          limit ${query.per_page}
          offset ${(query.page - 1) * query.per_page}
        ) p
        ${memberOfKey(sql, orgId, sql`p.user_key`)}
      ) as items`
  return page(row?.items ?? [], query, row?.total ?? 0)
}

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
