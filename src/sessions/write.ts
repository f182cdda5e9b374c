import type { ISql } from '../db/client.ts'
import { decimalText, MONEY_DECIMALS, SCORE_DECIMALS, unitsOf, unscaled } from '../decimals.ts'
import { isAlert } from '../records/finding.ts'
import type { Tally } from '../records/tally.ts'
import type { PreparedSession } from './prepare.ts'
import { type Counted, moveRollups } from './rollup.ts'

/** A session that was written, and what was known of it before. */
export interface WrittenSession {
  session: PreparedSession
  before: { quality: bigint; alerts: ReadonlySet<string> } | undefined
}

export interface SessionsWritten extends Tally {
  /** Those that are new or have changed. */
  changed: readonly WrittenSession[]
  /** What the changed sessions counted for in the team's activity, as they were stored. */
  activityBefore: readonly SessionActivity[]
}

/** What of a session the team's activity counts. */
export interface SessionActivity {
  createdAt: string | Date
  /** The member's id, else the address; null for nobody's. */
  userKey: string | null
  project: string
  files: readonly string[]
}

interface StoredSession {
  id: string
  project: string
  day: string
  cost: string
  quality: string
  security: string
  hash: Uint8Array
  previous_score: number | null
  created_at: Date
  user_key: string | null
  files: string[]
}

/**
 * Writes sessions with their details and rollups. Needs the organization's lock. A session replaces what is stored
 * under its id; one with the same hash is left alone. `now` becomes `scored_at` where the record has none. Which alerts a
 * session had before is looked up only `withAlerts`.
 */
export async function writeSessions(
  tx: ISql,
  orgId: string,
  sessions: readonly PreparedSession[],
  now: Date,
  withAlerts: boolean,
): Promise<SessionsWritten> {
  const tally = { created: 0, updated: 0, unchanged: 0, changed: [], activityBefore: [] }
  if (sessions.length === 0) return tally
  const stored = await findStored(tx, orgId, [...new Set(sessions.map((session) => session.id))])
  // twice in one request: only the last counts, or the same request again would seem to change it back and forth
  const last = new Map(sessions.map((session) => [session.id, session]))
  const rows = [...last.values()].filter((session) => {
    const known = stored.get(session.id)
    if (known !== undefined && Buffer.compare(known.hash, session.hash) === 0) return false
    tally[known === undefined ? 'created' : 'updated'] += 1
    return true
  })
  tally.unchanged = sessions.length - rows.length
  if (rows.length === 0) return tally
  const changed = await withBefore(tx, orgId, rows, stored, withAlerts)
  await upsertSessions(tx, orgId, rows)
  await upsertDetails(tx, orgId, rows, stored, now)
  const before = rows.flatMap((session) => stored.get(session.id) ?? [])
  await moveRollups(tx, orgId, before.map(countedOf), rows)
  const ids = rows.map(({ id }) => id)
  return {
    ...tally,
    changed,
    activityBefore: before.map(storedActivity),
    createdIds: ids.filter((id) => !stored.has(id)),
    updatedIds: ids.filter((id) => stored.has(id)),
  }
}

async function findStored(tx: ISql, orgId: string, ids: string[]): Promise<Map<string, StoredSession>> {
  // the detail by a subquery: where the statistics do not know the organization yet, a join on (org_id, session_id) was
  // planned by org_id alone, and comparing 10,000 of 20,000 sessions took a minute
  const rows = await tx<StoredSession[]>`
    select
      s.id,
      s.project,
      s.day::text as day,
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
      coalesce(s.user_id, s.user_email) as user_key,
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
  // of a session without alerts it does not matter which it had
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

const countedOf = (session: StoredSession): Counted => ({
  project: session.project,
  day: session.day,
  cost: unitsOf(session.cost),
  quality: unitsOf(session.quality),
  security: unitsOf(session.security),
})

const storedActivity = ({ created_at, user_key, project, files }: StoredSession): SessionActivity => ({
  createdAt: created_at,
  userKey: user_key,
  project,
  files,
})

/** What a session that is written counts for in the team's activity. */
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

async function upsertSessions(tx: ISql, orgId: string, rows: readonly PreparedSession[]): Promise<void> {
  await tx`
    insert into sessions (
      org_id, id, project, created_at, turns, estimated_cost,
      quality_score, security_score, user_id, user_email, content_hash
    )
    select
      ${orgId}, n.id, n.project, n.created_at, n.turns, n.cost,
      n.quality, n.security, n.user_id, n.user_email, decode(n.hash, 'hex')
    from unnest(
      ${rows.map((row) => row.id)}::text[],
      ${rows.map((row) => row.project)}::text[],
      ${rows.map((row) => row.createdAt)}::timestamptz[],
      ${rows.map((row) => row.turns)}::integer[],
      ${rows.map((row) => decimalText(row.cost, MONEY_DECIMALS))}::numeric[],
      ${rows.map((row) => decimalText(row.quality, SCORE_DECIMALS))}::numeric[],
      ${rows.map((row) => decimalText(row.security, SCORE_DECIMALS))}::numeric[],
      ${rows.map((row) => row.userId)}::text[],
      ${rows.map((row) => row.userEmail)}::text[],
      ${rows.map((row) => Buffer.from(row.hash).toString('hex'))}::text[]
    ) as n (id, project, created_at, turns, cost, quality, security, user_id, user_email, hash)
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
  await tx`
    insert into session_details (org_id, session_id, detail)
    select ${orgId}, n.id, n.detail::json
    from unnest(
      ${rows.map((row) => row.id)}::text[],
      ${rows.map((row) => detailText(row, stored.get(row.id), now))}::text[]
    ) as n (id, detail)
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

/** The score before this one: the stored one when it differs, else the one the stored one knew. */
function previousScore(session: PreparedSession, stored: StoredSession | undefined): number | null {
  if (stored === undefined) return null
  const score = unitsOf(stored.quality)
  return score === session.quality ? stored.previous_score : unscaled(score, SCORE_DECIMALS)
}
