import type { ISql, Sql } from '../../database/client.ts'

// The rows of the running workers. What a worker without a row has in flight is due (claim.ts).

/** A row as another worker sees it. */
export interface WorkerRow {
  id: string
  /** Heartbeats counted by a worker behind a pooler; null: its session holds the lock of its id. */
  beats: string | null
  /** Whether that lock is free; null for a worker that beats and for the caller's own row. */
  is_free: boolean | null
}

/** A session's process, and whether the connection is to PostgreSQL itself. */
export interface Session {
  pid: number
  isDirect: boolean
}

/**
 * The session of the connection. A pooler gives its clients process numbers of its own, so that it can cancel
 * statements for them: these differ from the number of the process that executes the statement.
 */
export async function findSession(sql: Sql): Promise<Session> {
  const rows = await sql<{ pid: number }[]>`
    select pg_backend_pid() as pid`
  const pid = rows[0]?.pid ?? 0
  return { pid, isDirect: pid === rows.state.pid }
}

/** Takes the lock of the id for the session; false while another session has it. */
export async function lockWorker(sql: Sql, id: string): Promise<boolean> {
  const [row] = await sql<{ locked: boolean }[]>`
    select pg_try_advisory_lock(hashtextextended(${id}, 0)) as locked`
  return row?.locked === true
}

/** Inserts the row of a worker that holds its lock, where there is none. */
export async function insertWorker(sql: ISql, id: string): Promise<void> {
  await sql`
    insert into webhook_workers (id)
    values (${id})
    on conflict (id) do nothing`
}

/** Counts a heartbeat; inserts the worker's row where there is none. */
export async function countBeat(sql: ISql, id: string): Promise<void> {
  await sql`
    insert into webhook_workers as w (id, beats)
    values (${id}, 0)
    on conflict (id) do update set beats = coalesce(w.beats, 0) + 1`
}

/** All rows, with the process that executed the statement as the connection names it. */
export async function listWorkers(sql: ISql, ownId: string): Promise<{ rows: WorkerRow[]; pid: number }> {
  const rows = await sql<WorkerRow[]>`
    select
      w.id,
      w.beats::text as beats,
      case
        when w.id <> ${ownId} and w.beats is null then pg_try_advisory_xact_lock_shared(hashtextextended(w.id, 0))
      end as is_free
    from webhook_workers w`
  return { rows, pid: rows.state.pid }
}

/** A worker behind a pooler counts a heartbeat at least this often. */
const BEAT_LIMIT_MS = 1_600

/** Whether any worker runs. Takes 1.6 s where only heartbeats may tell. */
export async function isAnyAlive(sql: ISql): Promise<boolean> {
  const { rows: before } = await listWorkers(sql, '')
  if (before.some(({ is_free }) => is_free === false)) return true
  if (before.every(({ beats }) => beats === null)) return false
  await Bun.sleep(BEAT_LIMIT_MS)
  const { rows } = await listWorkers(sql, '')
  return rows.some(({ id, beats }) => beats !== before.find((row) => row.id === id)?.beats)
}

/**
 * Deletes the row of another worker, unless it has changed or a claim of that worker is about to be committed.
 * Returns whether it was deleted: what the worker has in flight is due then.
 */
export async function deleteEnded(sql: ISql, { id, beats }: WorkerRow): Promise<boolean> {
  const { count } = await sql`
    delete from webhook_workers
    where id in (
      select w.id
      from webhook_workers w
      where w.id = ${id}
        and w.beats is not distinct from ${beats}
      for update skip locked
    )`
  return count > 0
}

/** Deletes the caller's own row. */
export async function deleteWorker(sql: ISql, id: string): Promise<void> {
  await sql`
    delete from webhook_workers
    where id = ${id}`
}
