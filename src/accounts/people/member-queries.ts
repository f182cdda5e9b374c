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

/** The ways in of a member: an account, and keys that are bound to them. */
type WaysIn = { hasAccount: boolean; hasKey: boolean }

/** The ways in of these members, by id. */
export async function findWaysIn(
  tx: ISql,
  orgId: string,
  memberIds: readonly string[],
): Promise<Map<string, WaysIn>> {
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
