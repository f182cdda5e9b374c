import type { ISql } from '../db/client.ts'
import { copyRows } from '../db/copy.ts'
import { unnest } from '../db/rows.ts'
import { decimalText, MONEY_DECIMALS, SCORE_DECIMALS, unitsOf, unscaled } from '../decimals.ts'
import { findLastChanges, NOTHING_WRITTEN, type WriteResult } from '../records/changes.ts'
import { isAlert } from '../records/finding.ts'
import type { PreparedSession } from './prepare.ts'
import { type Ranked, updateRanges } from './range-rollup.ts'
import { type Counted, updateRollups } from './rollup.ts'
import { type Reassignment, withUsers } from './user-queries.ts'

/** A written session, and its stored score and alerts before that. */
export interface WrittenSession {
  session: PreparedSession
  before: { quality: bigint; alerts: ReadonlySet<string> } | undefined
}

export interface SessionsWritten extends WriteResult {
  /** Those that are new or have changed. */
  changed: readonly WrittenSession[]
  /** The changed sessions as they were stored, for the counts of the team's activity. */
  activityBefore: readonly SessionActivity[]
}

/** What the team's activity counts of a session. */
interface SessionActivity {
  createdAt: string | Date
  /** The member's id, else the address; null where the session has no user. */
  userKey: string | null
  project: string
  files: readonly string[]
}

interface StoredSession {
  id: string
  project: string
  day: string
  turns: number
  cost: string
  quality: string
  security: string
  hash: Uint8Array
  previous_score: number | null
  created_at: Date
  user_id: string | null
  user_email: string | null
  files: string[]
}

/** New sessions of a batch from which on they are copied: fewer are inserted as fast by statements already prepared. */
const MIN_COPIED = 100

/**
 * Writes sessions with their details and rollups. Needs the organization's lock. A session replaces what is stored
 * under its id; one with the same hash is left alone. `now` becomes `scored_at` where the record has none. Which alerts a
 * session had before is looked up only `withAlerts`. Throws what `withUsers` throws.
 */
export async function writeSessions(
  tx: ISql,
  orgId: string,
  sent: readonly PreparedSession[],
  now: Date,
  withAlerts: boolean,
  reassignment: Reassignment,
): Promise<SessionsWritten> {
  if (sent.length === 0) return { ...NOTHING_WRITTEN, changed: [], activityBefore: [] }
  // as the API's connections: of an organization that is not in the statistics yet a plan of its own reads all sessions by
  // whichever index is smallest, since all of them begin with org_id
  await tx`set local plan_cache_mode = force_generic_plan`
  const stored = await findStored(tx, orgId, [...new Set(sent.map(({ id }) => id))])
  const sessions = await withUsers(tx, orgId, sent, stored, reassignment)
  const { rows, ...result } = findLastChanges<Pick<StoredSession, 'hash'>, PreparedSession>(
    sessions,
    stored,
    {
      keyOf: ({ id }) => id,
      idOf: ({ id }) => id,
      isSame: (session, known) => Buffer.compare(session.hash, known.hash) === 0,
    },
  )
  if (rows.length === 0) return { ...result, changed: [], activityBefore: [] }
  const changed = await withBefore(tx, orgId, rows, stored, withAlerts)
  const created = rows.filter(({ id }) => !stored.has(id))
  if (created.length < MIN_COPIED || (await isRowSecurityActive(tx))) {
    await upsertSessions(tx, orgId, rows)
    await upsertDetails(tx, orgId, rows, stored, now)
  } else {
    await copySessions(tx, orgId, created, now)
    const updated = rows.filter(({ id }) => stored.has(id))
    await upsertSessions(tx, orgId, updated)
    await upsertDetails(tx, orgId, updated, stored, now)
  }
  const before = rows.flatMap(({ id }) => stored.get(id) ?? [])
  const counted = before.map(countedOf)
  await updateRollups(tx, orgId, counted, rows)
  await updateRanges(tx, orgId, counted, rows)
  return { ...result, changed, activityBefore: before.map(storedActivity) }
}

