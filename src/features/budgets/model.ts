import { type Static, Type } from '@sinclair/typebox'
import { BudgetRecord } from '../../analysis/records/budget.ts'
import { component } from '../../analysis/records/fields.ts'
import { Page, PageOf, PerPage } from '../../http/query.ts'

export const MonthBudget = component('MonthBudget', {
  month: Type.String({
    description: 'YYYY-MM; in force until a later month has one',
    examples: ['2026-11'],
  }),
  limit: Type.Number({ description: 'US dollars', examples: [2500] }),
})
export type MonthBudget = Static<typeof MonthBudget>

export const BudgetListQuery = Type.Object({ page: Page, per_page: PerPage })
export type BudgetListQuery = Static<typeof BudgetListQuery>
export const MonthBudgetPage = PageOf(MonthBudget)
export type MonthBudgetPage = Static<typeof MonthBudgetPage>

export const BudgetBody = component('BudgetLimit', { limit: BudgetRecord.properties.limit })
