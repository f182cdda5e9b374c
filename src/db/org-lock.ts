import type { ISql } from './client.ts'

/**
 * Takes the organization's lock until the end of the transaction. Writers of one organization wait here for each other, so
 * that every later statement sees all that was committed before it.
 */
export async function lockOrganization(tx: ISql, orgId: string): Promise<void> {
  const rows = await tx`
    select l.org_id
    from org_locks l
    where l.org_id = ${orgId}
    for update`
  if (rows.length === 0) throw new Error(`organization ${orgId} has no lock`)
}
