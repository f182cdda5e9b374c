// Keeps what requests of telemetry say until it is written to their sessions: a session that grows over many requests is
// composed and written once for all of them (server/intake/write-telemetry.ts). A row is of a session of a request, or is
// the entry of a request for the audit log.

import type { Actor, NewEntry } from '../../accounts/audit-log/append.ts'
import type { SessionFragments } from '../../analysis/records/fragments.ts'
import { ApiError } from '../../base/errors.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { refuseNewerSchema } from '../../database/newer-schema.ts'
import { deleteFrom, insert } from '../../database/rows.ts'
import { findPeopleOfUsers } from '../../features/sessions/writing/reassignment-queries.ts'

interface SentSession {
  id: string
  project: string | null
  email: string | null
  parts: SessionFragments
}

export interface InboxSession {
  session: string
  /** JSON of SessionFragments. */
  parts: string
  project: string | null
  email: string | null
  /** Sent by a member's key, which adds to no session of another user. */
  bound: boolean
}

/** Rows of the inbox, in the order in which they were sent. */
export interface InboxRows {
  ids: readonly string[]
  sessions: readonly InboxSession[]
  entries: readonly (NewEntry & { actor: Actor })[]
}

/** Rows read at once, and the size of their parts: the memory of a drain. */
const MAX_ROWS = 1_000
const MAX_CHARACTERS = 16 * 1024 * 1024

/** Finds the sessions to which the member's telemetry may not be added: another member's, and those without a user. */
export async function findForeign(sql: ISql, orgId: string, ids: readonly string[], email: string) {
  const rows = await sql<
    { id: string; user_id: string | null; user_email: string | null; isTelemetry: boolean }[]
  >`
    select
      s.id, s.user_id, s.user_email,
      (
        select d.detail->>'origin' = 'telemetry'
        from session_details d
        where d.org_id = ${orgId}
          and d.session_id = s.id
      ) as "isTelemetry"
    from sessions s
    where s.org_id = ${orgId}
      and s.id = any(${[...ids]}::text[])
    union all
    select t.session_id, null, t.user_email, true
    from telemetry_inbox t
    where t.org_id = ${orgId}
      and t.session_id = any(${[...ids]}::text[])`
  const user = { user_id: null, user_email: email }
  const people = await findPeopleOfUsers(sql, orgId, [user, ...rows])
  const isForeign = (row: (typeof rows)[number]) =>
    row.isTelemetry ? people.isOtherMember(row, user) : people.keyOf(row) !== people.keyOf(user)
  return new Set(rows.filter(isForeign).map(({ id }) => id))
}

/** Stores a request without the organization's lock. Throws UNAUTHORIZED, and 503 where a newer program has migrated. */
export async function storeInInbox(
  sql: Sql,
  orgId: string,
  sessions: readonly SentSession[],
  { bound, actor, entry }: { bound: boolean; actor: Actor; entry: NewEntry },
): Promise<void> {
  const rows = [
    ...sessions.map(({ id, project, email, parts }) => ({
      ...{ session_id: id, parts: JSON.stringify(parts), project, user_email: email, is_bound: bound },
      ...{ actor_id: null, ip_address: null, entry: null },
    })),
    {
      ...{ session_id: null, parts: null, project: null, user_email: null, is_bound: bound },
      ...{ actor_id: actor.userId, ip_address: actor.ipAddress, entry: JSON.stringify(entry) },
    },
  ]
  await sql.begin(async (tx) => {
    // waits for nobody but the deletion of the organization, after which no row would be deleted
    const locked = tx`
      select l.org_id
      from org_locks l
      where l.org_id = ${orgId}
      for key share`.execute()
    const [{ count }] = await Promise.all([locked, refuseNewerSchema(tx)])
    if (count === 0) throw new ApiError('UNAUTHORIZED', 'The organization was deleted')
    await insert(tx, orgId, 'telemetry_inbox', rows, {
      id: ['text', () => crypto.randomUUID()],
      session_id: 'text',
      parts: 'json',
      project: 'text',
      user_email: 'text',
      is_bound: 'boolean',
      actor_id: 'text',
      ip_address: 'text',
      entry: 'json',
    })
  })
}

/** The sessions of the inbox, the one that waits longest first. */
export async function listSessions(sql: ISql, orgId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select t.session_id as id
    from telemetry_inbox t
    where t.org_id = ${orgId}
      and t.session_id is not null
    group by t.session_id
    order by min(t.received_at)`
  return rows.map(({ id }) => id)
}

/** The oldest rows of these sessions, and of requests; `isAll` where there are no others. */
export async function readInbox(sql: ISql, orgId: string, sessions: readonly string[]) {
  const rows = await sql<
    (Omit<InboxSession, 'session' | 'parts'> & {
      id: string
      userId: string
      session: string | null
      parts: string | null
      entry: NewEntry | null
      ipAddress: string | null
      total: number
    })[]
  >`
    select
      t.id, t.session_id as session, t.parts, t.project, t.user_email as email, t.is_bound as bound, t.entry,
      t.actor_id as "userId", t.ip_address as "ipAddress", t.total
    from (
      select r.*, count(*) over ()::integer as total,
        sum(octet_length(r.parts)) over (order by r.received_at, r.id) - octet_length(r.parts) as before
      from telemetry_inbox r
      where r.org_id = ${orgId}
        and (r.session_id is null or r.session_id = any(${[...sessions]}::text[]))
    ) t
    where coalesce(t.before, 0) < ${MAX_CHARACTERS}
    order by t.received_at, t.id
    limit ${MAX_ROWS}`
  return {
    isAll: rows.length === (rows[0]?.total ?? 0),
    ids: rows.map(({ id }) => id),
    sessions: rows.flatMap(({ session, parts, project, email, bound }) =>
      session === null || parts === null ? [] : [{ session, parts, project, email, bound }],
    ),
    entries: rows.flatMap(({ entry, userId, ipAddress }) =>
      entry === null ? [] : [{ ...entry, actor: { userId, ipAddress } }],
    ),
  }
}

/** Deletes rows that are written. Needs the organization's lock. Throws InboxChanged when some are gone. */
export async function takeFromInbox(tx: ISql, orgId: string, ids: readonly string[]): Promise<void> {
  const count = await deleteFrom(tx, orgId, 'telemetry_inbox', tx`and t.id = any(${[...ids]}::text[])`)
  if (count < ids.length) throw new InboxChanged()
}

/** Another instance has written the rows, or their session was deleted, since they were read. */
export class InboxChanged extends Error {}

/** Organizations whose rows an instance left that has ended: one that runs writes its own before. */
export async function findLeft(sql: ISql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct t.org_id as id
    from telemetry_inbox t
    where t.received_at < now() - interval '3 seconds'`
  return rows.map(({ id }) => id)
}
