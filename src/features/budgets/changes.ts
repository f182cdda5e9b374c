import { type Actor, recordEntries } from '../../accounts/audit-log/append.ts'
import type { NamedScope } from '../../analysis/records/budget.ts'
import { dateOf, isDate, monthOf } from '../../base/dates.ts'
import { MONEY_DECIMALS, scaled, unscaled } from '../../base/decimals.ts'
import { validationError } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import { emitBudgetAlerts } from '../cost/budget-alerts.ts'
import { writeBudgets } from '../cost/write.ts'
import { budgetIdOf, findScope, shownScope } from '../usage/scope-queries.ts'
import { deleteBudgetRow, noBudget } from './queries.ts'

const isMonth = (text: string): boolean => /^\d{4}-\d{2}$/.test(text) && isDate(`${text}-01`)

/** Sets the limit of a scope from a month on. Throws VALIDATION_ERROR for what is no month, and for an unknown scope. */
export async function setBudget(
  tx: ISql,
  orgId: string,
  actor: Actor,
  named: NamedScope,
  { month, limit }: { month: string; limit: number },
  now: Date,
): Promise<{ month: string; limit: number }> {
  const scope = await findScope(tx, orgId, named)
  const shown = shownScope(scope)
  const written = await writeBudgets(tx, orgId, [{ type: 'budget', month, limit, ...shown }])
  if (written.created + written.updated > 0) {
    const done = written.created > 0 ? 'created' : 'updated'
    const ids = [budgetIdOf(scope, `${month}-01`)]
    const details = { [done]: 1, ids, month, limit, ...shown }
    await recordEntries(tx, orgId, actor, [{ action: `budget.${done}`, details }])
    await emitBudgetAlerts(tx, orgId, [{ month: monthOf(dateOf(now)), ...scope }], now)
  }
  return { month, limit: unscaled(scaled(limit, MONEY_DECIMALS), MONEY_DECIMALS) }
}

/** Throws VALIDATION_ERROR where the path to set a limit names no month. */
export function refuseWrongMonth(month: string): void {
  if (!isMonth(month)) throw validationError({ field: 'month', message: 'must be a month, as 2026-11' })
}

/** Throws NOT_FOUND where the path of a limit names no month. */
export function refuseUnknownMonth(month: string): void {
  if (!isMonth(month)) throw noBudget()
}

/** Deletes the limit of a month. Throws NOT_FOUND. */
export async function deleteBudget(
  tx: ISql,
  orgId: string,
  actor: Actor,
  named: NamedScope,
  month: string,
): Promise<void> {
  const scope = await findScope(tx, orgId, named)
  await deleteBudgetRow(tx, orgId, scope, month)
  const details = { ids: [budgetIdOf(scope, `${month}-01`)], month, ...shownScope(scope) }
  await recordEntries(tx, orgId, actor, [{ action: 'budget.deleted', details }])
}
