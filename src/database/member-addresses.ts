// Parts of statements that find the person of an address or id. The column `member` of usage, of its sums, of findings and
// of windows of limits is the key of the person: the id of the member who has the address that they were sent with, else
// that address or id. `updatePersons` keeps it so.

import { asciiLower } from '../base/text.ts'
import type { Fragment, ISql } from './client.ts'
import type { OrgId } from './derived-tables.ts'

/** A subquery of members by every address they have: `address`, the member's `id` and own `email`. */
export const memberAddresses = (sql: ISql, orgId: OrgId): Fragment => sql`
  (
    select m.id, m.email, m.email as address
    from members m
    where m.org_id = ${orgId}
    union all
    select m.id, m.email, l.email as address
    from member_aliases l
    join members m on m.org_id = l.org_id and m.email = l.member_email
    where l.org_id = ${orgId}
  )`

/** The key of the person who has an address or id. */
export const personOf = (sql: ISql, orgId: OrgId, sent: Fragment): Fragment => sql`
  coalesce((select a.id from ${memberAddresses(sql, orgId)} a where a.address = ${sent} limit 1), ${sent})`

/** The same of a parameter: an id, or an address in any case. An id in lower case may be another's. */
export const personGiven = (sql: ISql, orgId: string, member: string): Fragment =>
  personOf(sql, orgId, sql`${member.includes('@') ? asciiLower(member) : member}::text`)

/** Joins the member `m` whose key it is, if it is one's. */
export const memberOf = (sql: ISql, orgId: string, person: Fragment): Fragment => sql`
  left join members m
    on m.org_id = ${orgId}
    and m.id = ${person}`

/** The member `m` of a key as JSON: `id` and `email`, one of them null for a key that no member has, all for an empty key. */
export const memberItem = (sql: ISql, key: Fragment): Fragment => sql`
  case
    when m.id is not null then json_build_object('id', m.id, 'email', m.email)
    when ${key} like '%@%' then json_build_object('id', null, 'email', ${key})
    when ${key} <> '' then json_build_object('id', ${key}, 'email', null)
  end`

/** The own address of the member who has this address, as alias or own; ignores case. */
export async function findOwnAddress(sql: ISql, orgId: string, email: string): Promise<string | undefined> {
  const [row] = await sql<{ email: string }[]>`
    select p.email
    from ${memberAddresses(sql, orgId)} p
    where p.address = ${asciiLower(email).replaceAll('\0', '')}`
  return row?.email
}
