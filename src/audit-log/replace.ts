import type { ISql } from '../db/client.ts'
import { unnest } from '../db/rows.ts'
import { countsOf } from './append.ts'

/** The texts of an entry. */
export interface EntryTexts {
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
  await addToCounts(tx, orgId, ids, -1)
  await tx`
    update audit_log l
    set action = n.action, user_id = n.user_id, details = n.details::json
    from ${unnest(tx, entries, {
      id: 'text',
      action: 'text',
      user_id: ['text', ({ userId }) => userId],
      details: 'text',
    })}
    where l.org_id = ${orgId}
      and l.id = n.id`
  await addToCounts(tx, orgId, ids, 1)
  await tx`
    delete from audit_rollups r
    where r.org_id = ${orgId}
      and r.entries = 0`
}

async function addToCounts(tx: ISql, orgId: string, ids: readonly string[], sign: 1 | -1): Promise<void> {
  await tx`
    insert into audit_rollups as r (org_id, grain, user_id, action, bucket, entries)
    select ${orgId}, c.grain, c.user_id, c.action, c.bucket, ${sign}::integer * count(*)
    from audit_log e
    ${countsOf(tx)}
    where e.org_id = ${orgId}
      and e.id = any(${[...ids]}::text[])
    group by c.grain, c.user_id, c.action, c.bucket
    on conflict (org_id, grain, user_id, action, bucket) do update set
      entries = r.entries + excluded.entries`
}
