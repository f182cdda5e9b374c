import { findLastChanges, NOTHING_WRITTEN, type WriteResult } from '../../analysis/records/changes.ts'
import type { SyncRecord } from '../../analysis/records/records.ts'
import { decimalText, MONEY_DECIMALS, scaled } from '../../base/decimals.ts'
import { derivedId } from '../../base/ids.ts'
import type { ISql } from '../../database/client.ts'
import { unnest } from '../../database/rows.ts'

interface BudgetRow {
  /** First day of the month. */
  month: string
  limit: string
}

/** Writes the batch's budget records, one limit a month. Needs the organization's lock. */
export async function writeBudgets(
  tx: ISql,
  orgId: string,
  records: readonly SyncRecord[],
): Promise<WriteResult> {
  const budgets = records.flatMap((record): BudgetRow[] => {
    if (record.type !== 'budget') return []
    const limit = decimalText(scaled(record.limit, MONEY_DECIMALS), MONEY_DECIMALS)
    return [{ month: `${record.month}-01`, limit }]
  })
  if (budgets.length === 0) return NOTHING_WRITTEN
  const stored = await findBudgets(
    tx,
    orgId,
    budgets.map(({ month }) => month),
  )
  const { rows, ...result } = findLastChanges(budgets, stored, {
    keyOf: ({ month }) => month,
    idOf: ({ month }) => derivedId('budget', month),
    isSame: (budget, known) => budget.limit === known.limit,
  })
  await upsertBudgets(tx, orgId, rows)
  return result
}

async function findBudgets(tx: ISql, orgId: string, months: string[]): Promise<Map<string, BudgetRow>> {
  const rows = await tx<BudgetRow[]>`
    select b.month::text as month, b.limit_usd::text as limit
    from budgets b
    where b.org_id = ${orgId}
      and b.scope = 'organization'
      and b.month = any(${months}::date[])`
  return new Map(rows.map((row) => [row.month, row]))
}

async function upsertBudgets(tx: ISql, orgId: string, budgets: readonly BudgetRow[]): Promise<void> {
  if (budgets.length === 0) return
  await tx`
    insert into budgets (org_id, month, limit_usd)
    select ${orgId}, n.*
    from ${unnest(tx, budgets, { month: 'date', limit_usd: ['numeric', ({ limit }) => limit] })}
    on conflict (org_id, scope, scope_key, month) do update set limit_usd = excluded.limit_usd`
}
