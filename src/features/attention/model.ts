import { type Static, Type } from '@sinclair/typebox'
import { closed, component, nullable, Text, Timestamp } from '../../analysis/records/fields.ts'
import { Endpoint } from '../../webhooks/model.ts'
import { Alert } from '../alerts/model.ts'
import { usedBudget } from '../budgets/model.ts'
import { Machine } from '../members/team-model.ts'
import { MySeats } from '../seats/model.ts'
import { ListedFinding } from '../security/finding-model.ts'

const NamedBudget = closed(
  {
    ...usedBudget.properties,
    name: Text('Of the project, member or team; empty for the organization', 'payments'),
  },
  { title: 'NamedBudget' },
)

export const Attention = component('Attention', {
  alerts: Type.Array(Alert, { description: 'Those that fire, or miss data where they are to fire then' }),
  budgets: Type.Array(NamedBudget, {
    description: 'Of projects, members and teams, exceeded this month; /cost has that of the organization',
  }),
  mine: Type.Array(NamedBudget, {
    description: 'Those of the organization, the member of the request and their team',
  }),
  windows: MySeats.properties.windows,
  endpoints: Type.Array(Endpoint, {
    description: 'Those whose last attempt failed; with the scope `webhooks`',
  }),
  critical: closed(
    {
      total: Type.Integer({ examples: [13] }),
      oldest: Type.Array(ListedFinding, { description: 'At most three' }),
    },
    { description: 'Open critical findings; none without the scope `security:read`' },
  ),
  unpriced: Type.Array(
    closed({
      model: nullable(Type.String({ examples: ['gpt-6.9-sol'] })),
      tokens: Type.Integer({ examples: [15_000_000] }),
    }),
    { description: 'Models without a known price in the last 30 days, those with most tokens first' },
  ),
  silent_machines: Type.Array(Machine, {
    description: 'Those that sent sessions, and for 3 to 30 days nothing; none without the scope `team:read`',
  }),
  backup: nullable(
    closed(
      {
        last_at: nullable(Timestamp('When the newest one began')),
        failed_at: nullable(Timestamp('Since the last success')),
      },
      {
        description:
          'Where it failed, is missing, or is older than 2 × BACKUP_EVERY (two days without); with the scope `admin`, of ' +
          'a server that has one organization',
      },
    ),
  ),
  days_moved_at: nullable(
    Timestamp(
      'When cost moved from the first days of sessions to those of their calls; null where there was none before',
    ),
  ),
})
export type Attention = Static<typeof Attention>
