import { asciiLower } from '../../base/text.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { memberAddresses } from '../../database/member-addresses.ts'

// Members as they are named, and teams. A session counts for the team that its member is in when it is read: nothing is summed
// by team.

/** The ids of those of the members, given by id or by an address in any case, own or alias, that there are; by what was given. */
export async function findMemberIds(
  sql: ISql,
  orgId: string,
  members: readonly string[],
): Promise<Map<string, string>> {
  if (members.length === 0) return new Map()
  const keys = members.map((member) =>
    (member.includes('@') ? asciiLower(member) : member).replaceAll('\0', ''),
  )
  const rows = await sql<{ key: string; id: string }[]>`
    select k.key, a.id
    from ${memberAddresses(sql, orgId)} a
    cross join lateral unnest(array[a.id, a.address]) as k (key)
    where k.key = any(${keys}::text[])`
  const ids = new Map(rows.map(({ key, id }) => [key, id]))
  return new Map(
    members.flatMap((member, index) => {
      const id = ids.get(keys[index] ?? '')
      return id === undefined ? [] : [[member, id] as const]
    }),
  )
}

export const NO_MEMBER = 'there is no such member'

/** The ids and addresses `k.key` of the members `a` of `memberAddresses` that meet the condition: their sessions have one of them. */
export const keysOf = (sql: ISql, orgId: string, condition: Fragment): Fragment => sql`
  select k.key collate "default"
  from ${memberAddresses(sql, orgId)} a
  cross join lateral unnest(array[a.id, a.address]) as k (key)
  where ${condition}`

/** The condition that `member`, the column of a session's row, is of this team; '': of somebody in none, or of nobody. */
export const isOfTeam = (sql: ISql, orgId: string, member: Fragment, team: string): Fragment =>
  team === ''
    ? sql`${member} <> all (array(${keysOf(sql, orgId, sql`a.team is not null`)}))`
    : sql`${member} = any (array(${keysOf(sql, orgId, sql`a.team = ${team}`)}))`

/** One value of JSON: the teams by the ids and addresses of their members. */
export const teamsByKey = (sql: ISql, orgId: string): Fragment => sql`
  select jsonb_object_agg(k.key, a.team) as of_key
  from ${memberAddresses(sql, orgId)} a
  cross join lateral unnest(array[a.id, a.address]) as k (key)
  where a.team is not null`
