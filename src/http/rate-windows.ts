// Leases parts of an organization's requests a minute to instances, in the database, and deletes old counts.

import type { Sql } from '../database/client.ts'

/** Sync and telemetry have a window of their own, as large as that of all other requests: who sends starves nobody who reads. */
export type WindowName = 'read' | 'sync'

/** A lease's window: `usedBefore` requests of `minute` (Unix minutes) were leased before it, at `nowMs`. */
export interface LeasedWindow {
  minute: number
  usedBefore: number
  nowMs: number
}

/** Takes `count` requests of the organization's minute, by the database's clock or `at`, maybe more than the limit leaves. */
export async function leaseRequests(
  sql: Sql,
  orgId: string,
  window: WindowName,
  count: number,
  at: Date | null,
): Promise<LeasedWindow> {
  // A statement that waited for the row's lock may carry the previous minute: it counts in the row's minute.
  // A row more than a minute ahead was written before the clock was set back: it is reset.
  const [row] = await sql<LeasedWindow[]>`
    insert into rate_windows as w (org_id, name, minute, used)
    values (
      ${orgId},
      ${window},
      floor(extract(epoch from coalesce(${at}::timestamptz, clock_timestamp())) / 60)::bigint,
      ${count}
    )
    on conflict (org_id, name) do update
    set minute = case when w.minute = excluded.minute + 1 then w.minute else excluded.minute end,
      used = case when w.minute between excluded.minute and excluded.minute + 1 then w.used else 0 end
        + excluded.used
    returning w.minute::float8 as minute, (w.used - ${count})::float8 as "usedBefore",
      (extract(epoch from coalesce(${at}::timestamptz, clock_timestamp())) * 1000)::float8 as "nowMs"`
  if (row === undefined) throw new Error('the lease was not returned')
  return row
}

/** Deletes the request counts of organizations without a request in the last hour, and returns how many. */
export async function deleteStaleRateWindows(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from rate_windows
    where minute < extract(epoch from now()) / 60 - 60`
  return count
}
