// Lists the limits of an organization, its projects, members and teams, for the export and `budget list`.

import type { ISql } from '../../database/client.ts'
import { type BudgetScope, shownScope } from './scope-queries.ts'

/** A limit in US dollars a month, which holds from its month on, as `2026-11`, until the next one of the same scope. */
interface BudgetLimit {
  month: string
  limit: number
  currency: 'USD'
  project?: string
  member?: string
  team?: string
}

export async function listBudgetLimits(sql: ISql, orgId: string): Promise<BudgetLimit[]> {
  const rows = await sql<(BudgetScope & { month: string; limit: string })[]>`
    select to_char(b.month, 'YYYY-MM') as month, b.limit_usd::text as limit, b.scope, b.scope_key
    from budgets b
    where b.org_id = ${orgId}
    order by b.month, b.scope <> 'organization', b.scope, b.scope_key collate "C"`
  return rows.map(({ month, limit, ...scope }) => ({
    ...{ month, limit: Number(limit), currency: 'USD' },
    ...shownScope(scope),
  }))
}
