// Finds people's accounts by address or identity provider, saves passwords, and ends all ways in of a member.

import type { Role } from '../../analysis/records/member.ts'
import { asciiLower } from '../../base/text.ts'
import type { ISql } from '../../database/client.ts'
import { deleteFrom } from '../../database/rows.ts'

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

interface Subject {
  issuer: string
  subject: string
}

/** The id of the member who signs in as this person of the identity provider. */
export async function findBySubject(sql: ISql, orgId: string, { issuer, subject }: Subject) {
  const [row] = await sql<{ memberId: string }[]>`
    select a.member_id as "memberId"
    from accounts a
    where a.org_id = ${orgId}
      and a.issuer = ${issuer}
      and a.subject = ${subject}`
  return row?.memberId
}

/** Whether the member signs in as some person of an identity provider. */
export async function hasSubject(sql: ISql, orgId: string, memberId: string): Promise<boolean> {
  const rows = await sql`
    select 1
    from accounts a
    where a.org_id = ${orgId}
      and a.member_id = ${memberId}
      and a.subject is not null`
  return rows.length > 0
}

/** Gives the member this password, or binds them to the person of the identity provider. Needs the organization's lock. */
export async function saveAccount(
  tx: ISql,
  orgId: string,
  member: { id: string; email: string },
  by: { passwordHash: string } | Subject,
): Promise<void> {
  const { passwordHash, issuer, subject } = { passwordHash: null, issuer: null, subject: null, ...by }
  await tx`
    insert into accounts as a (org_id, member_id, email, password_hash, issuer, subject)
    values (${orgId}, ${member.id}, ${member.email}, ${passwordHash}, ${issuer}, ${subject})
    on conflict (org_id, member_id) do update set
      email = excluded.email,
      password_hash = coalesce(excluded.password_hash, a.password_hash),
      issuer = coalesce(excluded.issuer, a.issuer),
      subject = coalesce(excluded.subject, a.subject)`
}

export async function endSessionsOf(tx: ISql, orgId: string, memberId: string): Promise<void> {
  await deleteFrom(tx, orgId, 'browser_sessions', tx`and t.member_id = ${memberId}`)
}

/** Ends all ways in of a member: sessions of the browser, password, invitation, and devices that wait. */
export async function removeAccount(tx: ISql, orgId: string, memberId: string): Promise<void> {
  for (const table of ['browser_sessions', 'device_requests', 'invitations', 'accounts'])
    await deleteFrom(tx, orgId, table, tx`and t.member_id = ${memberId}`)
}

type WaysIn = { hasAccount: boolean; hasKey: boolean }

export async function findWaysIn(tx: ISql, orgId: string, memberIds: readonly string[]) {
  const rows = await tx<(WaysIn & { id: string })[]>`
    select m.id,
      exists (select from accounts a where a.org_id = ${orgId} and a.member_id = m.id) as "hasAccount",
      exists (
        select
        from api_keys k
        where k.org_id = ${orgId}
          and k.member_email = m.email
          and k.revoked_at is null
      ) as "hasKey"
    from members m
    where m.org_id = ${orgId}
      and m.id = any(${[...memberIds]}::text[])`
  return new Map(rows.map((row) => [row.id, row]))
}
