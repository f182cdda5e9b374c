import type { Sql } from '../client.ts'

/** Ends the connections whose `application_name` begins with `name`; their transactions are rolled back. */
export async function endConnections(sql: Sql, name: string): Promise<void> {
  await sql`
    select pg_terminate_backend(a.pid)
    from pg_stat_activity a
    where starts_with(a.application_name, ${name})
      and a.pid <> pg_backend_pid()`
}
