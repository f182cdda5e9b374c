import { type Static, Type } from '@sinclair/typebox'
import { closed, component, Text } from '../../analysis/records/fields.ts'
import { oneOfOr } from '../../http/query.ts'

export const FirstDaysQuery = Type.Object({
  by: oneOfOr(['project', 'member', 'team', 'model', 'agent', 'branch'], 'project', 'What a key is of'),
})
export type FirstDaysQuery = Static<typeof FirstDaysQuery>

export const FirstDays = component('FirstDays', {
  data: Type.Array(
    closed({
      key: Text('As in the breakdown', 'checkout'),
      first_day: Type.String({
        format: 'date',
        description: 'Of its first session',
        examples: ['2026-06-02'],
      }),
    }),
    { description: 'By `first_day`, then key: what comes later changes no place before it; at most 1,000' },
  ),
})
export type FirstDays = Static<typeof FirstDays>
