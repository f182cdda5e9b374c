import { useGenericPlans } from '../db/citus.ts'
import type { ISql } from '../db/client.ts'
import { unitsOf } from '../decimals.ts'
import { findLastChanges, NOTHING_WRITTEN, type WriteResult } from '../records/changes.ts'
import { isAlert } from '../records/finding.ts'
import { type UsedSession, updateUsage } from '../usage/write.ts'
import {
  deleteRows,
  type SkippedSession,
  type StoredTexts,
  updateTexts,
  withoutDeleted,
} from './deleted-queries.ts'
import { keepDismissed, type MergeOptions, withKnownParts } from './merge-parts.ts'
import type { Finding } from './model.ts'
import type { PreparedSession } from './prepare.ts'
import { type MovedSessions, movedOf } from './project-write.ts'
import { type Ranked, updateRanges } from './range-rollup.ts'
import { type Reassignment, withUsers } from './reassignment-queries.ts'
import { type Counted, updateRollups } from './rollup.ts'
import { type StoredScore, storeSessions } from './store-queries.ts'

/** A written session, and its stored score and alerts before that. */
export interface WrittenSession {
  session: PreparedSession
  before: { quality: bigint; alerts: ReadonlySet<string> } | undefined
}

export interface SessionsWritten extends WriteResult {
  /** Those that were left out; they count as unchanged. */
  skipped: readonly SkippedSession[]
  /** Numbers of those that had another project. */
  moved: readonly MovedSessions[]
  /** Those that are new or have changed. */
  changed: readonly WrittenSession[]
  /** The changed sessions as they were stored, for the counts of the team's activity. */
  activityBefore: readonly SessionActivity[]
}

/** What the team's activity counts of a session. */
export interface SessionActivity {
  createdAt: string | Date
  /** The member's id, else the address; null where the session has no user. */
  userKey: string | null
  project: string
  files: readonly string[]
}

interface StoredSession extends StoredScore {
  id: string
  project: string
  day: string
  turns: number
  cost: string
  unpriced_tokens: string
  security: string
  hash: Uint8Array
  created_at: Date
  user_id: string | null
  user_email: string | null
  files: string[]
  dismissed: Finding[] | null
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
  // as the API's connections: of an organization that is not in the statistics yet a plan of its own reads all sessions by
  // whichever index is smallest, since all of them begin with org_id
  await useGenericPlans(tx)
  const { kept, skipped } = await withoutDeleted(tx, orgId, sent, now, restore)
  const stored = await findStored(tx, orgId, [...new Set(kept.map(({ id }) => id))])
  const owned = await withUsers(tx, orgId, kept, stored, reassignment)
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
  const result = { ...compared, unchanged: compared.unchanged + sent.length - kept.length, skipped }
  if (rows.length === 0) return { ...nothing, ...result }
  const changed = await withBefore(tx, orgId, rows, stored, withAlerts)
  await storeSessions(tx, orgId, rows, stored, now)
  const before = rows.flatMap(({ id }) => stored.get(id) ?? [])
  await updateCounts(tx, orgId, before.map(countedOf), rows)
  const moved = movedOf(rows, stored)
  return { ...result, changed, moved, activityBefore: before.map(storedActivity) }
}

/** Updates every count of sessions by the difference between what they were and what they are. */
async function updateCounts(
  tx: ISql,
  orgId: string,
  before: readonly (Counted & Ranked)[],
  after: readonly (Counted & Ranked & UsedSession)[],
): Promise<void> {
  await updateRollups(tx, orgId, before, after)
  await updateRanges(tx, orgId, before, after)
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
    return [{ ...countedOf(row), ...texts, createdAt, detail: JSON.parse(detail) as UsedSession['detail'] }]
  })
  await updateCounts(tx, orgId, before.map(countedOf), after)
  return before.map(storedActivity)
}

async function findStored(
  tx: ISql,
  orgId: string,
  ids: readonly string[],
): Promise<Map<string, StoredSession>> {
  // the detail by a subquery: where the statistics do not know the organization yet, a join on (org_id, session_id) was
  // planned by org_id alone, and comparing 10,000 of 20,000 sessions took a minute
  const rows = await tx<StoredSession[]>`
    select
      s.id,
      s.project,
      s.day::text as day,
      s.turns,
      s.estimated_cost::text as cost,
      s.unpriced_tokens,
      s.quality_score::text as quality,
      s.security_score::text as security,
      s.content_hash as hash,
      (
        select (d.detail->'quality_metadata'->>'previous_score')::float8
        from session_details d
        where d.org_id = s.org_id
          and d.session_id = s.id
      ) as previous_score,
      s.created_at,
      s.user_id,
      s.user_email,
      (
        select d.detail->'files_touched'
        from session_details d
        where d.org_id = s.org_id
          and d.session_id = s.id
      ) as files,
      (
        select json_agg(f.finding)
        from session_details d
        cross join lateral json_array_elements(d.detail->'security_metadata'->'findings') as f (finding)
        where d.org_id = s.org_id
          and d.session_id = s.id
          -- few have one: searching for the word takes a tenth of the time of parsing the JSON
          and strpos(d.detail::text, '"dismissed"') > 0
          and f.finding->>'status' = 'dismissed'
      ) as dismissed
    from sessions s
    where s.org_id = ${orgId}
      and s.id = any(${[...ids]}::text[])`
  return new Map(rows.map((row) => [row.id, row]))
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

/** Fingerprints of the sessions' findings of high or critical, as they are stored. */
async function findAlerts(tx: ISql, orgId: string, ids: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await tx<{ id: string; fingerprints: string[] }[]>`
    select
      d.session_id as id,
      array(
        select f.finding->>'fingerprint'
        from json_array_elements(d.detail->'security_metadata'->'findings') as f (finding)
        where f.finding->>'severity' in ('critical', 'high')
      ) as fingerprints
    from session_details d
    where d.org_id = ${orgId}
      and d.session_id = any(${[...ids]}::text[])`
  return new Map(rows.map((row) => [row.id, row.fingerprints]))
}

const countedOf = (session: StoredSession): Counted & Ranked => ({
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
  files,
})

/** What the team's activity counts of a written session. */
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
  files: detail.files_touched,
})
