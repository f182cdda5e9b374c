import { type Static, Type } from '@sinclair/typebox'
import { closed, component } from '../../analysis/records/fields.ts'
import { Endpoint } from '../../webhooks/model.ts'
import { Alert } from '../alerts/model.ts'
import { usedBudget } from '../budgets/model.ts'

const NamedBudget = closed(
  {
    ...usedBudget.properties,
    name: Type.String({ description: 'Of the project, member or team', examples: ['payments'] }),
  },
  { title: 'NamedBudget' },
)

export const Attention = component('Attention', {
  alerts: Type.Array(Alert, { description: 'Those that fire, or miss data where they are to fire then' }),
  budgets: Type.Array(NamedBudget, {
    description: 'Of projects, members and teams, exceeded this month; /cost has that of the organization',
  }),
  mine: Type.Array(NamedBudget, { description: 'Those of the member of the request and of their team' }),
  endpoints: Type.Array(Endpoint, {
    description: 'Those whose last attempt failed; with the scope `webhooks`',
  }),
})
export type Attention = Static<typeof Attention>
