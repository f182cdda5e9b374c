import type { Sql } from '../../database/client.ts'

/** Connections of a pool's name (`serve`, `writes`, `worker` …), of all instances. */
interface ConnectionCount {
  pool: string
  /** The state in `pg_stat_activity`: `active`, `idle`, `in transaction` … */
  state: string
  count: number
}

/** PostgreSQL's version, bytes of the database on disk, the program's connections to it, and sessions whose tickets wait. */
export async function readDatabase(sql: Sql) {
  const [database] = await sql<{ version: string; sizeBytes: number; ticketTextsWaiting: number }[]>`
    select
      (select count(*)::integer from ticket_waiting) as "ticketTextsWaiting",
      split_part(current_setting('server_version'), ' ', 1) as version,
      pg_database_size(current_database())::float8 as "sizeBytes"`
  const connections = await sql<ConnectionCount[]>`
    select
      split_part(a.application_name, ' ', 2) as pool,
      case when a.state like 'idle in transaction%' then 'in transaction' else coalesce(a.state, 'unknown') end as state,
      count(*)::integer as count
    from pg_stat_activity a
    where a.datname = current_database()
      and a.application_name like 'cloud-analytics %'
    group by 1, 2
    order by 1, 2`
  if (database === undefined) throw new Error('the database gave no row')
  return { ...database, connections }
}
