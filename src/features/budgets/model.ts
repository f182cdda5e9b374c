import { type Static, Type } from '@sinclair/typebox'
import { BudgetRecord } from '../../analysis/records/budget.ts'
import { closed, component, Decimal, nullable, Text } from '../../analysis/records/fields.ts'
import { choiceOf, filterOrNone, oneOf, Paged, PageOf } from '../../http/query.ts'

export const BUDGET_ACTIONS = ['warn', 'block'] as const

const month = Text('YYYY-MM; in force until a later month has one of the same scope', '2026-11')
const limit = Decimal('US dollars', 2500)
const scope = closed(
  {
    project: Type.Optional(Type.String({ examples: ['checkout'] })),
    member: Type.Optional(Text('An id', 'user_7h2k9d')),
    team: Type.Optional(Type.String({ examples: ['payments'] })),
  },
  { title: 'BudgetScope', description: 'One of them, or none for the organization' },
)

export const MonthBudget = component('MonthBudget', { month, limit })

const STATES = ['ok', 'warning', 'exceeded'] as const
const status = oneOf(STATES, { description: '`warning`: from 80 percent on' })
const ofMonth = {
  current_cost: Decimal('US dollars of the month', 2150.25),
  percent_used: Type.Number({ examples: [86.01] }),
  status,
}

const ScopedBudget = component('ScopedBudget', {
  month,
  limit,
  scope,
  used: Type.Optional(
    nullable(
      closed(
        {
          ...ofMonth,
          projected_cost: Decimal('Of the month at its end', 2610.4),
          projected_exceed_date: nullable(Type.String({ format: 'date', examples: ['2026-11-27'] })),
        },
        {
          description:
            'With `include=used`: what the month cost, and this month will; null for a limit that is not in force then, or whose cost the caller may not see',
        },
      ),
    ),
  ),
})
export type ScopedBudget = Static<typeof ScopedBudget>

/** An empty one is refused: the scope would be the organization. */
const ofScope = (description: string, maxLength: number, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description, examples: [example], takesEmpty: true }))

/** Names the scope of a budget: one of them, or none. */
export const ScopeQuery = Type.Object({
  project: ofScope('Of this project', 200, 'checkout'),
  member: Type.Optional(
    Type.String({
      ...{ minLength: 1, maxLength: 320, examples: ['ada@example.com'] },
      description: 'Of this member: an id, or an address in any case',
    }),
  ),
  team: ofScope('Of this team', 100, 'payments'),
})

export const BudgetListQuery = Type.Object({
  ...ScopeQuery.properties,
  ...Paged,
  include: choiceOf(['used'], '`used`: also what is spent of each in the month', 'used'),
  month: Type.Optional(
    Type.String({
      ...{ pattern: '^[1-9]\\d{3}-(?:0[1-9]|1[0-2])$', examples: ['2026-11'] },
      description: 'The month of `used`, at most this one, which is the default',
    }),
  ),
})
export type BudgetListQuery = Static<typeof BudgetListQuery>
export const BudgetPage = PageOf(ScopedBudget)
export type BudgetPage = Static<typeof BudgetPage>

export const BudgetBody = closed(
  { limit: BudgetRecord.properties.limit },
  { title: 'BudgetLimit', examples: [{ limit: 2500 }] },
)

export const MyBudgetsQuery = Type.Object({
  project: filterOrNone('The project that is worked on', 200, 'checkout'),
})

export const usedBudget = closed({
  scope,
  limit,
  ...ofMonth,
})
export type UsedBudget = Static<typeof usedBudget>

export const MyBudgets = component('MyBudgets', {
  action: oneOf(BUDGET_ACTIONS, { description: 'What happens beyond a limit' }),
  budgets: Type.Array(usedBudget, {
    description: 'Of the organization, the member, their team and the project, where they have one',
  }),
})
export type MyBudgets = Static<typeof MyBudgets>
