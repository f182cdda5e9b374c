import type { ISql } from '../../database/client.ts'

/** The names of a worker's connections in PostgreSQL begin with it. */
export const WORKER_APPLICATION = 'cloud-analytics worker'

/** Whether a worker of any instance is connected to this database. */
export async function isAnyConnected(sql: ISql): Promise<boolean> {
  const { count } = await sql`
    select 1
    from pg_stat_activity a
    where a.datname = current_database()
      and starts_with(a.application_name, ${WORKER_APPLICATION})
    limit 1`
  return count > 0
}
