// Reads members by id, address or list, removes them, and sums the team's activity.

import { TIME_PATTERN } from '../../base/dates.ts'
import { asciiLower } from '../../base/text.ts'
import type { ISql } from '../../database/client.ts'
import { memberAddresses } from '../../database/member-addresses.ts'
import { deleteById } from '../../database/rows.ts'
import type { Member, TeamOverview } from './team-model.ts'

/** The columns of every list of members `m`. */
export const memberColumns = (sql: ISql) => sql`
  m.id, m.email, m.display_name, m.role, to_char(m.joined_at at time zone 'UTC', ${TIME_PATTERN}) as joined_at, m.team`

/** A member with their aliases, in order. */
export interface MemberWithAliases extends Member {
  aliases: string[]
}

/** The aliases of a member `m`, in order. */
export const aliasColumn = (sql: ISql) => sql`
  array(
    select l.email
    from member_aliases l
    where l.org_id = m.org_id
      and l.member_email = m.email
    order by l.email
  ) as aliases`

/** Lists members like `listMembers`, with their aliases; `only`: a condition on `m`. */
export const listMembersWithAliases = async (sql: ISql, orgId: string, only = sql``) =>
  await sql<MemberWithAliases[]>`
    select ${memberColumns(sql)}, ${aliasColumn(sql)}
    from members m
    where m.org_id = ${orgId}
      ${only}
    order by m.joined_at, m.id`

/** The organization's members by `joined_at`, then `id`. */
export async function listMembers(sql: ISql, orgId: string): Promise<Member[]> {
  return await sql<Member[]>`
    select ${memberColumns(sql)}
    from members m
    where m.org_id = ${orgId}
    order by m.joined_at, m.id`
}

/** The member with this e-mail address, which is no alias; ignores case. */
export const findMember = async (sql: ISql, orgId: string, email: string) =>
  (await listMembersWithAliases(sql, orgId, sql`and m.email = ${asciiLower(email).replaceAll('\0', '')}`))[0]

export const findMemberById = async (sql: ISql, orgId: string, id: string) =>
  (await listMembersWithAliases(sql, orgId, sql`and m.id = ${id}`))[0]

/** Whether an admin, or the identity provider, gave the member's role: a record without the scope admin did not. */
export async function hasGivenRole(sql: ISql, orgId: string, id: string): Promise<boolean> {
  const [row] = await sql<{ role_given: boolean }[]>`
    select m.role_given
    from members m
    where m.org_id = ${orgId}
      and m.id = ${id}`
  return row?.role_given === true
}

/** The ids of these members, all addresses they have, and `addresses`: what their sessions can have been sent with. */
export async function findKeysOf(
  sql: ISql,
  orgId: string,
  ids: readonly string[],
  addresses: readonly string[],
): Promise<string[]> {
  if (ids.length + addresses.length === 0) return []
  const rows = await sql<{ address: string }[]>`
    select a.address
    from ${memberAddresses(sql, orgId)} a
    where a.id = any(${[...ids]}::text[])`
  return [...new Set([...ids, ...addresses, ...rows.map(({ address }) => address)])]
}

/**
 * Removes the member with this e-mail address, ignoring case, and returns it. Needs the organization's lock, and that the
 * member has no aliases: see `removeAliases`.
 */
export async function removeMember(tx: ISql, orgId: string, email: string): Promise<Member | undefined> {
  // two statements: Citus refuses to_char in what a delete returns
  const member = await findMember(tx, orgId, email)
  if (member === undefined) return undefined
  await deleteById(tx, orgId, member.id, 'members')
  return member
}

const HOUR_MS = 3_600_000
const ACTIVITY_MS = 168 * HOUR_MS

/** The members, and their activity in the 168 hours up to `now`, both ends included. */
export async function getTeam(sql: ISql, orgId: string, now: Date): Promise<TeamOverview> {
  const members = await listMembers(sql, orgId)
  return { members, activity_summary: await getActivity(sql, orgId, now) }
}

/**
 * Sums the counts of whole hours, counts the sessions in the parts of the first and last hour, and looks for one session per
 * member. The cost depends on the number of members, not of sessions.
 */
async function getActivity(sql: ISql, orgId: string, now: Date): Promise<TeamOverview['activity_summary']> {
  const from = new Date(now.getTime() - ACTIVITY_MS)
  const firstHour = new Date(Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS)
  const lastHour = new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS)
  const [row] = await sql<{ sessions: string; active: string }[]>`
    select
      (
        select coalesce(sum(h.sessions), 0)
        from session_hours h
        where h.org_id = ${orgId}
          and h.hour >= ${firstHour}
          and h.hour < ${lastHour}
      ) + (
        select count(*)
        from sessions s
        where s.org_id = ${orgId}
          and s.created_at >= ${from}
          and s.created_at < ${firstHour}
      ) + (
        select count(*)
        from sessions s
        where s.org_id = ${orgId}
          and s.created_at >= ${lastHour}
          and s.created_at <= ${now}
      ) as sessions,
      (
        select count(*)
        from members m
        cross join lateral (
          select
          from session_usage u
          where u.org_id = ${orgId}
            and u.member = m.id
            -- a day of any time zone, for the index
            and u.day >= (${from}::timestamptz at time zone 'UTC')::date - 1
            and u.created_at >= ${from}
            and u.created_at <= ${now}
            and u.is_main
          limit 1
        ) found
        where m.org_id = ${orgId}
      ) as active`
  return {
    sessions_last_7d: Number(row?.sessions ?? 0),
    active_members_last_7d: Number(row?.active ?? 0),
  }
}
