// Reads members as GET /members shows them: with aliases, the last sign-in, and whether they are invited.

import { TIME_PATTERN } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import { asciiLower } from '../../base/text.ts'
import type { ISql } from '../../database/client.ts'
import { readPage } from '../../database/rows.ts'
import { aliasColumn, memberColumns } from './member-queries.ts'
import type { Member, MemberListQuery, MemberPage } from './model.ts'

const listedColumns = (sql: ISql) => sql`
  ${memberColumns(sql)},
  to_char(a.last_signed_in_at at time zone 'UTC', ${TIME_PATTERN}) as last_signed_in_at,
  case when a.member_id is null and i.member_id is not null then 'invited' else 'active' end as status,
  ${aliasColumn(sql)}`

const fromMembers = (sql: ISql, orgId: string) => sql`
  from members m
  left join accounts a on a.org_id = ${orgId} and a.member_id = m.id
  left join invitations i on i.org_id = ${orgId} and i.member_id = m.id and i.expires_at > now()
  where m.org_id = ${orgId}`

const conditions = (sql: ISql, { q, role }: MemberListQuery) => sql`
  ${role === undefined ? sql`` : sql`and m.role = ${role}`}
  ${q === undefined ? sql`` : sql`and (strpos(m.email, ${asciiLower(q)}) > 0 or strpos(lower(m.display_name), ${q.toLowerCase()}) > 0)`}`

export const listMemberPage = (sql: ISql, orgId: string, query: MemberListQuery): Promise<MemberPage> =>
  readPage<Member>(sql, query, {
    columns: listedColumns(sql),
    from: sql`${fromMembers(sql, orgId)} ${conditions(sql, query)}`,
    order: sql`m.joined_at, m.id`,
  })

/** Reads one member. Throws NOT_FOUND. */
export async function getListedMember(sql: ISql, orgId: string, id: string): Promise<Member> {
  const [row] = await sql<Member[]>`
    select ${listedColumns(sql)}
    ${fromMembers(sql, orgId)}
      and m.id = ${id}`
  if (row === undefined) throw new ApiError('NOT_FOUND', 'There is no such member')
  return row
}
