import { inBatches, sumOf } from '../../base/batches.ts'
import type { Sql } from '../../database/client.ts'
import { inOrganization } from '../../database/org-lock.ts'
import { deleteOldest } from './append.ts'

/** Organizations in one round; the next round continues. */
const MAX_ORGANIZATIONS = 1_000

/** Audit entries deleted in one transaction, which holds the organization's lock for some 100 ms. */
const AUDIT_BATCH = 5_000

/** Deletes the audit entries before `before` in batches, with their counts. Returns how many. */
export async function deleteOldAuditEntries(sql: Sql, before: Date): Promise<number> {
  const organizations = await sql<{ org_id: string }[]>`
    select o.org_id
    -- every organization has one row there, on the same node as its entries
    from org_locks o
    join organizations t on t.org_id = o.org_id and t.deleted_at is null
    where exists (
      select 1
      from audit_log l
      where l.org_id = o.org_id
        and l.created_at < ${before}
    )
    limit ${MAX_ORGANIZATIONS}`
  return await sumOf(organizations, ({ org_id }) =>
    inBatches(AUDIT_BATCH, () =>
      inOrganization(sql, org_id, (tx) => deleteOldest(tx, org_id, before, AUDIT_BATCH)),
    ),
  )
}
