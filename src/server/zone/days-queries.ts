// Writes again the days that rows have beside times when the time zone changes, and declares them for `doctor`.

import { findZone } from '../../accounts/organizations/zone-queries.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import type { ProgramTable } from '../../database/derived-tables.ts'
import { dayIn } from '../../database/rows.ts'

/** When a row `t` of each table was. Citus garbles `case t.state when`. */
const TIMES = {
  sessions: 't.created_at',
  commits: 't.committed_at',
  limit_windows: 'coalesce(t.hit_at, t.last_at)',
  pr_risks: `
    case
      when t.state = 'merged' then coalesce(t.merged_at, t.closed_at, t.created_at)
      when t.state = 'closed' then coalesce(t.closed_at, t.created_at)
      else t.created_at
    end`,
}
type Dated = keyof typeof TIMES

/** Makes the day of the organization's time zone on which a row `t` was. */
async function dayOfRow(sql: ISql, orgId: string, table: Dated): Promise<() => Fragment> {
  const time = sql.unsafe(TIMES[table])
  const rows = await sql<{ day: string }[]>`
    select distinct (${time} at time zone 'UTC')::date as day
    from ${sql(table)} t
    where t.org_id = ${orgId}`
  const zone = await findZone(sql, orgId)
  return () =>
    dayIn(
      sql,
      sql`(${time})`,
      rows.map(({ day }) => day),
      zone,
    )
}

/** Lets the statements of the transaction take as long as they need. */
export async function waitForEver(tx: ISql): Promise<void> {
  await tx`set local statement_timeout = 0`
  await tx`set local lock_timeout = 0`
}

/** Writes the days of sessions, their findings, commits, windows of limits and pull requests again. Needs both locks of the organization. */
export async function writeDays(tx: ISql, orgId: string): Promise<void> {
  for (const table of Object.keys(TIMES) as Dated[]) {
    const day = await dayOfRow(tx, orgId, table)
    await tx`
      update ${tx(table)} t
      set day = ${day()}
      where t.org_id = ${orgId}
        and t.day <> ${day()}`
  }
  await tx`
    update findings f
    set day = s.day
    from sessions s
    where f.org_id = ${orgId}
      and s.org_id = ${orgId}
      and s.id = f.session_id
      and f.day <> s.day`
}

/** The written days, as `doctor` checks them. */
export const DAYS: ProgramTable = {
  name: 'days',
  async findDiffering(sql, orgId) {
    for (const table of Object.keys(TIMES) as Dated[]) {
      const day = await dayOfRow(sql, orgId, table)
      const [row] = await sql<{ day: string }[]>`
        select t.day::text as day
        from ${sql(table)} t
        where t.org_id = ${orgId}
          and t.day <> ${day()}
        limit 1`
      if (row !== undefined) return { table, ...row }
    }
    return undefined
  },
  rebuild: writeDays,
  describe: ({ table, day }) => `${day} in ${table}`,
}
