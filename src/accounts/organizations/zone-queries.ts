// Reads an organization's time zone and its changes, and brings a new one in force. What is remembered of an organization is
// less than a second old, and a change is in force at the earliest CHANGE_AFTER_MS after it was asked for: an answer that
// knew of none, and took little time, has read before it.

import type { ISql } from '../../database/client.ts'

export const CHANGE_AFTER_MS = 1_500
const SURE_MS = 500

/** The time zone in force. Writers need the organization's lock, and looks at alerts those of the rules: it stays until their end. */
export async function findZone(sql: ISql, orgId: string): Promise<string> {
  const [row] = await sql<{ zone: string }[]>`
    select o.time_zone as zone
    from organizations o
    where o.org_id = ${orgId}`
  return row?.zone ?? 'UTC'
}

/** Reads by the time zone that is in force until the end of `work`, which is done again where a change came in between. */
export async function inZone<Result>(
  sql: ISql,
  { orgId, zone, isZoneChanging }: { orgId: string; zone: string; isZoneChanging: boolean },
  work: (zone: string) => Promise<Result>,
): Promise<Result> {
  const begunAt = performance.now()
  let by = isZoneChanging ? await findZone(sql, orgId) : zone
  for (;;) {
    const result = await work(by)
    if (!isZoneChanging && performance.now() - begunAt < SURE_MS) return result
    const now = await findZone(sql, orgId)
    if (now === by) return result
    // a list of all rows that has begun
    if (result instanceof Response) await result.body?.cancel()
    by = now
  }
}

/** The organizations whose change was asked for at least so long ago. */
export async function listZoneChanges(sql: ISql, afterMs: number): Promise<string[]> {
  const rows = await sql<{ org_id: string }[]>`
    select o.org_id
    from organizations o
    where o.time_zone_asked_at <= now() - ${afterMs} * interval '1 millisecond'
      and o.deleted_at is null
    order by o.time_zone_asked_at, o.org_id`
  return rows.map(({ org_id }) => org_id)
}

/** Puts the time zone that waits in force, and returns it; undefined where none waits. Needs the organization's lock. */
export async function beginZone(tx: ISql, orgId: string): Promise<string | undefined> {
  const [row] = await tx<{ zone: string }[]>`
    update organizations o
    set time_zone = o.time_zone_pending, time_zone_pending = null, time_zone_asked_at = null
    where o.org_id = ${orgId}
      and o.time_zone_pending is not null
    returning o.time_zone as zone`
  return row?.zone
}

/** Asks for another time zone. Needs the organization's lock. */
export async function askForZone(tx: ISql, orgId: string, zone: string): Promise<void> {
  await tx`
    update organizations
    set time_zone_pending = ${zone}, time_zone_asked_at = now()
    where org_id = ${orgId}`
}
