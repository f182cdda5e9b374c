import { useGenericPlans } from '../../db/citus.ts'
import type { ISql } from '../../db/client.ts'
import { unitsOf } from '../../decimals.ts'
import { findLastChanges, NOTHING_WRITTEN, type WriteResult } from '../../records/changes.ts'
import { isAlert } from '../../records/finding.ts'
import { type UsedSession, updateUsage } from '../../usage/write.ts'
import {
  deleteRows,
  type SkippedSession,
  type StoredTexts,
  updateTexts,
  withoutDeleted,
} from '../deleted-queries.ts'
import type { PreparedSession } from '../prepare.ts'
import { type MovedSessions, movedOf } from '../project-write.ts'
import { type CountedSession, updateRollups } from '../rollup.ts'
import { storeSessions } from '../store-write.ts'
import { findAlerts, findStored, type StoredSession } from '../stored-queries.ts'
import { keepDismissed, withKnownParts } from './merge-parts.ts'
import { type Reassignment, withUsers } from './reassignment-queries.ts'
import { findSubAgents, type MergeOptions, withSubAgentsTelemetry } from './telemetry.ts'

/** A written session, and its stored score and alerts before that. */
export interface WrittenSession {
  session: PreparedSession
  before: { quality: bigint; alerts: ReadonlySet<string> } | undefined
}

export interface SessionsWritten extends WriteResult {
  /** The sessions that were left out; they count as unchanged. */
  skipped: readonly SkippedSession[]
  /** Numbers of those that had another project. */
  moved: readonly MovedSessions[]
  /** The sessions that are new or have changed. */
  changed: readonly WrittenSession[]
  /** The changed sessions as they were stored, for the counts of the team's activity. */
  activityBefore: readonly SessionActivity[]
}

/** The figures of a session that the team's activity counts. */
export interface SessionActivity {
  createdAt: string | Date
  /** The member's id, else the address; null where the session has no user. */
  userKey: string | null
  project: string
  files: readonly string[]
}

export interface WriteOptions extends MergeOptions {
  /** Becomes `scored_at` where a record has none. */
  now: Date
  /** Whether the alerts that a session had before are looked up. */
  withAlerts: boolean
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
  { now, withAlerts, reassignment, restore, ...merging }: WriteOptions,
): Promise<SessionsWritten> {
  const nothing = { changed: [], activityBefore: [], skipped: [], moved: [] }
  if (sent.length === 0) return { ...NOTHING_WRITTEN, ...nothing }
  // the API's connections do the same: for an organization that is not in the statistics yet, a plan of its own reads
  // all sessions by whichever index is smallest, since all of them begin with org_id
  await useGenericPlans(tx)
  const own = await withSubAgentsTelemetry(tx, orgId, sent, merging)
  const { kept, skipped } = await withoutDeleted(tx, orgId, own, now, restore)
  const subAgents = await findSubAgents(tx, orgId, own, {
    ...merging,
    onlyOf: reassignment.endsWith('to a member'),
  })
  const keptIds = new Set(kept.map(({ id }) => id))
  const movedActivity = await deleteSessions(tx, orgId, subAgents.ids)
  const stored = await findStored(tx, orgId, [...keptIds])
  const owned = await withUsers(
    tx,
    orgId,
    [...kept, ...subAgents.telemetry.filter(({ id }) => keptIds.has(id))],
    stored,
    reassignment,
  )
  const sessions = await withKnownParts(tx, orgId, owned, stored, merging)
  const { rows: changes, ...compared } = findLastChanges<Pick<StoredSession, 'hash'>, PreparedSession>(
    sessions,
    stored,
    {
      keyOf: ({ id }) => id,
      idOf: ({ id }) => id,
      isSame: (session, known) => Buffer.compare(session.hash, known.hash) === 0,
    },
  )
  const rows = changes.map((session) => keepDismissed(session, stored.get(session.id)?.dismissed ?? []))
  // telemetry of sub-agents comes to those that were sent
  const result = { ...compared, unchanged: sent.length - rows.length, skipped }
  if (rows.length === 0) return { ...nothing, ...result, activityBefore: movedActivity }
  const changed = await withBefore(tx, orgId, rows, stored, withAlerts)
  await storeSessions(tx, orgId, rows, stored, now)
  const before = rows.flatMap(({ id }) => stored.get(id) ?? [])
  await updateCounts(tx, orgId, before.map(countedOf), rows)
  const moved = movedOf(rows, stored)
  return { ...result, changed, moved, activityBefore: [...movedActivity, ...before.map(storedActivity)] }
}

