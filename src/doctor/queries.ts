import type { Sql } from '../db/client.ts'
import { type AppliedMigration, listApplied } from '../db/migrate.ts'

/** The server's version, as `18.4`. */
export async function serverVersion(sql: Sql): Promise<string> {
  const [row] = await sql<
    { version: string }[]
  >`select split_part(current_setting('server_version'), ' ', 1) as version`
  return row?.version ?? 'unknown'
}

/** The migrations that the database has; [] for an empty one. */
export async function appliedMigrations(sql: Sql): Promise<AppliedMigration[]> {
  const [table] = await sql<
    { found: boolean }[]
  >`select to_regclass('schema_migrations') is not null as found`
  return table?.found === true ? await listApplied(sql) : []
}
