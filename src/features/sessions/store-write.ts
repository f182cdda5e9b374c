// Reads and writes the rows of sessions and of their details, without sums.

import { findZone } from '../../accounts/organizations/zone-queries.ts'
import type { SessionRecord } from '../../analysis/records/session.ts'
import { dayOf } from '../../base/dates.ts'
import { decimalText, MONEY_DECIMALS, SCORE_DECIMALS, unitsOf, unscaled } from '../../base/decimals.ts'
import type { ISql } from '../../database/client.ts'
import { canCopyInto, copyRows } from '../../database/copy.ts'
import { unnest, upsert } from '../../database/rows.ts'
import { exportedColumns, type SessionRow, sessionLine } from './export.ts'
import type { TurnDetail } from './model.ts'
import type { PreparedSession } from './prepare.ts'

/** The quality of a stored session, since when it has it, and the one before it. */
export interface StoredScore {
  quality: string
  scored_at: string | null
  previous_score: number | null
}

/** New sessions of a batch from which on they are copied: fewer are inserted as fast by statements already prepared. */
const MIN_COPIED = 100

/** Inserts or replaces sessions and their details, without rollups. `stored`: those that are known. Needs the organization's lock. */
export async function storeSessions(
  tx: ISql,
  orgId: string,
  rows: readonly PreparedSession[],
  stored: ReadonlyMap<string, StoredScore>,
  now: Date,
): Promise<void> {
  const columns = columnsIn(await findZone(tx, orgId))
  const created = rows.filter(({ id }) => !stored.has(id))
  const isCopied = created.length >= MIN_COPIED && (await canCopyInto(tx, ['sessions', 'session_details']))
  if (isCopied) await copySessions(tx, orgId, created, columns, now)
  const upserted = isCopied ? rows.filter(({ id }) => stored.has(id)) : rows
  await upsert(tx, orgId, { table: 'sessions', key: ['id'] }, upserted, columns)
  const details = { table: 'session_details', key: ['session_id'] } as const
  await upsert(tx, orgId, details, upserted, detailColumns(stored, now))
}

export interface StoredFragments {
  id: string
  parts: string
  /** Null unless asked for. */
  turns: readonly Pick<TurnDetail, 'content'>[] | null
}

/** The packed parts of those sessions that have some, and with `withTurns` their turns. */
export async function findFragments(tx: ISql, orgId: string, ids: readonly string[], withTurns: boolean) {
  if (ids.length === 0) return []
  return await tx<StoredFragments[]>`
    select d.session_id as id, d.parts, ${withTurns ? tx`d.detail->'turn_records'` : tx`null`} as turns
    from session_details d
    where d.org_id = ${orgId}
      and d.session_id = any(${[...ids]}::text[])
      and d.parts is not null`
}

export async function findRecords(tx: ISql, orgId: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, SessionRecord>()
  const rows = await tx<SessionRow[]>`
    select ${exportedColumns(tx, orgId)}
    from sessions s
    where s.org_id = ${orgId}
      and s.id = any(${[...ids]}::text[])`
  return new Map(rows.map((row) => [row.id, JSON.parse(sessionLine(row)) as SessionRecord]))
}

/** Finds the sessions of whose calls more is known than what clients of any version send. */
export async function findNoted(tx: ISql, orgId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await tx<{ id: string }[]>`
    select f.session_id as id
    from session_facets f
    where f.org_id = ${orgId}
      and f.session_id = any(${[...ids]}::text[])
    union
    select u.session_id
    from session_usage u
    where u.org_id = ${orgId}
      and u.session_id = any(${[...ids]}::text[])
      and u.cache_creation_1h > 0`
  return rows.map(({ id }) => id)
}

interface Including {
  session_id: string
  user_id: string | null
  user_email: string | null
  /** A member's key named it, which takes no session of nobody. */
  is_bound: boolean
}

