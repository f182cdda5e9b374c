import type { ISql } from '../../database/client.ts'

/** Ends all ways in of a member: sessions of the browser, password, invitation, and devices that wait. */
export async function removeAccount(tx: ISql, orgId: string, memberId: string): Promise<void> {
  for (const table of ['browser_sessions', 'device_requests', 'invitations', 'accounts']) {
    await tx`
      delete from ${tx(table)}
      where org_id = ${orgId}
        and member_id = ${memberId}`
  }
}

/** Ids of those of the members who can sign in. */
export async function findWithAccount(
  tx: ISql,
  orgId: string,
  memberIds: readonly string[],
): Promise<Set<string>> {
  const rows = await tx<{ member_id: string }[]>`
    select a.member_id
    from accounts a
    where a.org_id = ${orgId}
      and a.member_id = any(${[...memberIds]}::text[])`
  return new Set(rows.map(({ member_id }) => member_id))
}

/** Addresses of those of the members who act by keys that are bound to them. */
export async function findWithKey(tx: ISql, orgId: string, emails: readonly string[]): Promise<Set<string>> {
  const rows = await tx<{ email: string }[]>`
    select k.member_email as email
    from api_keys k
    where k.org_id = ${orgId}
      and k.member_email = any(${[...emails]}::text[])
      and k.revoked_at is null`
  return new Set(rows.map(({ email }) => email))
}
