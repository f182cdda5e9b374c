import { Type } from '@sinclair/typebox'
import { recordEntries } from '../audit-log/append.ts'
import { writeBudgetAlerts } from '../cost/budget-alerts.ts'
import { writeBudgets } from '../cost/write.ts'
import { dateOf, isDate, monthOf } from '../dates.ts'
import { validationError } from '../errors.ts'
import { action, type RouteDeps, read } from '../http/route.ts'
import { derivedId } from '../ids.ts'
import { budgetEvents } from '../sync/events.ts'
import { emit } from '../webhooks/outbox/events.ts'
import { BudgetBody, BudgetListQuery, MonthBudget, MonthBudgetPage } from './budget-model.ts'
import { deleteBudgetRow, getBudget, listBudgetPage, noBudget } from './budget-queries.ts'
import type { SettingsDeps } from './deps.ts'

const tag = 'Settings'

const isMonth = (text: string): boolean => /^\d{4}-\d{2}$/.test(text) && isDate(`${text}-01`)

export const budgetRoutes = ({ sql, now }: RouteDeps, { inTurn: change }: SettingsDeps) => {
  return [
    read('/budgets', 'admin', {
      id: 'listBudgets',
      summary: 'List the monthly limits, newest first',
      tag,
      query: BudgetListQuery,
      response: MonthBudgetPage,
      handler: ({ query, access: { orgId } }) => listBudgetPage(sql, orgId, query),
    }),
    action('PUT', '/budgets/:month', 'admin', {
      id: 'setBudget',
      summary: 'Set the limit from a month on',
      description: 'It is in force until a later month has one.',
      tag,
      body: BudgetBody,
      response: { 200: MonthBudget },
      handler: ({ params: { month }, body, access: { orgId, actor } }) => {
        if (!isMonth(month)) throw validationError({ field: 'month', message: 'must be a month, as 2026-11' })
        return change(orgId, async (tx) => {
          const at = now()
          const written = await writeBudgets(tx, orgId, [{ type: 'budget', month, limit: body.limit }])
          if (written.created + written.updated > 0) {
            const exceeded = await writeBudgetAlerts(tx, orgId, [monthOf(dateOf(at))])
            const done = written.created > 0 ? 'created' : 'updated'
            const ids = [...written.createdIds, ...written.updatedIds]
            await recordEntries(tx, orgId, actor, [
              { action: `budget.${done}`, details: { [done]: 1, ids, month, limit: body.limit } },
            ])
            await emit(tx, orgId, at, budgetEvents(exceeded))
          }
          return await getBudget(tx, orgId, month)
        })
      },
    }),
    action('DELETE', '/budgets/:month', 'admin', {
      id: 'deleteBudget',
      summary: 'Delete the limit of a month',
      description: 'The limit of the month before it holds on.',
      tag,
      response: { 204: Type.Void({ description: 'Deleted' }) },
      handler: async ({ params: { month }, access: { orgId, actor } }) => {
        if (!isMonth(month)) throw noBudget()
        await change(orgId, async (tx) => {
          await deleteBudgetRow(tx, orgId, month)
          const ids = [derivedId('budget', `${month}-01`)]
          await recordEntries(tx, orgId, actor, [{ action: 'budget.deleted', details: { ids, month } }])
        })
      },
    }),
  ]
}