/** The sessions that name these as sub-agents' sessions, by the sub-agent's; without those that have a transcript. */
export async function findIncluding(tx: ISql, orgId: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, Including>()
  const rows = await tx<(Including & { id: string })[]>`
    select i.sub_agent_id as id, i.session_id, s.user_id, s.user_email, i.is_bound
    from session_includes i
    left join sessions s on s.org_id = i.org_id and s.id = i.session_id
    left join session_details d on d.org_id = i.org_id and d.session_id = i.sub_agent_id
    where i.org_id = ${orgId}
      and i.sub_agent_id = any(${[...ids]}::text[])
      and coalesce(d.detail->>'origin', 'telemetry') = 'telemetry'`
  return new Map(rows.map(({ id, ...including }) => [id, including]))
}

/** Notes which sessions of sub-agents belong to which session; returns those that no other session has. */
export async function storeIncludes(
  tx: ISql,
  orgId: string,
  rows: readonly { id: string; session_id: string }[],
  isBound: boolean,
): Promise<string[]> {
  if (rows.length === 0) return []
  const stored = await tx<{ id: string }[]>`
    insert into session_includes as i (org_id, sub_agent_id, session_id, is_bound)
    select ${orgId}, n.id, n.session_id, ${isBound}
    from ${unnest(tx, rows, { id: 'text', session_id: 'text' })}
    on conflict (org_id, sub_agent_id) do update set session_id = i.session_id
    where i.session_id = excluded.session_id
    returning i.sub_agent_id as id`
  return stored.map(({ id }) => id)
}

/**
 * Inserts sessions that are not stored, and their details, by COPY, without rollups. Needs the organization's lock. 10,000
 * take half as long as by `insert … on conflict`, for PostgreSQL and for this program.
 */
async function copySessions(
  tx: ISql,
  orgId: string,
  rows: readonly PreparedSession[],
  columns: ReturnType<typeof columnsIn>,
  now: Date,
): Promise<void> {
  await copyRows(tx, orgId, 'sessions', rows, columns)
  await copyRows(tx, orgId, 'session_details', rows, detailColumns(new Map(), now))
}

const COLUMNS = {
  id: 'text',
  project: 'text',
  created_at: 'timestamptz',
  turns: 'integer',
  estimated_cost: ['numeric', ({ cost }: PreparedSession) => decimalText(cost, MONEY_DECIMALS)],
  unpriced_tokens: 'bigint',
  quality_score: ['numeric', ({ quality }: PreparedSession) => decimalText(quality, SCORE_DECIMALS)],
  security_score: ['numeric', ({ security }: PreparedSession) => decimalText(security, SCORE_DECIMALS)],
  user_id: 'text',
  user_email: 'text',
  content_hash: ['bytea', ({ hash }: PreparedSession) => Buffer.from(hash).toString('hex')],
  transcript_tokens: ['bigint', ({ coverage }: PreparedSession) => coverage.transcript],
  telemetry_tokens: ['bigint', ({ coverage }: PreparedSession) => coverage.telemetry],
} as const

const columnsIn = (zone: string) =>
  ({
    ...COLUMNS,
    day: ['date', ({ created_at }: PreparedSession) => dayOf(created_at, zone)],
  }) as const

const detailColumns = (stored: ReadonlyMap<string, StoredScore>, now: Date) =>
  ({
    session_id: ['text', ({ id }: PreparedSession) => id],
    detail: ['json', (row: PreparedSession) => detailText(row, stored.get(row.id), now)],
    parts: 'text',
  }) as const

function detailText(session: PreparedSession, stored: StoredScore | undefined, now: Date): string {
  const quality = session.detail.quality_metadata
  const before = scoreBefore(session, stored)
  return JSON.stringify({
    ...session.detail,
    quality_metadata: {
      ...quality,
      scored_at: quality.scored_at ?? before.scored_at ?? now.toISOString(),
      previous_score: quality.previous_score ?? before.previous_score,
    },
  })
}

function scoreBefore(session: PreparedSession, stored: StoredScore | undefined) {
  if (stored === undefined) return { scored_at: null, previous_score: null }
  const score = unitsOf(stored.quality)
  return score === session.quality
    ? stored
    : { scored_at: null, previous_score: unscaled(score, SCORE_DECIMALS) }
}
