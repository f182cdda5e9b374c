import type { ISql, Sql } from '../../database/client.ts'

/** A limit in US dollars a month, which holds from its month on, as `2026-11`, until the next one. */
interface BudgetLimit {
  month: string
  limit: number
  currency: 'USD'
}

/** The organization's limits, oldest first. */
export async function listBudgets(sql: ISql, orgId: string): Promise<BudgetLimit[]> {
  const rows = await sql<{ month: string; limit: string }[]>`
    select to_char(b.month, 'YYYY-MM') as month, b.limit_usd::text as limit
    from budgets b
    where b.org_id = ${orgId}
      and b.scope = 'organization'
    order by b.month`
  return rows.map(({ month, limit }) => ({ month, limit: Number(limit), currency: 'USD' }))
}

/** Every budget as a line of NDJSON. */
export async function exportBudgets(sql: Sql, orgId: string): Promise<string> {
  const budgets = await listBudgets(sql, orgId)
  return budgets.map(({ month, limit }) => `${JSON.stringify({ type: 'budget', month, limit })}\n`).join('')
}
