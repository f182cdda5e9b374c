import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { budgetProblem, type NamedScope } from '../../analysis/records/budget.ts'
import type { RouteDeps } from '../../http/api.ts'
import { deleteBudget, refuseUnknownMonth, refuseWrongMonth, setBudget } from './changes.ts'
import {
  BudgetBody,
  BudgetListQuery,
  BudgetPage,
  MonthBudget,
  MyBudgets,
  MyBudgetsQuery,
  ScopeQuery,
} from './model.ts'
import { findMyBudgets, listBudgetPage } from './queries.ts'

/** Options of the routes whose query may name a scope. */
const ofScope = {
  check: ({ query }: { query: NamedScope }) => [budgetProblem(query, '') ?? []].flat(),
} as const

export const budgetRoutes = ({ now, api, inTurn }: RouteDeps) =>
  new Elysia({ prefix: '/budgets', tags: ['Settings'] })
    .use(api)
    .get('', ({ sql, query, orgId, seen }) => listBudgetPage(sql, orgId, query, seen), {
      ...ofScope,
      scope: 'admin or cost:read',
      query: BudgetListQuery,
      members: ({ member }: BudgetListQuery) => member !== undefined || 'left out',
      response: BudgetPage,
      detail: {
        operationId: 'listBudgets',
        summary: 'List the monthly limits, newest first',
        description:
          'Of the organization, its projects, members and teams; of one of them where it is named.',
      },
    })
    .get('/mine', ({ sql, query, access }) => findMyBudgets(sql, access, query.project, now()), {
      scope: 'sessions:write or cost:read',
      query: MyBudgetsQuery,
      response: MyBudgets,
      detail: {
        operationId: 'listMyBudgets',
        summary: 'This month’s budgets of who works on a project',
        description:
          'Of the organization, the member that the key is bound to, or the person, their team, and the project.',
      },
    })
    .put(
      '/:month',
      ({ params: { month }, query, body: { limit }, orgId, actor }) => {
        refuseWrongMonth(month)
        return inTurn(orgId, (tx) => setBudget(tx, orgId, actor, query, { month, limit }, now()))
      },
      {
        ...ofScope,
        scope: 'admin',
        query: ScopeQuery,
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
        refuseUnknownMonth(month)
        return inTurn(orgId, (tx) => deleteBudget(tx, orgId, actor, query, month))
      },
      {
        ...ofScope,
        scope: 'admin',
        query: ScopeQuery,
        response: { 204: Type.Void({ description: 'Deleted' }) },
        detail: {
          operationId: 'deleteBudget',
          summary: 'Delete the limit of a month',
          description: 'The limit of the month before it holds on.',
        },
      },
    )
