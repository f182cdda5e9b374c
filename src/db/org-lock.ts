import type { ISql } from './client.ts'

/**
 * Locks the organization's row of `org_locks` until the end of the transaction. Writers of one organization run one
 * after the other: every statement after this one sees what the writers before have committed.
 */
export async function lockOrganization(tx: ISql, orgId: string): Promise<void> {
  const rows = await tx`
    select l.org_id
    from org_locks l
    where l.org_id = ${orgId}
    for update`
  if (rows.length === 0) throw new Error(`organization ${orgId} has no lock`)
}
