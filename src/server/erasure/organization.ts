// Deletes an organization, a table after the other, and finishes deletions that were interrupted.

import { inBatches } from '../../base/batches.ts'
import type { Sql } from '../../database/client.ts'
import { deleteFrom } from '../../database/rows.ts'
import { deleteSomeRows, endOrganization, listOrganizationTables } from './queries.ts'

/** Rows deleted by one statement. */
const BATCH = 5_000
/** A deletion begun that long ago was interrupted: the server finishes it. */
const INTERRUPTED_AFTER_MIN = 5

/**
 * Deletes an organization. At first nobody can use it any more: its keys, endpoints and badges end in one transaction,
 * and whatever is on its way for it is refused. Then its rows go, in batches that nobody waits for. Returns how many. May
 * be called again after it was interrupted.
 */
export async function deleteOrganization(sql: Sql, orgId: string): Promise<number> {
  await sql.begin((tx) => endOrganization(tx, orgId))
  let rows = 0
  for (const { name } of await listOrganizationTables(sql)) {
    if (name === 'organizations') continue
    rows += await inBatches(BATCH, () => deleteSomeRows(sql, name, orgId, BATCH))
  }
  await deleteFrom(sql, orgId, 'organizations')
  return rows
}

/** Finishes deletions that were interrupted. Returns how many. */
export async function finishDeletions(sql: Sql): Promise<number> {
  const organizations = await sql<{ id: string }[]>`
    select o.org_id as id
    from organizations o
    where o.deleted_at < now() - ${INTERRUPTED_AFTER_MIN} * interval '1 minute'
    order by o.org_id`
  for (const { id } of organizations) await deleteOrganization(sql, id)
  return organizations.length
}
