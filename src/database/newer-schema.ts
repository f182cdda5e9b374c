// Refuses writes once a newer program has migrated the database. While instances are upgraded one after the other, an older
// one does not know what else the new schema keeps of a row: figures would be wrong for ever. So it only reads.

import { type ApiError, busy } from '../base/errors.ts'
import type { ISql } from './client.ts'
import { MIGRATIONS } from './migrate.ts'

const WATCH_MS = 1_000
/** Another instance, or this one after its restart, takes the write. */
const RETRY_S = 5

/** `ok`, or that the database has a newer schema than this program. */
export type SchemaState = () => string

async function schemaState(sql: ISql): Promise<string> {
  const [row] = await sql<{ number: number | null }[]>`
    select max(m.number) as number
    from schema_migrations m`
  const number = row?.number ?? 0
  return number > MIGRATIONS.length
    ? `the database has schema ${number}, newer than this program's ${MIGRATIONS.length}: it only reads until it is upgraded`
    : 'ok'
}

/** 503, for a write that this program must not do. */
export const newerSchema = (state: string): ApiError => busy(state, RETRY_S)

/** Throws 503 when a newer program has migrated the database. Exact after a lock on a row of `org_locks`: a migration locks it. */
export async function refuseNewerSchema(tx: ISql): Promise<void> {
  const state = await schemaState(tx)
  if (state !== 'ok') throw newerSchema(state)
}

/** Looks every second, by `run`, whether a newer program has migrated the database, until it has: then calls `onNewer`. */
export function watchSchema(
  run: (statement: (sql: ISql) => Promise<string>) => Promise<string>,
  onNewer: (state: string) => void,
): { state: SchemaState; stop(): void } {
  let state = 'ok'
  let isLooking = false
  const look = async () => {
    if (isLooking) return
    isLooking = true
    // while the database is away it is written by nobody
    state = await run(schemaState).catch(() => state)
    isLooking = false
    if (state === 'ok') return
    clearInterval(timer)
    onNewer(state)
  }
  const timer = setInterval(() => void look(), WATCH_MS)
  return { state: () => state, stop: () => clearInterval(timer) }
}
