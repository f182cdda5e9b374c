import type { Sql } from './client.ts'

/** Resolves when the database answers. */
export async function ping(sql: Sql): Promise<void> {
  await sql`select 1`
}
