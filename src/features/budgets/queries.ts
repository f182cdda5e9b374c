import { ApiError } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import { page } from '../../http/query.ts'
import type { BudgetListQuery, MonthBudget, MonthBudgetPage } from './model.ts'

type BudgetRow = { month: string; limit: string }

const budgetOf = ({ month, limit }: BudgetRow): MonthBudget => ({ month, limit: Number(limit) })

/** A page of the monthly limits, newest first. */
export async function listBudgetPage(
  sql: ISql,
  orgId: string,
  query: BudgetListQuery,
): Promise<MonthBudgetPage> {
  const [rows, [counted]] = await Promise.all([
    sql<BudgetRow[]>`
      select to_char(b.month, 'YYYY-MM') as month, b.limit_usd::text as limit
      from budgets b
      where b.org_id = ${orgId}
        and b.scope = 'organization'
      order by b.month desc
      limit ${query.per_page}
      offset ${(query.page - 1) * query.per_page}`,
    sql<{ total: number }[]>`
      select count(*)::integer as total
      from budgets b
      where b.org_id = ${orgId}`,
  ])
  return page(rows.map(budgetOf), query, counted?.total ?? 0)
}

/** The limit that is stored for this month. Throws NOT_FOUND. */
export async function getBudget(sql: ISql, orgId: string, month: string): Promise<MonthBudget> {
  const [row] = await sql<BudgetRow[]>`
    select to_char(b.month, 'YYYY-MM') as month, b.limit_usd::text as limit
    from budgets b
    where b.org_id = ${orgId}
      and b.scope = 'organization'
      and b.month = ${`${month}-01`}`
  if (row === undefined) throw noBudget()
  return budgetOf(row)
}

/** Deletes the limit of this month, so that the one before it holds. Throws NOT_FOUND. */
export async function deleteBudgetRow(tx: ISql, orgId: string, month: string): Promise<void> {
  const { count } = await tx`
    delete from budgets
    where org_id = ${orgId}
      and scope = 'organization'
      and month = ${`${month}-01`}`
  if (count === 0) throw noBudget()
}

export const noBudget = () => new ApiError('NOT_FOUND', 'There is no budget of this month')
