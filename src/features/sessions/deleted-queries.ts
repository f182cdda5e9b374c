// Deletes sessions and remembers it, leaves deleted and too old ones out of syncs, and reads and replaces texts for erasure.

import { DAY_MS, dateOf } from '../../base/dates.ts'
import type { ISql } from '../../database/client.ts'
import { deleteFrom, deleteOfSessions, unnest } from '../../database/rows.ts'
import type { PreparedSession } from './prepare.ts'

/** A session that was sent and not stored: it was deleted before, or is older than the organization keeps. */
export interface SkippedSession {
  id: string
  reason: 'deleted' | 'retention'
}

/** The fields of a stored session that may change: all that can contain a person's name or address. */
export interface StoredTexts
  extends Pick<PreparedSession, 'id' | 'project' | 'user_id' | 'user_email' | 'parts'> {
  /** JSON */
  detail: string
}

/** The first day (UTC) of which sessions are kept, `days` days back from today. */
export const firstKeptDay = (days: number, now: Date): string =>
  dateOf(new Date(now.getTime() - days * DAY_MS))

/**
 * The sessions without those that were deleted, unless `restore`, and without those of days that the organization does
 * not keep. A session that is restored counts as deleted no more. Needs the organization's lock.
 */
export async function withoutDeleted(
  tx: ISql,
  orgId: string,
  sent: readonly PreparedSession[],
  now: Date,
  restore: boolean,
): Promise<{ kept: readonly PreparedSession[]; skipped: SkippedSession[] }> {
  const firstDay = await findFirstKeptDay(tx, orgId, now)
  const deletions = await findDeleted(tx, orgId, [...new Set(sent.map(({ id }) => id))])
  if (firstDay === undefined && deletions.size === 0) return { kept: sent, skipped: [] }
  const skipped = new Map<string, SkippedSession>()
  const storable = sent.filter(({ id, day }) => {
    const isOld = firstDay !== undefined && day < firstDay
    if (!isOld && (restore || !deletions.has(id))) return true
    skipped.set(id, { id, reason: isOld ? 'retention' : 'deleted' })
    return false
  })
  const restored = restore ? [...deletions].filter((id) => !skipped.has(id)) : []
  await deleteOfSessions(tx, orgId, restored, 'deleted_sessions')
  return { kept: storable, skipped: [...skipped.values()] }
}

/** The first day (UTC) of which the organization keeps sessions; undefined where it keeps all. */
export async function findFirstKeptDay(tx: ISql, orgId: string, now: Date): Promise<string | undefined> {
  const [row] = await tx<{ days: number }[]>`
    select o.retention_sessions_days as days
    from organizations o
    where o.org_id = ${orgId}
      and o.retention_sessions_days is not null`
  return row === undefined ? undefined : firstKeptDay(row.days, now)
}

async function findDeleted(tx: ISql, orgId: string, ids: readonly string[]): Promise<Set<string>> {
  const rows = await tx<{ id: string }[]>`
    select d.session_id as id
    from deleted_sessions d
    where d.org_id = ${orgId}
      and d.session_id = any(${[...ids]}::text[])`
  return new Set(rows.map(({ id }) => id))
}

/** Remembers sessions that somebody deleted, so that a sync does not store them again, and deletes their telemetry that waits. */
export async function rememberDeleted(tx: ISql, orgId: string, ids: readonly string[]): Promise<void> {
  await tx`
    insert into deleted_sessions (org_id, session_id)
    select ${orgId}, n.id
    from unnest(${[...ids]}::text[]) as n (id)
    on conflict (org_id, session_id) do update set deleted_at = excluded.deleted_at`
  await deleteOfSessions(tx, orgId, ids, 'telemetry_inbox')
}

export async function deleteSessionRows(tx: ISql, orgId: string, ids: readonly string[]): Promise<void> {
  await deleteOfSessions(tx, orgId, ids, 'session_details')
  await deleteFrom(tx, orgId, 'sessions', tx`and t.id = any(${[...ids]}::text[])`)
}

export async function updateTexts(tx: ISql, orgId: string, sessions: readonly StoredTexts[]): Promise<void> {
  await tx`
    update sessions s
    set project = n.project, user_id = n.user_id, user_email = n.user_email
    from ${unnest(tx, sessions, { id: 'text', project: 'text', user_id: 'text', user_email: 'text' })}
    where s.org_id = ${orgId}
      and s.id = n.id`
  await tx`
    update session_details d
    set detail = n.detail::json, parts = n.parts
    from ${unnest(tx, sessions, { id: 'text', detail: 'text', parts: 'text' })}
    where d.org_id = ${orgId}
      and d.session_id = n.id`
}

/** These sessions as they are stored, with all that `replaceTexts` replaces. */
export async function readTexts(tx: ISql, orgId: string, ids: readonly string[]): Promise<StoredTexts[]> {
  return await tx<StoredTexts[]>`
    select s.id, s.project, s.user_id, s.user_email, d.detail, d.parts
    from sessions s
    cross join lateral (
      select d.detail::text as detail, d.parts
      from session_details d
      where d.org_id = ${orgId}
        and d.session_id = s.id
      -- keeps the planner from reading all details of the organization to join them
      offset 0
    ) d
    where s.org_id = ${orgId}
      and s.id = any(${[...ids]}::text[])`
}
