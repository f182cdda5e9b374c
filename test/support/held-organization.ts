import type { Sql } from '../../src/database/client.ts'
import { eventually } from './cli.ts'

/** Locks the organization as a writer does; resolves to what unlocks it. */
export async function holdOrganization(sql: Sql, orgId: string): Promise<() => Promise<void>> {
  const end = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holder = sql.begin(async (tx) => {
    await tx`select 1 from org_locks l where l.org_id = ${orgId} for update`
    locked.resolve()
    await end.promise
  })
  await Promise.race([locked.promise, holder])
  return async () => {
    end.resolve()
    await holder
  }
}

/** Until a writer waits for an organization that is held. On Citus it waits on another node, of which only its query tells. */
export async function untilWriterWaits(sql: Sql): Promise<void> {
  await eventually(
    () => sql`
      select
      from pg_stat_activity a
      where a.datname = current_database()
        and a.state = 'active'
        and a.query like '%update org_locks%'
        and a.pid <> pg_backend_pid()`,
    (waiting) => waiting.length > 0,
  )
}
