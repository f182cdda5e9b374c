// Writes, changes and deletes sessions with their usage and all counts of them.

import { findLastChanges, NOTHING_WRITTEN, type WriteResult } from '../../../analysis/records/changes.ts'
import type { Pricer } from '../../../analysis/scoring/prices.ts'
import { idsOf } from '../../../base/ids.ts'
import { useGenericPlans } from '../../../database/citus.ts'
import type { ISql } from '../../../database/client.ts'
import { counting } from '../../../database/rollups.ts'
import { refreshResumedOf } from '../../usage/windows-write.ts'
import {
  type UsedSession,
  type UsedSessions,
  updateFindingCounts,
  updateUsage,
  usedSession,
} from '../../usage/write.ts'
import {
  deleteSessionRows,
  type SkippedSession,
  type StoredTexts,
  updateTexts,
  withoutDeleted,
} from '../deleted-queries.ts'
import type { PreparedSession } from '../prepare.ts'
import { SESSION_ROLLUPS, type Touching, updateDirectories } from '../rollup.ts'
import { storeSessions } from '../store-write.ts'
import { findStored, type StoredSession } from '../stored-queries.ts'
import { withKnownNotes } from './known-notes.ts'
import { keepDecisions, withKnownFragments } from './merge-fragments.ts'
import { type Reassignment, withUsers } from './reassignment-queries.ts'
import { findSubAgents, type MergeOptions, withSubAgentsTelemetry } from './telemetry.ts'

/** Sessions that were stored under another project than the one that they were sent with. */
export interface MovedSessions {
  from: string
  to: string
  sessions: number
}

/** Counts the sessions that have another project than they had. */
function movedOf(
  rows: readonly { id: string; project: string }[],
  stored: ReadonlyMap<string, { project: string }>,
): MovedSessions[] {
  const moved = new Map<string, MovedSessions>()
  for (const { id, project: to } of rows) {
    const from = stored.get(id)?.project ?? to
    if (from === to) continue
    const key = JSON.stringify([from, to])
    moved.getOrInsertComputed(key, () => ({ from, to, sessions: 0 })).sessions += 1
  }
  return [...moved.values()]
}

export interface WrittenSession {
  session: PreparedSession
  before: StoredSession | undefined
}

export interface SessionsWritten extends WriteResult {
  /** The sessions that were left out; they count as unchanged. */
  skipped: readonly SkippedSession[]
  /** Numbers of those that had another project. */
  moved: readonly MovedSessions[]
  changed: readonly WrittenSession[]
}

export interface WriteOptions extends MergeOptions {
  /** Becomes `scored_at` where a record has none. */
  now: Date
  reassignment: Reassignment
  /** Whether what was deleted is stored again. */
  restore: boolean
}

/**
 * Writes sessions with their details and rollups. Needs the organization's lock. A session with parts is merged with what is
 * stored under its id, another replaces it; one with the same hash is left alone. What was deleted is left out, unless
 * `restore`, and what is older than the organization keeps. Throws what `withUsers` throws.
 */
