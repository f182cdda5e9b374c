import { type Static, Type } from '@sinclair/typebox'
import { strict } from './fields.ts'

export const BudgetRecord = Type.Object(
  {
    type: Type.Literal('budget'),
    month: Type.String({
      format: 'month',
      description: 'YYYY-MM; in force until a later month has a record',
    }),
    limit: Type.Number({ minimum: 0.000001, maximum: 1e9 }),
  },
  strict,
)
export type BudgetRecord = Static<typeof BudgetRecord>
