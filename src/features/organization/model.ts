import { type Static, Type } from '@sinclair/typebox'
import { MAX_RETENTION_DAYS } from '../../accounts/organizations/model.ts'
import {
  closed,
  component,
  Flag,
  name,
  nullable,
  Text,
  Timestamp,
  TimeZone,
} from '../../analysis/records/fields.ts'
import { PLANS } from '../../config.ts'
import { oneOf } from '../../http/query.ts'
import { MAX_LABEL_LENGTH } from '../badges/model.ts'
import { BUDGET_ACTIONS } from '../budgets/model.ts'

const VISIBILITIES = ['public', 'private'] as const
const MEMBER_VISIBILITIES = ['all', 'own'] as const

const label = Type.String({ maxLength: MAX_LABEL_LENGTH })
const color = Type.String({ maxLength: 20, examples: ['brightgreen', '#4c1'] })
const threshold = Type.Number({ minimum: 0, maximum: 100 })
const pattern = Type.String({ minLength: 1, maxLength: 200, examples: ['[A-Z][A-Z0-9]{1,9}-[0-9]{1,7}'] })
const ignored = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 100 })
const memberVisibility = oneOf(MEMBER_VISIBILITIES, {
  description: '`own`: developers see only their own sessions and figures',
})
const budgetAction = oneOf(BUDGET_ACTIONS, {
  description: 'The hook on laptops warns beyond a budget, or refuses prompts',
})
const retention = nullable(
  Type.Integer({
    minimum: 1,
    maximum: MAX_RETENTION_DAYS,
    description: 'Sessions are deleted after so many days; null: they are kept for ever',
  }),
)

export const OrganizationSettings = component('OrganizationSettings', {
  id: Type.String({ examples: ['org_4k2m8d'] }),
  slug: Type.String({ examples: ['demo'] }),
  name: Type.String({ examples: ['Demo'] }),
  plan: oneOf(PLANS),
  hide_members: Flag('Members are shown to keys with the scope team:read only', false),
  member_visibility: memberVisibility,
  retention_sessions_days: retention,
  retention_pending: nullable(
    closed(
      { days: Type.Integer(), sessions: Type.Integer(), at: Timestamp('UTC, milliseconds') },
      {
        description:
          'A shorter retention that waits: it holds from `at` on, and would delete so many sessions',
      },
    ),
  ),
  time_zone: TimeZone,
  time_zone_pending: nullable(
    closed(
      { time_zone: TimeZone, at: Timestamp('When it was asked for: UTC, milliseconds') },
      { description: 'A time zone that will be in force when all days are computed anew' },
    ),
  ),
  badges: closed({
    visibility: oneOf(VISIBILITIES),
    token: nullable(Type.Literal(true, { description: 'There is a token; only its SHA-256 is stored' })),
    labels: closed({ quality: label, security: label, cost: label }),
    colors: closed({ good: color, medium: color, bad: color }),
    thresholds: closed({ good: threshold, medium: threshold }),
  }),
  ticket_pattern: pattern,
  ticket_ignore: ignored,
  budget_action: budgetAction,
  github_secret_set: Flag('Whether the secret of GitHub’s webhook is set'),
})
export type OrganizationSettings = Static<typeof OrganizationSettings>

const change = <Fields extends Parameters<typeof Type.Object>[0]>(fields: Fields) =>
  Type.Optional(Type.Partial(closed(fields)))
const orDefault = <Schema extends Parameters<typeof nullable>[0]>(schema: Schema) =>
  Type.Union([schema, Type.Null({ description: 'the default' })])

export const OrganizationChangeBody = closed(
  {
    name: Type.Optional(name(200)),
    hide_members: Type.Optional(Type.Boolean()),
    member_visibility: Type.Optional(memberVisibility),
    retention_sessions_days: Type.Optional(retention),
    confirm_retention: Type.Optional(Flag('true: the shorter retention that waits holds at once')),
    time_zone: Type.Optional(TimeZone),
    badges: change({
      visibility: oneOf(VISIBILITIES),
      token: Type.Null({ description: 'Removes the token' }),
      labels: Type.Partial(
        closed({ quality: orDefault(label), security: orDefault(label), cost: orDefault(label) }),
      ),
      colors: orDefault(Type.Partial(closed({ good: color, medium: color, bad: color }))),
      thresholds: orDefault(Type.Partial(closed({ good: threshold, medium: threshold }))),
    }),
    ticket_pattern: Type.Optional(orDefault(pattern)),
    ticket_ignore: Type.Optional(orDefault(ignored)),
    budget_action: Type.Optional(budgetAction),
    github_secret: Type.Optional(
      nullable(Type.String({ minLength: 1, maxLength: 256, description: 'Write-only; null removes it' })),
    ),
  },
  // settings that delete, hide or let in are changed by who names them
  { title: 'OrganizationChange', examples: [{ name: 'Demo' }] },
)
export type OrganizationChangeBody = Static<typeof OrganizationChangeBody>

export const BadgeToken = component('BadgeToken', {
  token: Text('Shown once; it replaces the token before', 'badge_…'),
})
