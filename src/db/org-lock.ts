import type { ISql } from './client.ts'

/**
 * Waits for and holds, to the end of the transaction, the right to write the organization's data: writers of one
 * organization queue here, so that every later statement sees all that was committed before it.
 */
export async function lockOrganization(tx: ISql, orgId: string): Promise<void> {
  const rows = await tx`
    select l.org_id
    from org_locks l
    where l.org_id = ${orgId}
    for update`
  if (rows.length === 0) throw new Error(`organization ${orgId} has no lock`)
}
