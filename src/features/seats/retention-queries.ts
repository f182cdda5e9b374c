import type { Fragment, ISql } from '../../database/client.ts'
import { sumWindowsOf } from '../usage/windows-write.ts'

/** The days of windows that were seen last before a day of UTC. */
const untilDay = (sql: ISql, day: string): Fragment => sql`and w.day <= ${day}::date + 1`

/** Plans that ended, and windows that were seen last, before a day. */
const old = (sql: ISql, orgId: string, firstDay: string): Record<'plans' | 'windows', Fragment> => ({
  plans: sql`
    from plans p
    where p.org_id = ${orgId}
      and p.last_day < ${firstDay}::date`,
  windows: sql`
    from limit_windows w
    where w.org_id = ${orgId}
      ${untilDay(sql, firstDay)}
      and w.last_at < ${firstDay}::date::timestamp at time zone 'UTC'`,
})

export async function hasOldSeats(sql: ISql, orgId: string, firstDay: string): Promise<boolean> {
  const { plans, windows } = old(sql, orgId, firstDay)
  const [row] = await sql<{ found: boolean }[]>`
    select exists (select ${plans}) or exists (select ${windows}) as found`
  return row?.found === true
}

/** Deletes them; needs the organization's lock. Returns how many there were. */
export async function deleteSeatsBefore(tx: ISql, orgId: string, firstDay: string) {
  const { plans, windows } = old(tx, orgId, firstDay)
  const deleted = {
    plans: (await tx`delete ${plans}`).count,
    windows: (await tx`delete ${windows}`).count,
  }
  if (deleted.windows > 0) await sumWindowsOf(tx, orgId, untilDay(tx, firstDay))
  return deleted
}