export async function writeSessions(
  tx: ISql,
  orgId: string,
  sent: readonly PreparedSession[],
  { now, reassignment, restore, ...merging }: WriteOptions,
): Promise<SessionsWritten> {
  const nothing = { changed: [], skipped: [], moved: [] }
  if (sent.length === 0) return { ...NOTHING_WRITTEN, ...nothing }
  // the API's connections do the same: for an organization that is not in the statistics yet, a plan of its own reads
  // all sessions by whichever index is smallest, since all of them begin with org_id
  await useGenericPlans(tx)
  const withTelemetry = await withSubAgentsTelemetry(tx, orgId, sent, merging)
  const { kept, skipped } = await withoutDeleted(tx, orgId, withTelemetry, now, restore)
  const isBound = reassignment !== 'kept' && reassignment.isMembersKey
  const subAgents = await findSubAgents(tx, orgId, withTelemetry, { ...merging, isBound })
  const keptIds = new Set(idsOf(kept))
  await deleteSessions(tx, orgId, subAgents.ids)
  const stored = await findStored(tx, orgId, [...keptIds])
  const ofSubAgents = subAgents.telemetry.filter(({ id }) => keptIds.has(id))
  const owned = await withUsers(tx, orgId, [...kept, ...ofSubAgents], stored, reassignment)
  const noted = await withKnownNotes(tx, orgId, owned, stored, merging)
  const sessions = await withKnownFragments(tx, orgId, noted, stored, merging)
  const { rows: changes, ...compared } = findLastChanges<StoredHash, PreparedSession>(sessions, stored, {
    keyOf: ({ id }) => id,
    isSame: (session, row) => Buffer.compare(session.hash, row.hash) === 0,
  })
  const rows = changes.map((session) => keepDecisions(session, stored.get(session.id)?.decided ?? []))
  // telemetry of sub-agents comes to those that were sent
  const result = { ...compared, unchanged: sent.length - rows.length, skipped }
  if (rows.length === 0) return { ...nothing, ...result }
  const before = rows.flatMap(({ id }) => stored.get(id) ?? [])
  const after = { sessions: rows, pricer: merging.pricer }
  await counted(tx, orgId, before, after, () => storeSessions(tx, orgId, rows, stored, now))
  const changed = rows.map((session) => ({ session, before: stored.get(session.id) }))
  return { ...result, changed, moved: movedOf(rows, stored) }
}

type StoredHash = Pick<StoredSession, 'hash'>

/** Does `write`, which replaces the sessions `before` by `after`, and updates every count of sessions by the difference. */
async function counted(
  tx: ISql,
  orgId: string,
  before: readonly StoredSession[],
  after: (UsedSessions & { sessions: readonly Touching[] }) | undefined,
  write: () => Promise<void>,
): Promise<void> {
  const old = before.map(({ id }) => id)
  const withIds = (ids: readonly string[]) =>
    ids.length === 0 ? undefined : tx`s.id = any(${[...ids]}::text[])`
  const sessions = after?.sessions ?? []
  const rows = { before: withIds(old), after: withIds(idsOf(sessions)) }
  await counting(tx, orgId, SESSION_ROLLUPS, rows, write)
  await updateDirectories(tx, orgId, before.map(touchingOf), sessions)
  await updateUsage(tx, orgId, old, after)
  await refreshResumedOf(tx, orgId, [...before, ...sessions])
}

/** Deletes sessions with their details and rollups; returns how many were there. Needs the organization's lock. */
export async function deleteSessions(tx: ISql, orgId: string, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  await useGenericPlans(tx)
  const before = [...(await findStored(tx, orgId, ids)).values()]
  if (before.length > 0) await counted(tx, orgId, before, undefined, () => deleteSessionRows(tx, orgId, ids))
  return before.length
}

/**
 * Replaces the texts of sessions that are stored, and updates their rollups. The content hash stays: what is sent again as
 * it was before changes nothing. Needs the organization's lock.
 */
export async function replaceTexts(
  tx: ISql,
  orgId: string,
  sessions: readonly StoredTexts[],
  pricer: Pricer,
): Promise<void> {
  await useGenericPlans(tx)
  const stored = await findStored(tx, orgId, idsOf(sessions))
  const before = sessions.flatMap(({ id }) => stored.get(id) ?? [])
  const after = sessions.flatMap(({ id, detail, ...texts }) => {
    const row = stored.get(id)
    if (row === undefined) return []
    const changed = JSON.parse(detail) as UsedSession['detail'] & Touching['detail']
    return [{ ...usedSession({ ...row, detail: changed }), ...texts }]
  })
  await counted(tx, orgId, before, { sessions: after, pricer }, () => updateTexts(tx, orgId, sessions))
}

/** Replaces the findings of sessions that are stored; their scores stay. Needs the organization's lock. */
export async function replaceFindings(tx: ISql, orgId: string, sessions: readonly StoredTexts[]) {
  await updateTexts(tx, orgId, sessions)
  const details = sessions.map(({ id, detail }) => ({
    id,
    ...(JSON.parse(detail) as Pick<UsedSession['detail'], 'security_metadata'>),
  }))
  await updateFindingCounts(tx, orgId, details)
}

const touchingOf = ({ files, ...row }: StoredSession): Touching => ({
  ...row,
  detail: { files_touched: files },
})
