import type { Sql } from '../../src/db/client.ts'

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
