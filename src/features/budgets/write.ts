// Writes budgets of records, deletes those of a member, and renames a project or team in budgets.

import { findLastChanges, type WriteResult } from '../../analysis/records/changes.ts'
import type { SentRecord } from '../../analysis/records/records.ts'
import { decimalText, MONEY_DECIMALS, scaled } from '../../base/decimals.ts'
import { fieldError } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import type { Renaming } from '../../database/rollups.ts'
import { deleteFrom, unnest, upsert } from '../../database/rows.ts'
import { findMemberIds, NO_MEMBER } from '../usage/member-queries.ts'
import { type BudgetScope, budgetIdOf, isOfScope, scopeOf } from './scope-queries.ts'

interface BudgetRow extends BudgetScope {
  /** First day of the month. */
  month: string
  limit: string
}

export interface BudgetsWritten extends WriteResult {
  /** The scopes of those that are new or have changed. */
  scopes: readonly BudgetScope[]
}

const keyOf = ({ scope, scope_key, month }: BudgetRow) => JSON.stringify([scope, scope_key, month])

/**
 * Writes the batch's budget records, one limit a month of each scope. Needs the organization's lock, after members are written.
 * Throws VALIDATION_ERROR for a member who does not exist.
 */
export async function writeBudgets(tx: ISql, orgId: string, sent: readonly SentRecord<'budget'>[]) {
  const memberIds = sent.flatMap(({ record }) => record.member ?? [])
  const ids = await findMemberIds(tx, orgId, memberIds)
  const budgets = sent.map(({ prefix, record }): BudgetRow => {
    const scope = scopeOf(record)
    const month = `${record.month}-01`
    const limit = decimalText(scaled(record.limit, MONEY_DECIMALS), MONEY_DECIMALS)
    if (scope.scope !== 'member') return { ...scope, month, limit }
    const id = ids.get(scope.scope_key)
    if (id === undefined) throw fieldError(`${prefix}member`, NO_MEMBER)
    return { scope: 'member', scope_key: id, month, limit }
  })
  const { rows, ...result } = findLastChanges(budgets, await findStored(tx, orgId, budgets), {
    keyOf,
    idOf: (budget) => budgetIdOf(budget, budget.month),
    isSame: (budget, before) => budget.limit === before.limit,
  })
  await upsert(tx, orgId, { table: 'budgets', key: ['scope', 'scope_key', 'month'] }, rows, {
    scope: 'text',
    scope_key: 'text',
    month: 'date',
    limit_usd: ['numeric', ({ limit }) => limit],
  })
  return { ...result, scopes: rows }
}

async function findStored(tx: ISql, orgId: string, budgets: readonly BudgetRow[]) {
  const rows = await tx<BudgetRow[]>`
    select b.scope, b.scope_key, b.month::text as month, b.limit_usd::text as limit
    from budgets b
    join ${unnest(tx, budgets, { scope: 'text', scope_key: 'text', month: 'date' })}
      on b.scope = n.scope
      and b.scope_key = n.scope_key
      and b.month = n.month
    where b.org_id = ${orgId}`
  return new Map(rows.map((row) => [keyOf(row), row]))
}

const TABLES = ['budgets', 'budget_alerts']

/** Deletes the budgets of a scope that is gone. Needs the organization's lock. */
export async function deleteBudgetsOf(tx: ISql, orgId: string, scope: BudgetScope): Promise<void> {
  for (const table of TABLES) await deleteFrom(tx, orgId, table, tx`and ${isOfScope(tx, scope)}`)
}

/** Renames the project of budgets; one of the same month that has the new name already stays. Needs the organization's lock. */
export async function renameInBudgets(tx: ISql, orgId: string, { from, to }: Renaming): Promise<void> {
  for (const table of TABLES) {
    await tx`
      update ${tx(table)} b
      set scope_key = ${to}
      where b.org_id = ${orgId}
        and b.scope = 'project'
        and b.scope_key = ${from}
        and not exists (
          select
          from ${tx(table)} o
          where o.org_id = ${orgId}
            and o.scope = 'project'
            and o.scope_key = ${to}
            and o.month = b.month
        )`
  }
  await deleteBudgetsOf(tx, orgId, { scope: 'project', scope_key: from })
}
