import type { ISql } from './client.ts'

/**
 * Locks the organization's data for writing until the end of the transaction. Writers of one organization
 * wait for each other, so that the statements after the lock see everything that was committed before.
 */
export async function lockOrganization(tx: ISql, orgId: string): Promise<void> {
  const rows = await tx`
    select l.org_id
    from org_locks l
    where l.org_id = ${orgId}
    for update`
  if (rows.length === 0) throw new Error(`organization ${orgId} has no lock`)
}
