import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { recordEntries } from '../../accounts/audit-log/append.ts'
import type { Change } from '../../accounts/organizations/gate.ts'
import { dateOf, isDate, monthOf } from '../../base/dates.ts'
import { validationError } from '../../base/errors.ts'
import { derivedId } from '../../base/ids.ts'
import type { RouteDeps } from '../../http/api.ts'
import { emitBudgetAlerts } from '../cost/budget-alerts.ts'
import { writeBudgets } from '../cost/write.ts'
import { BudgetBody, BudgetListQuery, MonthBudget, MonthBudgetPage } from './model.ts'
import { deleteBudgetRow, getBudget, listBudgetPage, noBudget } from './queries.ts'

const isMonth = (text: string): boolean => /^\d{4}-\d{2}$/.test(text) && isDate(`${text}-01`)

export const budgetRoutes = ({ sql, now, api }: RouteDeps, { inTurn: change }: { inTurn: Change }) =>
  new Elysia({ prefix: '/budgets', tags: ['Settings'] })
    .use(api)
    .get('', ({ query, access: { orgId } }) => listBudgetPage(sql, orgId, query), {
      scope: 'admin',
      query: BudgetListQuery,
      response: MonthBudgetPage,
      detail: { operationId: 'listBudgets', summary: 'List the monthly limits, newest first' },
    })
    .put(
      '/:month',
      async ({ params: { month }, body, access: { orgId, actor } }) => {
        if (!isMonth(month)) throw validationError({ field: 'month', message: 'must be a month, as 2026-11' })
        return await change(orgId, async (tx) => {
          const at = now()
          const written = await writeBudgets(tx, orgId, [{ type: 'budget', month, limit: body.limit }])
          if (written.created + written.updated > 0) {
            const changed = { month: monthOf(dateOf(at)), scope: 'organization', scope_key: '' } as const
            const done = written.created > 0 ? 'created' : 'updated'
            const ids = [...written.createdIds, ...written.updatedIds]
            await recordEntries(tx, orgId, actor, [
              { action: `budget.${done}`, details: { [done]: 1, ids, month, limit: body.limit } },
            ])
            await emitBudgetAlerts(tx, orgId, [changed], at)
          }
          return await getBudget(tx, orgId, month)
        })
      },
      {
        scope: 'admin',
        body: BudgetBody,
        response: MonthBudget,
        detail: {
          operationId: 'setBudget',
          summary: 'Set the limit from a month on',
          description: 'It is in force until a later month has one.',
        },
      },
    )
    .delete(
      '/:month',
      async ({ params: { month }, status, access: { orgId, actor } }) => {
        if (!isMonth(month)) throw noBudget()
        await change(orgId, async (tx) => {
          await deleteBudgetRow(tx, orgId, month)
          const ids = [derivedId('budget', `${month}-01`)]
          await recordEntries(tx, orgId, actor, [{ action: 'budget.deleted', details: { ids, month } }])
        })
        return status(204, undefined)
      },
      {
        scope: 'admin',
        response: { 204: Type.Void({ description: 'Deleted' }) },
        detail: {
          operationId: 'deleteBudget',
          summary: 'Delete the limit of a month',
          description: 'The limit of the month before it holds on.',
        },
      },
    )
