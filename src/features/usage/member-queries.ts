// Finds members by what a filter names, and those of a team. A session counts for the team that its member is in when it is
// read: nothing is summed by team.

import { fieldError } from '../../base/errors.ts'
import { asciiLower } from '../../base/text.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { memberAddresses } from '../../database/member-addresses.ts'

/** The ids of those of the members, given by id or by an address in any case, own or alias, that there are; by what was given. */
export async function findMemberIds(sql: ISql, orgId: string, members: readonly string[]) {
  if (members.length === 0) return new Map<string, string>()
  const keys = members.map((member) =>
    (member.includes('@') ? asciiLower(member) : member).replaceAll('\0', ''),
  )
  const rows = await sql<{ key: string; id: string }[]>`
    select a.address as key, a.id
    from ${memberAddresses(sql, orgId)} a
    where a.address = any(${keys}::text[])
    union all
    select m.id, m.id
    from members m
    where m.org_id = ${orgId}
      and m.id = any(${keys}::text[])`
  const ids = new Map(rows.map(({ key, id }) => [key, id]))
  return new Map(
    members.flatMap((member, index) => {
      const id = ids.get(keys[index] ?? '')
      return id === undefined ? [] : [[member, id] as const]
    }),
  )
}

export const NO_MEMBER = 'there is no such member'

/** The id of one that `field` of a request names. Throws VALIDATION_ERROR where there is none. */
export async function getMemberId(sql: ISql, orgId: string, member: string, field: string): Promise<string> {
  const id = (await findMemberIds(sql, orgId, [member])).get(member)
  if (id === undefined) throw fieldError(field, NO_MEMBER)
  return id
}

/** The ids of the members `m` that meet the condition, as an array. */
export const selectMemberIds = (sql: ISql, orgId: string, condition: Fragment): Fragment => sql`
  (array(
    select m.id
    from members m
    where m.org_id = ${orgId}
      and ${condition}
  ))`

/** The condition that `member`, the column of a session's row, is of this team; '': of somebody in none, or of nobody. */
export const isOfTeam = (sql: ISql, orgId: string, member: Fragment, team: string): Fragment =>
  team === ''
    ? sql`${member} <> all ${selectMemberIds(sql, orgId, sql`m.team is not null`)}`
    : sql`${member} = any ${selectMemberIds(sql, orgId, sql`m.team = ${team}`)}`
