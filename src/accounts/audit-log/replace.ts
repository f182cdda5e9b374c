import type { ISql } from '../../database/client.ts'
import { counting } from '../../database/rollups.ts'
import { unnest } from '../../database/rows.ts'
import { AUDIT_ROLLUP } from './rollup.ts'

/** The texts of an entry. */
interface EntryTexts {
  id: string
  action: string
  userId: string
  /** JSON text of an object */
  details: string
}

/** The entries' texts, as they are stored. */
export async function findTexts(tx: ISql, orgId: string, ids: readonly string[]): Promise<EntryTexts[]> {
  return await tx<EntryTexts[]>`
    select l.id, l.action, l.user_id as "userId", l.details::text as details
    from audit_log l
    where l.org_id = ${orgId}
      and l.id = any(${[...ids]}::text[])`
}

/** Replaces the texts of entries and counts the entries again; ids and times stay. Needs the organization's lock. */
export async function replaceTexts(tx: ISql, orgId: string, entries: readonly EntryTexts[]): Promise<void> {
  const ids = entries.map(({ id }) => id)
  if (ids.length === 0) return
  const replaced = tx`s.id = any(${ids}::text[])`
  await counting(
    tx,
    orgId,
    [AUDIT_ROLLUP],
    { before: replaced, after: replaced },
    () => tx`
      update audit_log l
      set action = n.action, user_id = n.user_id, details = n.details::json
      from ${unnest(tx, entries, {
        id: 'text',
        action: 'text',
        user_id: ['text', ({ userId }) => userId],
        details: 'text',
      })}
      where l.org_id = ${orgId}
        and l.id = n.id`,
  )
}