async function findStored(tx: ISql, orgId: string, ids: string[]): Promise<Map<string, StoredSession>> {
  // the detail by a subquery: where the statistics do not know the organization yet, a join on (org_id, session_id) was
  // planned by org_id alone, and comparing 10,000 of 20,000 sessions took a minute
  const rows = await tx<StoredSession[]>`
    select
      s.id,
      s.project,
      s.day::text as day,
      s.turns,
      s.estimated_cost::text as cost,
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
      ) as files
    from sessions s
    where s.org_id = ${orgId}
      and s.id = any(${ids}::text[])`
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

/** PostgreSQL refuses COPY into tables whose row level security applies to the user. */
async function isRowSecurityActive(tx: ISql): Promise<boolean> {
  const [row] = await tx<{ active: boolean }[]>`
    select row_security_active('sessions') or row_security_active('session_details') as active`
  return row?.active === true
}

/**
 * Inserts sessions that are not stored, and their details, by COPY, without rollups. Needs the organization's lock. 10,000
 * take half as long as by `insert … on conflict`, for PostgreSQL and for this program.
 */
export async function copySessions(
  tx: ISql,
  orgId: string,
  rows: readonly PreparedSession[],
  now: Date,
): Promise<void> {
  await copyRows(
    await tx`
      copy sessions (
        org_id, id, project, created_at, turns, estimated_cost,
        quality_score, security_score, user_id, user_email, content_hash
      ) from stdin`.writable(),
    rows,
    (session) => [
      orgId,
      session.id,
      session.project,
      session.createdAt,
      session.turns,
      decimalText(session.cost, MONEY_DECIMALS),
      decimalText(session.quality, SCORE_DECIMALS),
      decimalText(session.security, SCORE_DECIMALS),
      session.userId,
      session.userEmail,
      `\\x${Buffer.from(session.hash).toString('hex')}`,
    ],
  )
  await copyRows(
    await tx`copy session_details (org_id, session_id, detail) from stdin`.writable(),
    rows,
    (session) => [orgId, session.id, detailText(session, undefined, now)],
  )
}

async function upsertSessions(tx: ISql, orgId: string, rows: readonly PreparedSession[]): Promise<void> {
  if (rows.length === 0) return
  await tx`
    insert into sessions (
      org_id, id, project, created_at, turns, estimated_cost,
      quality_score, security_score, user_id, user_email, content_hash
    )
    select ${orgId}, n.*
    from ${unnest(tx, rows, {
      id: 'text',
      project: 'text',
      created_at: ['timestamptz', ({ createdAt }) => createdAt],
      turns: 'integer',
      cost: ['numeric', ({ cost }) => decimalText(cost, MONEY_DECIMALS)],
      quality: ['numeric', ({ quality }) => decimalText(quality, SCORE_DECIMALS)],
      security: ['numeric', ({ security }) => decimalText(security, SCORE_DECIMALS)],
      user_id: ['text', ({ userId }) => userId],
      user_email: ['text', ({ userEmail }) => userEmail],
      hash: ['bytea', ({ hash }) => Buffer.from(hash).toString('hex')],
    })}
    on conflict (org_id, id) do update set
      project = excluded.project,
      created_at = excluded.created_at,
      turns = excluded.turns,
      estimated_cost = excluded.estimated_cost,
      quality_score = excluded.quality_score,
      security_score = excluded.security_score,
      user_id = excluded.user_id,
      user_email = excluded.user_email,
      content_hash = excluded.content_hash`
}

async function upsertDetails(
  tx: ISql,
  orgId: string,
  rows: readonly PreparedSession[],
  stored: ReadonlyMap<string, StoredSession>,
  now: Date,
): Promise<void> {
  if (rows.length === 0) return
  await tx`
    insert into session_details (org_id, session_id, detail)
    select ${orgId}, n.id, n.detail::json
    from ${unnest(tx, rows, {
      id: 'text',
      detail: ['text', (row) => detailText(row, stored.get(row.id), now)],
    })}
    on conflict (org_id, session_id) do update set detail = excluded.detail`
}

function detailText(session: PreparedSession, stored: StoredSession | undefined, now: Date): string {
  const quality = session.detail.quality_metadata
  return JSON.stringify({
    ...session.detail,
    quality_metadata: {
      ...quality,
      scored_at: quality.scored_at ?? now.toISOString(),
      previous_score: quality.previous_score ?? previousScore(session, stored),
    },
  })
}

/** The stored score if it differs, else the stored `previous_score`. */
function previousScore(session: PreparedSession, stored: StoredSession | undefined): number | null {
  if (stored === undefined) return null
  const score = unitsOf(stored.quality)
  return score === session.quality ? stored.previous_score : unscaled(score, SCORE_DECIMALS)
}
