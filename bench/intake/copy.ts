import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from '../../src/database/client.ts'

/** The tables that a session is written to. */
export const TABLES = [
  'sessions',
  'session_details',
  'session_rollups',
  'session_hours',
  'session_directories',
  'session_links',
  'session_usage',
  'session_tickets',
  'usage_rollups',
  'branch_rollups',
  'findings',
  'finding_rollups',
  'file_rollups',
  'file_risks',
  'risk_levels',
] as const

const SCHEMA = 'bench_copy'

/** COPY of the rows that the tables now have, from files of the server, into empty tables with the same indexes. */
export async function prepareCopy(sql: Sql, dataDir: string): Promise<() => Promise<void>> {
  const folder = join(dataDir, 'copy')
  mkdirSync(folder, { recursive: true })
  // PostgreSQL may run as another user
  chmodSync(folder, 0o777)
  await sql`drop schema if exists ${sql(SCHEMA)} cascade`
  await sql`create schema ${sql(SCHEMA)}`
  const loads: string[] = []
  for (const table of TABLES) {
    const [row] = await sql<{ columns: string }[]>`
      select string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
      from pg_attribute a
      where a.attrelid = ${`public.${table}`}::regclass
        and a.attnum > 0
        and not a.attisdropped
        and a.attgenerated = ''`
    const file = join(folder, table)
    await sql.unsafe(`copy public.${table} (${row?.columns}) to '${file}'`)
    await sql.unsafe(`create table ${SCHEMA}.${table} (like public.${table} including all)`)
    loads.push(`copy ${SCHEMA}.${table} (${row?.columns}) from '${file}'`)
  }
  return async () => {
    for (const load of loads) await sql.unsafe(load)
  }
}

/** Empties the tables of sessions, and removes those of COPY. */
export async function emptyTables(sql: Sql): Promise<void> {
  await sql.unsafe(`drop schema if exists ${SCHEMA} cascade`)
  await sql.unsafe(`truncate ${TABLES.join(', ')}`)
  await sql`checkpoint`
}
