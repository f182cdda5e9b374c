// Lists the keys of a breakdown in the order of the days on which they came first, those of one day by their bytes.

import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import type { Sql } from '../../database/client.ts'
import { PRIVATE } from '../usage/model.ts'
import { usageRows } from '../usage/sources.ts'
import { columnOfKey, teamTable } from '../usage/sums.ts'
import type { FirstDays, FirstDaysQuery } from './first-days-model.ts'

/** Keys that are listed: those that came first. */
const MAX_KEYS = 1_000

export async function listFirstDays(
  sql: Sql,
  orgId: string,
  { by }: FirstDaysQuery,
  onlyMember: VisibleMember | null,
): Promise<FirstDays> {
  const filters = onlyMember !== null && PRIVATE.includes(by) ? { member: onlyMember.id } : {}
  const columns = [by === 'team' ? ('member' as const) : by]
  const data = await sql<FirstDays['data']>`
    with ${teamTable(sql, orgId)}
    select k.key, min(k.bucket)::text as first_day
    from (
      select ${columnOfKey(sql, by)} as key, r.bucket
      from (${usageRows(sql, orgId, filters, { columns, buckets: 'day' })}) r
    ) k
    where k.key is not null
    group by k.key
    order by min(k.bucket), k.key collate "C"
    limit ${MAX_KEYS}`
  return { data: [...data] }
}
