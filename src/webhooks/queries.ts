import type { Sql } from '../db/client.ts'

/** Organizations looked at in one round; the next round goes on. */
const MAX_ORGANIZATIONS = 1_000

/**
 * Deletes the request counts of organizations that asked nothing for an hour, and returns how many. One statement an
 * organization: none writes to two, so that it also holds where the tables are spread over servers.
 */
export async function deleteStaleRateWindows(sql: Sql): Promise<number> {
  const stale = await sql<{ org_id: string }[]>`
    select w.org_id
    from rate_windows w
    where w.minute < extract(epoch from now()) / 60 - 60
    limit ${MAX_ORGANIZATIONS}`
  let deleted = 0
  for (const { org_id } of stale) {
    const result = await sql`
      delete from rate_windows w
      where w.org_id = ${org_id}
        and w.minute < extract(epoch from now()) / 60 - 60`
    deleted += result.count
  }
  return deleted
}
