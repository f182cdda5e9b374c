import type { ISql } from '../../database/client.ts'
import type { Renaming } from '../../database/rollups.ts'
import { renameInUsage } from '../usage/project-write.ts'
import { renameInRollups } from './rollup.ts'

/**
 * Renames the project of sessions, of what they used and of their counts. Returns how many sessions. Needs the
 * organization's lock.
 */
export async function renameInSessions(tx: ISql, orgId: string, renaming: Renaming): Promise<number> {
  const { from, to } = renaming
  // the hash includes the project: without one the session is stored again the next time that it is sent
  const { count } = await tx`
    update sessions
    set project = ${to}, content_hash = ''
    where org_id = ${orgId}
      and project = ${from}`
  if (count === 0) return 0
  await renameInUsage(tx, orgId, renaming)
  await renameInRollups(tx, orgId, renaming)
  return count
}

/** Sessions that were stored under another project than the one that they were sent with. */
export interface MovedSessions {
  from: string
  to: string
  sessions: number
}

/** Counts the sessions that have another project than they had. */
export function movedOf(
  rows: readonly { id: string; project: string }[],
  stored: ReadonlyMap<string, { project: string }>,
): MovedSessions[] {
  const moved = new Map<string, MovedSessions>()
  for (const { id, project: to } of rows) {
    const from = stored.get(id)?.project ?? to
    if (from === to) continue
    const key = JSON.stringify([from, to])
    const known = moved.get(key) ?? { from, to, sessions: 0 }
    moved.set(key, { ...known, sessions: known.sessions + 1 })
  }
  return [...moved.values()]
}
