import { type TSchema, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { type Actor, recordEntry } from '../../accounts/audit-log/append.ts'
import { budgetProblem, type NamedScope } from '../../analysis/records/budget.ts'
import { checked, refined } from '../../analysis/records/problems.ts'
import { dayOf, isDate } from '../../base/dates.ts'
import { MONEY_DECIMALS, scaled, unscaled } from '../../base/decimals.ts'
import { problemIf } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import type { RouteDeps } from '../../http/api.ts'
import { emitBudgetAlerts } from './alert-write.ts'
import {
  BudgetBody,
  BudgetListQuery,
  BudgetPage,
  MonthBudget,
  MyBudgets,
  MyBudgetsQuery,
  ScopeQuery,
} from './model.ts'
import { deleteBudgetRow, findMyBudgets, listBudgetPage, noBudget } from './queries.ts'
import { budgetIdOf, findScope, shownScope } from './scope-queries.ts'
import { writeBudgets } from './write.ts'

const isMonth = (text: string): boolean => /^\d{4}-\d{2}$/.test(text) && isDate(`${text}-01`)

/** Sets the limit of a scope from a month on. Throws VALIDATION_ERROR for an unknown scope. */
async function setBudget(
  tx: ISql,
  orgId: string,
  actor: Actor,
  names: NamedScope,
  { month, limit }: { month: string; limit: number },
  now: Date,
): Promise<{ month: string; limit: number }> {
  const scope = await findScope(tx, orgId, names)
  const shown = shownScope(scope)
  const record = { type: 'budget' as const, month, limit, ...shown }
  const written = await writeBudgets(tx, orgId, [{ prefix: '', record }])
  if (written.created + written.updated > 0) {
    const done = written.created > 0 ? 'created' : 'updated'
    const ids = [budgetIdOf(scope, `${month}-01`)]
    const details = { [done]: 1, ids, month, limit, ...shown }
    await recordEntry(tx, orgId, actor, `budget.${done}`, details)
    await emitBudgetAlerts(tx, orgId, [scope], now)
  }
  return { month, limit: unscaled(scaled(limit, MONEY_DECIMALS), MONEY_DECIMALS) }
}

/** Deletes the limit of a month. Throws NOT_FOUND. */
async function deleteBudget(tx: ISql, orgId: string, actor: Actor, names: NamedScope, month: string) {
  const scope = await findScope(tx, orgId, names)
  await deleteBudgetRow(tx, orgId, scope, month)
  const details = { ids: [budgetIdOf(scope, `${month}-01`)], month, ...shownScope(scope) }
  await recordEntry(tx, orgId, actor, 'budget.deleted', details)
}

const ofOneScope = <Query extends TSchema>(query: Query): Query =>
  checked(query, (scope) => [budgetProblem(scope as NamedScope, '') ?? []].flat())

const MonthPath = refined(Type.Object({ month: Type.String() }), (path) =>
  problemIf(!isMonth((path as { month: string }).month), 'month', 'must be a month, as 2026-11'),
)

export const budgetRoutes = ({ read, now, api, inTurn }: RouteDeps) =>
  new Elysia({ prefix: '/budgets', tags: ['Settings'] })
    .use(api)
    .get(
      '',
      ({ query, orgId, viewer, inZone }) =>
        inZone((zone) => read(orgId, (sql) => listBudgetPage(sql, orgId, query, viewer, dayOf(now(), zone)))),
      {
        scope: 'admin or cost:read',
        query: ofOneScope(BudgetListQuery),
        members: ({ member }: BudgetListQuery) => member !== undefined || 'left out',
        response: BudgetPage,
        detail: {
          operationId: 'listBudgets',
          summary: 'List the monthly limits, newest first',
          description:
            'Of the organization, its projects, members and teams; of one of them where it is named.',
        },
      },
    )
    .get(
      '/mine',
      ({ query, orgId, access, inZone }) =>
        inZone((zone) => read(orgId, (sql) => findMyBudgets(sql, access, query.project, dayOf(now(), zone)))),
      {
        scope: 'sessions:write or cost:read',
        query: MyBudgetsQuery,
        response: MyBudgets,
        detail: {
          operationId: 'listMyBudgets',
          summary: 'This month’s budgets of who works on a project',
          description:
            'Of the organization, the member that the key is bound to, or the person, their team, and the project.',
        },
      },
    )
    .put(
      '/:month',
      ({ params: { month }, query, body: { limit }, orgId, actor }) =>
        inTurn(orgId, (tx) => setBudget(tx, orgId, actor, query, { month, limit }, now())),
      {
        scope: 'admin',
        params: MonthPath,
        query: ofOneScope(ScopeQuery),
        body: BudgetBody,
        response: MonthBudget,
        detail: {
          operationId: 'setBudget',
          summary: 'Set the limit from a month on',
          description:
            'Of the organization, or of the scope that is named. It is in force until a later month has one.',
        },
      },
    )
    .delete(
      '/:month',
      ({ params: { month }, query, orgId, actor }) => {
        if (!isMonth(month)) throw noBudget()
        return inTurn(orgId, (tx) => deleteBudget(tx, orgId, actor, query, month))
      },
      {
        scope: 'admin',
        query: ofOneScope(ScopeQuery),
        response: { 204: Type.Void({ description: 'Deleted' }) },
        detail: {
          operationId: 'deleteBudget',
          summary: 'Delete the limit of a month',
          description: 'The limit of the month before it holds on.',
        },
      },
    )
