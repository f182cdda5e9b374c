import { asciiLower } from '../base/text.ts'
import type { Fragment, ISql } from './client.ts'
import type { OrgId } from './derived-tables.ts'

/**
 * A subquery of members by every address they have: `address`, the member's `id`, own `email` and `team`. What is stored keeps
 * the address that it was sent with; whose that is, is looked up when it is read.
 */
export const memberAddresses = (sql: ISql, orgId: OrgId): Fragment => sql`
  (
    select m.id, m.email, m.email as address, m.team
    from members m
    where m.org_id = ${orgId}
    union all
    select m.id, m.email, l.email as address, m.team
    from member_aliases l
    join members m on m.org_id = l.org_id and m.email = l.member_email
    where l.org_id = ${orgId}
  )`

/**
 * The values of `member` in sessions of the member: a session has the id or the address, own or alias, that it was sent with. The
 * parameter is an id, or an address in any case.
 */
export const memberKeys = (sql: ISql, orgId: string, member: string) => {
  // an id in lower case may be another's
  const key = member.includes('@') ? asciiLower(member) : member
  return sql`
  any (array(
    select ${key}::text
    union
    -- an index of a column is used with its own collation, which gives way to that of an address
    select k.key collate "default"
    from ${memberAddresses(sql, orgId)} w
    join ${memberAddresses(sql, orgId)} o on o.id = w.id
    cross join lateral unnest(array[o.id, o.address]) as k (key)
    where w.address = ${key}::text
      or w.id = ${key}::text
  ))`
}

/** The member who has the `key` of a session, an id or an address, as the table `m` for a lateral join. */
export const memberOfKey = (sql: ISql, orgId: string, key: Fragment): Fragment => sql`
  left join lateral (
    select a.id, a.email
    from ${memberAddresses(sql, orgId)} a
    where a.id = ${key}
      or a.address = ${key}
    limit 1
  ) m on true`

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
