import { findTexts, replaceTexts } from '../../accounts/audit-log/replace.ts'
import { inOrganization } from '../../database/org-lock.ts'
import { pagesOf } from '../../database/rows.ts'
import type { Erasure } from './person-tables.ts'
import { mayHave } from './queries.ts'

/** Entries changed in one transaction; each may have 16 KiB. */
const BATCH = 500

/** Replaces the person in the audit log, with its counts. Returns how many entries changed. */
export async function eraseInAudit(erasure: Erasure): Promise<number> {
  let changed = 0
  for await (const ids of pagesOf(BATCH, '', (after) => findTraced(erasure, after)))
    if (ids.length > 0) changed += await eraseInBatch(erasure, ids)
  return changed
}

async function findTraced({ sql, orgId, traces }: Erasure, after: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select l.id
    from audit_log l
    where l.org_id = ${orgId}
      and l.id > ${after}
      and (${mayHave(sql, traces, sql`l.user_id`)} or ${mayHave(sql, traces, sql`l.action`)} or ${mayHave(sql, traces, sql`l.details::text`)})
    order by l.id
    limit ${BATCH}`
  return rows.map(({ id }) => id)
}

async function eraseInBatch({ sql, orgId, traces }: Erasure, ids: readonly string[]): Promise<number> {
  return await inOrganization(sql, orgId, async (tx) => {
    const changed = (await findTexts(tx, orgId, ids)).flatMap((before) => {
      const after = {
        id: before.id,
        action: traces.erase(before.action),
        userId: traces.erase(before.userId),
        details: traces.erase(before.details),
      }
      return Bun.deepEquals(before, after) ? [] : [after]
    })
    await replaceTexts(tx, orgId, changed)
    return changed.length
  })
}
