import type { ISql } from './client.ts'

/**
 * Locks the organization's data for writing until the end of the transaction. Writers of one organization
 * wait for each other, so that the statements after the lock see everything that was committed before.
 * Moves the version of the data, by which responses in memory are known to be current
 * (http/responses/response-cache.ts): a random one, so that a restored database never has a version again.
 */
export async function lockOrganization(tx: ISql, orgId: string): Promise<void> {
  const { count } = await tx`
    update org_locks
    set version = ${crypto.randomUUID()}
    where org_id = ${orgId}`
  if (count === 0) throw new Error(`organization ${orgId} has no lock`)
}
