// The record of a budget's limit, as sync and `budget set` send it.

import { type Static, Type } from '@sinclair/typebox'
import type { FieldProblem } from '../../base/errors.ts'
import { component, name, optional } from './fields.ts'

const SCOPES = ['project', 'member', 'team'] as const

export const BudgetRecord = component('BudgetRecord', {
  type: Type.Literal('budget'),
  month: Type.String({
    format: 'month',
    description: 'YYYY-MM; in force until a later month has a record of the same scope',
  }),
  limit: Type.Number({ minimum: 0.000001, maximum: 1e9 }),
  project: optional(name(200)),
  member: optional(
    Type.String({ minLength: 1, maxLength: 320, description: 'An id, or an address in any case' }),
  ),
  team: optional(name(100)),
})
export type BudgetRecord = Static<typeof BudgetRecord>

/** Names a project, a member or a team; none of them for the organization. */
export type NamedScope = { [Name in (typeof SCOPES)[number]]?: string | null | undefined }

export function budgetProblem(scope: NamedScope, at: string): FieldProblem | undefined {
  const [, second] = SCOPES.filter((field) => scope[field] != null)
  return second && { field: `${at}${second}`, message: 'must not be given beside another scope' }
}
