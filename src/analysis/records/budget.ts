import { type Static, Type } from '@sinclair/typebox'
import { closed } from './fields.ts'

export const BudgetRecord = closed({
  type: Type.Literal('budget'),
  month: Type.String({
    format: 'month',
    description: 'YYYY-MM; in force until a later month has a record',
  }),
  limit: Type.Number({ minimum: 0.000001, maximum: 1e9 }),
})
export type BudgetRecord = Static<typeof BudgetRecord>
