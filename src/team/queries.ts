import { TIME_PATTERN } from '../dates.ts'
import type { ISql } from '../db/client.ts'
import type { Role } from '../sync/records.ts'

/** A member as the command line shows it; `joined_at` is UTC with milliseconds. */
export interface Member {
  id: string
  email: string
  display_name: string
  role: Role
  joined_at: string
}

const memberColumns = (sql: ISql) => sql`
  m.id, m.email, m.display_name, m.role, to_char(m.joined_at at time zone 'UTC', ${TIME_PATTERN}) as joined_at`

/** The organization's members by `joined_at`, then `id`. */
export async function listMembers(sql: ISql, orgId: string): Promise<Member[]> {
  return await sql<Member[]>`
    select ${memberColumns(sql)}
    from members m
    where m.org_id = ${orgId}
    order by m.joined_at, m.id`
}

/** The member with this address, in any case. */
export async function findMember(sql: ISql, orgId: string, email: string): Promise<Member | undefined> {
  const [row] = await sql<Member[]>`
    select ${memberColumns(sql)}
    from members m
    where m.org_id = ${orgId}
      and m.email = ${email.toLowerCase().replaceAll('\0', '')}`
  return row
}

/** Removes the member with this address, in any case, and returns what it was. Needs the organization's lock. */
export async function removeMember(tx: ISql, orgId: string, email: string): Promise<Member | undefined> {
  const [row] = await tx<Member[]>`
    delete from members m
    where m.org_id = ${orgId}
      and m.email = ${email.toLowerCase().replaceAll('\0', '')}
    returning ${memberColumns(tx)}`
  return row
}
