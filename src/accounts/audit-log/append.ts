// Inserts into the audit log and deletes from it. Code that changes the organization's data calls `recordEntries` in the
// same transaction. Every function here needs the organization's lock.

import { inBatches, sumBy } from '../../base/batches.ts'
import { microsOf, TIME_PATTERN_US, timestampOf } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import { idsOf, newId } from '../../base/ids.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { inOrganization } from '../../database/org-lock.ts'
import { counting } from '../../database/rollups.ts'
import { deleteFrom, unnest } from '../../database/rows.ts'
import { AUDIT_ROLLUP } from './rollup.ts'

/** Names the author of a change: `key_<id>` for an API key, `cli:<name>` for somebody at the command line. */
export interface Actor {
  userId: string
  /** The address of the request; null at the command line. */
  ipAddress: string | null
  /** The browser's session by which a person changes something: SHA-256 of its cookie in hexadecimal. */
  session?: string
}

/** The program itself, for changes that no key and no person made. */
export const SYSTEM: Actor = { userId: 'system', ipAddress: null }

/** The action that was done; `details` contain the ids of what was changed. */
export interface NewEntry {
  /** `<noun>.<verb in the past>` */
  action: string
  details: Record<string, unknown>
}

/** A row of the log; times are microseconds since 1970. */
export interface LogRow {
  id: string
  at: bigint
  action: string
  user_id: string
  /** JSON text of an object */
  details: string
  ip_address: string | null
  /** The time that an imported entry was sent with, where `at` is another. */
  given_at: bigint | null
}

/**
 * Writes what `actor` did, each entry a microsecond after the one before it, all later than every entry of
 * the log. The clock is the database's. Imported entries more than a day in the future are ignored for that. Throws
 * UNAUTHORIZED, so that the change is rolled back, when the actor's key was revoked or their session has ended meanwhile:
 * both end under the organization's lock, or before the answer to who ended them.
 */
export async function recordEntries(tx: ISql, orgId: string, actor: Actor, entries: readonly NewEntry[]) {
  if (entries.length > 0) await refuseEnded(tx, actor)
  const ofActor = entries.map((entry) => ({ ...entry, actor }))
  await recordEntriesOf(tx, orgId, ofActor)
}

/** The same of one thing that was done. */
export const recordEntry = (
  tx: ISql,
  orgId: string,
  actor: Actor,
  action: string,
  details: NewEntry['details'],
) => recordEntries(tx, orgId, actor, [{ action, details }])

const KEY_ACTOR = /^key_/

async function refuseEnded(tx: ISql, { userId, session }: Actor): Promise<void> {
  if (session === undefined && !KEY_ACTOR.test(userId)) return
  const valid =
    session === undefined
      ? await tx`
          select 1
          from api_keys k
          where k.id = ${userId.replace(KEY_ACTOR, '')}
            and k.revoked_at is null`
      : await tx`
          select 1
          from browser_sessions b
          where b.token_hash = ${Buffer.from(session, 'hex')}`
  if (valid.length === 0) throw new ApiError('UNAUTHORIZED', 'The API key or session has ended')
}

/** The same for entries of several actors, whoever they are by now. */
export async function recordEntriesOf(
  tx: ISql,
  orgId: string,
  entries: readonly (NewEntry & { actor: Actor })[],
): Promise<void> {
  if (entries.length === 0) return
  const first = await nextInstant(tx, orgId)
  const rows = entries.map((entry, index) => ({
    id: newId('log'),
    at: first + BigInt(index),
    action: entry.action,
    user_id: entry.actor.userId,
    details: JSON.stringify(entry.details),
    ip_address: entry.actor.ipAddress,
    given_at: null,
  }))
  await insertEntries(tx, orgId, rows, { imported: false })
}

async function nextInstant(tx: ISql, orgId: string): Promise<bigint> {
  const [row] = await tx<{ at: string }[]>`
    select to_char(
      greatest(
        clock_timestamp(),
        (
          select l.created_at + interval '1 microsecond'
          from audit_log l
          where l.org_id = ${orgId}
            and l.created_at <= now() + interval '1 day'
          order by l.created_at desc
          limit 1
        )
      ) at time zone 'UTC',
      ${TIME_PATTERN_US}
    ) as at`
  if (row === undefined) throw new Error('the database gave no time')
  return microsOf(row.at)
}

/** Inserts rows with unused ids and times, and counts them. `recorded_at` of imported ones is the time of the import. */
export async function insertEntries(
  tx: ISql,
  orgId: string,
  rows: readonly LogRow[],
  { imported }: { imported: boolean },
): Promise<void> {
  if (rows.length === 0) return
  const after = entriesWith(tx, idsOf(rows))
  await counting(
    tx,
    orgId,
    [AUDIT_ROLLUP],
    { before: undefined, after },
    () => tx`
      insert into audit_log (
        org_id, created_at, id, action, user_id, details, ip_address, given_at, recorded_at
      )
      select
        ${orgId}, n.created_at, n.id, n.action, n.user_id, n.details::json, n.ip_address, n.given_at,
        ${imported ? tx`clock_timestamp()` : tx`null`}
      from ${unnest(tx, rows, {
        created_at: ['timestamptz', ({ at }) => timestampOf(at)],
        id: 'text',
        action: 'text',
        user_id: 'text',
        details: 'text',
        ip_address: 'text',
        given_at: ['timestamptz', ({ given_at }) => (given_at === null ? null : timestampOf(given_at))],
      })}`,
  )
}

const entriesWith = (tx: ISql, ids: readonly string[]) => tx`s.id = any(${[...ids]}::text[])`

export async function deleteEntries(tx: ISql, orgId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await counting(tx, orgId, [AUDIT_ROLLUP], { before: entriesWith(tx, ids), after: undefined }, () =>
    deleteFrom(tx, orgId, 'audit_log', tx`and t.id = any(${[...ids]}::text[])`),
  )
}

/** Deletes the oldest entries before `before`, at most `limit`. Returns how many. */
async function deleteOldest(tx: ISql, orgId: string, before: Date, limit: number): Promise<number> {
  const old = await tx<{ id: string }[]>`
    select l.id
    from audit_log l
    where l.org_id = ${orgId}
      and l.created_at < ${before}
    order by l.created_at
    limit ${limit}`
  await deleteEntries(tx, orgId, idsOf(old))
  return old.length
}

/** Organizations in one round; the next round continues. */
const MAX_ORGANIZATIONS = 1_000

/** Audit entries deleted in one transaction, which holds the organization's lock for some 100 ms. */
const AUDIT_BATCH = 5_000

/** Deletes the audit entries before `before` in batches, with their counts. Returns how many. */
export async function deleteOldAuditEntries(sql: Sql, before: Date): Promise<number> {
  const organizations = await sql<{ org_id: string }[]>`
    select o.org_id
    -- every organization has one row there, on the same node as its entries
    from org_locks o
    join organizations t on t.org_id = o.org_id and t.deleted_at is null
    where exists (
      select 1
      from audit_log l
      where l.org_id = o.org_id
        and l.created_at < ${before}
    )
    limit ${MAX_ORGANIZATIONS}`
  return await sumBy(organizations, ({ org_id }) =>
    inBatches(AUDIT_BATCH, () =>
      inOrganization(sql, org_id, (tx) => deleteOldest(tx, org_id, before, AUDIT_BATCH)),
    ),
  )
}
