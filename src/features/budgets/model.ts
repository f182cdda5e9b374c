import { type Static, Type } from '@sinclair/typebox'
import { BudgetRecord } from '../../analysis/records/budget.ts'
import { closed, component } from '../../analysis/records/fields.ts'
import { oneOf, Page, PageOf, PerPage } from '../../http/query.ts'

export const BUDGET_ACTIONS = ['warn', 'block'] as const

const month = Type.String({
  description: 'YYYY-MM; in force until a later month has one of the same scope',
  examples: ['2026-11'],
})
const limit = Type.Number({ description: 'US dollars', examples: [2500] })
const scope = closed(
  {
    project: Type.Optional(Type.String({ examples: ['checkout'] })),
    member: Type.Optional(Type.String({ description: 'An id', examples: ['user_7h2k9d'] })),
    team: Type.Optional(Type.String({ examples: ['payments'] })),
  },
  { title: 'BudgetScope', description: 'One of them, or none for the organization' },
)

export const MonthBudget = component('MonthBudget', { month, limit })

const ScopedBudget = component('ScopedBudget', { month, limit, scope })
export type ScopedBudget = Static<typeof ScopedBudget>

/** Names the scope of a budget: one of them, or none. */
export const ScopeQuery = Type.Object({
  project: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Of this project', examples: ['checkout'] }),
  ),
  member: Type.Optional(
    Type.String({
      ...{ minLength: 1, maxLength: 320, examples: ['ada@example.com'] },
      description: 'Of this member: an id, or an address in any case',
    }),
  ),
  team: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Of this team', examples: ['payments'] }),
  ),
})

export const BudgetListQuery = Type.Object({ ...ScopeQuery.properties, page: Page, per_page: PerPage })
export type BudgetListQuery = Static<typeof BudgetListQuery>
export const BudgetPage = PageOf(ScopedBudget)
export type BudgetPage = Static<typeof BudgetPage>

export const BudgetBody = closed(
  { limit: BudgetRecord.properties.limit },
  { title: 'BudgetLimit', examples: [{ limit: 2500 }] },
)

export const MyBudgetsQuery = Type.Object({
  project: Type.Optional(
    Type.String({ maxLength: 200, description: 'The project that is worked on', examples: ['checkout'] }),
  ),
})

export const usedBudget = closed({
  scope,
  limit,
  current_cost: Type.Number({ description: 'US dollars of this month (UTC)', examples: [2150.25] }),
  percent_used: Type.Number({ examples: [86.01] }),
  status: oneOf(['ok', 'warning', 'exceeded'], { description: '`warning`: from 80 percent on' }),
})
export type UsedBudget = Static<typeof usedBudget>

export const MyBudgets = component('MyBudgets', {
  action: oneOf(BUDGET_ACTIONS, { description: 'What happens beyond a limit' }),
  budgets: Type.Array(usedBudget, {
    description: 'Of the organization, the member, their team and the project, where they have one',
  }),
})
export type MyBudgets = Static<typeof MyBudgets>