/** Updates every count of sessions by the difference between what they were and what they are. */
async function updateCounts(
  tx: ISql,
  orgId: string,
  before: readonly (CountedSession & { id: string })[],
  after: readonly (CountedSession & UsedSession)[],
): Promise<void> {
  await updateRollups(tx, orgId, before, after)
  await updateUsage(
    tx,
    orgId,
    before.map(({ id }) => id),
    after,
  )
}

/**
 * Deletes sessions with their details and rollups; returns what the team's activity counted of each that was there. Needs
 * the organization's lock.
 */
export async function deleteSessions(
  tx: ISql,
  orgId: string,
  ids: readonly string[],
): Promise<SessionActivity[]> {
  if (ids.length === 0) return []
  await useGenericPlans(tx)
  const before = [...(await findStored(tx, orgId, ids)).values()]
  if (before.length === 0) return []
  await deleteRows(tx, orgId, ids)
  await updateCounts(tx, orgId, before.map(countedOf), [])
  return before.map(storedActivity)
}

/**
 * Replaces the texts of sessions that are stored, and updates their rollups; returns what the team's activity counted of
 * each. The content hash stays: what is sent again as it was before changes nothing. Needs the organization's lock.
 */
export async function replaceTexts(
  tx: ISql,
  orgId: string,
  sessions: readonly StoredTexts[],
): Promise<SessionActivity[]> {
  await useGenericPlans(tx)
  const stored = await findStored(
    tx,
    orgId,
    sessions.map(({ id }) => id),
  )
  const before = sessions.flatMap(({ id }) => stored.get(id) ?? [])
  await updateTexts(tx, orgId, sessions)
  const after = sessions.flatMap(({ id, detail, ...texts }) => {
    const row = stored.get(id)
    if (row === undefined) return []
    const createdAt = row.created_at.toISOString()
    const coverage = { transcript: Number(row.transcript_tokens), telemetry: Number(row.telemetry_tokens) }
    return [
      {
        ...countedOf(row),
        ...texts,
        createdAt,
        coverage,
        detail: JSON.parse(detail) as UsedSession['detail'],
      },
    ]
  })
  await updateCounts(tx, orgId, before.map(countedOf), after)
  return before.map(storedActivity)
}

async function withBefore(
  tx: ISql,
  orgId: string,
  rows: readonly PreparedSession[],
  stored: ReadonlyMap<string, StoredSession>,
  withAlerts: boolean,
): Promise<WrittenSession[]> {
  // only a session that has alerts now can cause events, so the alerts of the others are not looked up
  const hasAlerts = ({ detail }: PreparedSession) =>
    detail.security_metadata.findings.some(({ severity }) => isAlert(severity))
  const ids = withAlerts ? rows.flatMap((row) => (stored.has(row.id) && hasAlerts(row) ? [row.id] : [])) : []
  const alerts = ids.length === 0 ? new Map<string, string[]>() : await findAlerts(tx, orgId, ids)
  return rows.map((session) => {
    const known = stored.get(session.id)
    if (known === undefined) return { session, before: undefined }
    return { session, before: { quality: unitsOf(known.quality), alerts: new Set(alerts.get(session.id)) } }
  })
}

const countedOf = (session: StoredSession): CountedSession & Pick<StoredSession, 'id' | 'turns'> => ({
  id: session.id,
  turns: session.turns,
  project: session.project,
  day: session.day,
  cost: unitsOf(session.cost),
  unpricedTokens: Number(session.unpriced_tokens),
  quality: unitsOf(session.quality),
  security: unitsOf(session.security),
})

const storedActivity = ({
  created_at,
  user_id,
  user_email,
  project,
  files,
}: StoredSession): SessionActivity => ({
  createdAt: created_at,
  userKey: user_id ?? user_email,
  project,
  files: files ?? [],
})

/** Takes the figures of a written session that the team's activity counts. */
export const activityOf = ({
  createdAt,
  userId,
  userEmail,
  project,
  detail,
}: PreparedSession): SessionActivity => ({
  createdAt,
  userKey: userId ?? userEmail,
  project,
  files: detail.files_touched ?? [],
})
