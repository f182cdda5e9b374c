// Reads plans and windows of limits as records, for the export and `plan list`.

import type { LimitRecord, PlanRecord } from '../../analysis/records/plan.ts'
import type { ISql } from '../../database/client.ts'
import { pagesOf } from '../../database/rows.ts'
import { windowColumns } from './limit-write.ts'
import { shownPlan } from './plan-queries.ts'
import { type PlanRow, planColumns } from './plan-write.ts'
import { recordsOf, type Window } from './windows.ts'

const PAGE = 500

export async function listPlanRecords(sql: ISql, orgId: string): Promise<PlanRecord[]> {
  const rows = await sql<PlanRow[]>`
    select ${planColumns(sql)}
    from plans p
    where p.org_id = ${orgId}
    order by p.first_day, p.id`
  return rows.map((row) => ({ type: 'plan', ...shownPlan(row) }))
}

/** The windows of limits as records. */
export async function* listLimitRecords(sql: ISql, orgId: string): AsyncGenerator<LimitRecord[]> {
  const read = async ({ place }: { place: string[] }) =>
    await sql<(Window & { place: string[] })[]>`
      select
        ${windowColumns(sql)},
        array[w.owner, w.vendor, w.limit_name, w.scope, w.resets::text, w.starts::text] as place
      from limit_windows w
      where w.org_id = ${orgId}
        and (w.owner, w.vendor, w.limit_name, w.scope, w.resets, w.starts)
          > (${place[0] ?? ''}, ${place[1] ?? ''}, ${place[2] ?? ''}, ${place[3] ?? ''}, ${place[4] ?? 'false'}::text::boolean, ${place[5] ?? '-infinity'}::timestamptz)
      order by w.owner, w.vendor, w.limit_name, w.scope, w.resets, w.starts
      limit ${PAGE}`
  for await (const rows of pagesOf(PAGE, { place: [] as string[] }, read)) yield rows.flatMap(recordsOf)
}
