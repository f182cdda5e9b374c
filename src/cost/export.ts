import type { Sql } from '../db/client.ts'

/** Every budget as a line of NDJSON. */
export async function exportBudgets(sql: Sql, orgId: string): Promise<string> {
  const rows = await sql<{ month: string; limit: string }[]>`
    select to_char(b.month, 'YYYY-MM') as month, b.limit_usd::text as limit
    from budgets b
    where b.org_id = ${orgId}
    order by b.month`
  return rows
    .map(({ month, limit }) => `${JSON.stringify({ type: 'budget', month, limit: Number(limit) })}\n`)
    .join('')
}
