import type { ISql } from '../db/client.ts'
import type { Role } from '../records/member.ts'
import { asciiLower } from '../text.ts'

/** A membership by which somebody can sign in. */
export interface Account {
  orgId: string
  slug: string
  name: string
  memberId: string
  role: Role
  /** Null: the person signs in by the identity provider. */
  passwordHash: string | null
}

/** The accounts with this address, in any case, of one organization or of all. */
export async function findAccounts(sql: ISql, email: string, slug: string | undefined): Promise<Account[]> {
  return await sql<Account[]>`
    select a.org_id as "orgId", o.slug, o.name, a.member_id as "memberId", m.role, a.password_hash as "passwordHash"
    from accounts a
    join organizations o on o.org_id = a.org_id
    join members m on m.org_id = a.org_id and m.id = a.member_id
    where a.email = ${asciiLower(email)}
      and o.deleted_at is null
      ${slug === undefined ? sql`` : sql`and o.slug = ${slug}`}
    order by o.slug`
}

/** Gives the member this password, or without one an account for the identity provider. Needs the organization's lock. */
export async function saveAccount(
  tx: ISql,
  orgId: string,
  member: { id: string; email: string },
  passwordHash: string | null,
): Promise<void> {
  await tx`
    insert into accounts as a (org_id, member_id, email, password_hash)
    values (${orgId}, ${member.id}, ${member.email}, ${passwordHash})
    on conflict (org_id, member_id) do update set
      email = excluded.email,
      password_hash = coalesce(excluded.password_hash, a.password_hash)`
}

/** Ends the member's sessions of the browser. */
export async function endSessionsOf(tx: ISql, orgId: string, memberId: string): Promise<void> {
  await tx`
    delete from browser_sessions
    where org_id = ${orgId}
      and member_id = ${memberId}`
}
