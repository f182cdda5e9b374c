// Statements of backup and restore: tables, their rows by COPY, keys and indexes, and what lets somebody in afterwards.

import type { Readable, Writable } from 'node:stream'
import type { ISql, Sql } from '../client.ts'

/** A table with the columns that are stored: what is computed from others is computed again. */
export interface StoredTable {
  name: string
  columns: readonly string[]
  /** Size on disk, without indexes. */
  bytes: number
}

/** All tables of the schema by name but those that are not logged: rate limits of the minute, which a crash loses too. */
export async function listTables(sql: ISql): Promise<StoredTable[]> {
  return await sql<StoredTable[]>`
    select c.relname as name, a.columns, pg_table_size(c.oid)::float8 as bytes
    from pg_class c
    cross join lateral (
      select array_agg(a.attname::text order by a.attnum) as columns
      from pg_attribute a
      where a.attrelid = c.oid
        and a.attnum > 0
        and not a.attisdropped
        and a.attgenerated = ''
    ) a
    where c.relnamespace = current_schema()::regnamespace
      and c.relkind = 'r'
      and c.relpersistence = 'p'
    order by c.relname collate "C"`
}

/** Lists all relations of the schema: names of tables, views, sequences, not those of extensions. */
export async function listRelations(sql: ISql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace
      and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    order by c.relname collate "C"`
  return rows.map((row) => row.name)
}

/** Locks the tables against changes of the schema. A filter by row level security becomes an error. */
export async function lockTables(tx: ISql, names: readonly string[]): Promise<void> {
  await tx`set local row_security = off`
  await tx`lock table ${tx(names)} in access share mode`
}

/** Reads the time of the snapshot, in RFC 3339 with microseconds, and the server's version, as `18.4`. */
export async function describeServer(tx: ISql): Promise<{ now: string; version: string }> {
  const [row] = await tx<{ now: string; version: string }[]>`
    select
      to_char(now(), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now,
      split_part(current_setting('server_version'), ' ', 1) as version`
  if (row === undefined) throw new Error('PostgreSQL gave no row')
  return row
}

/** The rows of a table as the text of COPY, in the order of storage. */
export async function* copyOut(tx: ISql, { name, columns }: Omit<StoredTable, 'bytes'>) {
  await tx`set local synchronize_seqscans = off`
  const query = tx`copy ${tx(name)} (${tx(columns)}) to stdout`
  const stream = await query.readable()
  try {
    yield* inBlocks(stream)
  } finally {
    if (!stream.readableEnded && !stream.destroyed) {
      // the reader gave up: without this the connection would wait for it, and be of no more use
      stream.on('error', () => {})
      const closed = Promise.withResolvers<void>()
      stream.on('close', closed.resolve)
      query.cancel()
      stream.removeAllListeners('data').resume()
      await closed.promise
    }
    // The driver pauses its socket when the stream is full. At the end of the stream nobody resumes it.
    stream._read(0)
  }
}

const BLOCK_BYTES = 256 * 1024

/** The stream's rows in blocks of about 256 KiB: each row alone would take as long as all else. */
async function* inBlocks(stream: Readable): AsyncGenerator<Buffer> {
  let rows: Buffer[] = []
  let size = 0
  for await (const row of stream.iterator({ destroyOnReturn: false })) {
    rows.push(row)
    size += row.length
    if (size < BLOCK_BYTES) continue
    yield Buffer.concat(rows, size)
    ;[rows, size] = [[], 0]
  }
  if (size > 0) yield Buffer.concat(rows, size)
}

/** Takes the rows of a table that this transaction has made or emptied, which may go unlogged and need no vacuum. */
export async function copyIn(tx: ISql, { name, columns }: Omit<StoredTable, 'bytes'>): Promise<Writable> {
  return await tx`copy ${tx(name)} (${tx(columns)}) from stdin with (freeze)`.writable()
}

export async function emptyTables(tx: ISql, names: readonly string[]): Promise<void> {
  await tx`truncate ${tx(names)}`
}

/** Statements that remove and make primary and unique keys, indexes, then foreign keys: rows are taken several times faster without them, in any order. */
export async function listKeysAndIndexes(sql: ISql) {
  return await sql<{ remove: string; make: string }[]>`
    select k.remove, k.make
    from (
      select
        array_position(array['p', 'u', 'i', 'f'], n.contype::text) as place,
        n.conname as name,
        format('alter table %s drop constraint %I', n.conrelid::regclass, n.conname) as remove,
        format('alter table %s add constraint %I %s', n.conrelid::regclass, n.conname, pg_get_constraintdef(n.oid)) as make
      from pg_constraint n
      where n.connamespace = current_schema()::regnamespace
        and n.contype in ('p', 'u', 'f')
      union all
      select 3, x.relname, format('drop index %s', x.oid::regclass), pg_get_indexdef(x.oid)
      from pg_index i
      join pg_class x on x.oid = i.indexrelid
      where x.relnamespace = current_schema()::regnamespace
        and not exists (select from pg_constraint n where n.conindid = x.oid and n.contype in ('p', 'u'))
    ) k
    order by k.place, k.name collate "C"`
}

/** Statistics for the planner, which a new table has none of. */
export async function analyze(sql: Sql): Promise<void> {
  await sql`analyze`
}

/** Lists what lets somebody in, or data out, by slug of the organization: working API keys, people who can sign in, destinations. */
export async function listWaysIn(sql: ISql) {
  const api_keys = await sql<{ id: string; name: string; scopes: string[]; organization: string }[]>`
    select k.id, k.name, k.scopes, o.slug as organization
    from api_keys k
    join organizations o on o.org_id = k.org_id
    where k.revoked_at is null
      and (k.expires_at is null or k.expires_at > now())
    order by o.slug collate "C", k.id collate "C"`
  const people = await sql<{ email: string; role: string; signs_in_by: string; organization: string }[]>`
    select m.email, m.role,
      concat_ws(' and ', case when a.password_hash is not null then 'password' end, a.issuer) as signs_in_by,
      o.slug as organization
    from accounts a
    join members m on m.org_id = a.org_id and m.id = a.member_id
    join organizations o on o.org_id = a.org_id
    where a.password_hash is not null
      or a.subject is not null
    order by o.slug collate "C", m.email collate "C"`
  const destinations = await sql<{ id: string; url: string; enabled: boolean; organization: string }[]>`
    select e.id, e.url, e.enabled, o.slug as organization
    from webhook_endpoints e
    join organizations o on o.org_id = e.org_id
    order by o.slug collate "C", e.id collate "C"`
  return { api_keys, people, destinations }
}

/**
 * Lists what lets somebody in without being asked again: sessions of browsers, invitations, devices that were approved and have
 * not taken their keys; `end` ends them. Also for a schema of an earlier version, whose columns are those; before 0013 there are none.
 */
export async function listSignIns(sql: ISql, end = false) {
  const [table] = await sql<{ found: boolean }[]>`select to_regclass('invitations') is not null as found`
  if (!table?.found) return { sessions: [], invitations: [], devices: [] }
  const sessions = await sql<{ email: string; role: string; sessions: number; organization: string }[]>`
    select m.email, m.role, count(*)::integer as sessions, o.slug as organization
    from browser_sessions s
    join members m on m.org_id = s.org_id and m.id = s.member_id
    join organizations o on o.org_id = s.org_id
    group by m.email, m.role, o.slug
    order by o.slug collate "C", m.email collate "C"`
  const invitations = await sql<{ email: string; role: string; organization: string }[]>`
    select m.email, m.role, o.slug as organization
    from invitations i
    join members m on m.org_id = i.org_id and m.id = i.member_id
    join organizations o on o.org_id = i.org_id
    where i.expires_at > now()
    order by o.slug collate "C", m.email collate "C"`
  const devices = await sql<{ name: string; email: string; organization: string }[]>`
    select d.name, m.email, o.slug as organization
    from device_requests d
    join members m on m.org_id = d.org_id and m.id = d.member_id
    join organizations o on o.org_id = d.org_id
    where d.approved
    order by o.slug collate "C", m.email collate "C", d.user_code collate "C"`
  if (end) await emptyTables(sql, ['browser_sessions', 'invitations', 'device_requests'])
  return { sessions, invitations, devices }
}

/** Whether the database has webhook endpoints, and the digest of the key that their secrets are encrypted with. */
export async function findSecretKeyDigest(sql: ISql): Promise<Uint8Array | undefined> {
  const [row] = await sql<{ digest: Uint8Array }[]>`
    select k.digest
    from secret_key_check k
    where exists (select e.id from webhook_endpoints e)`
  return row?.digest
}
