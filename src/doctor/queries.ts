import type { Sql } from '../db/client.ts'

/** The server's version, as `18.4`. */
export async function serverVersion(sql: Sql): Promise<string> {
  const [row] = await sql<
    { version: string }[]
  >`select split_part(current_setting('server_version'), ' ', 1) as version`
  return row?.version ?? 'unknown'
}

/** How many migrations the database has; 0 for an empty one. */
export async function appliedMigrations(sql: Sql): Promise<number> {
  const [table] = await sql<
    { found: boolean }[]
  >`select to_regclass('schema_migrations') is not null as found`
  if (table?.found !== true) return 0
  const [row] = await sql<{ applied: number }[]>`
    select count(*)::int as applied
    from schema_migrations m`
  return row?.applied ?? 0
}
