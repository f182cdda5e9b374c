import { type Static, Type } from '@sinclair/typebox'
import { MAX_LABEL_LENGTH } from '../badges/model.ts'
import { PLANS } from '../config.ts'
import { oneOf } from '../http/query.ts'
import { name, nullable, strict } from '../records/fields.ts'

const VISIBILITIES = ['public', 'private'] as const
const MEMBER_VISIBILITIES = ['all', 'own'] as const
const MAX_RETENTION_DAYS = 36_500

const label = Type.String({ maxLength: MAX_LABEL_LENGTH })
const color = Type.String({ maxLength: 20, examples: ['brightgreen', '#4c1'] })
const threshold = Type.Number({ minimum: 0, maximum: 100 })
const pattern = Type.String({ minLength: 1, maxLength: 200, examples: ['[A-Z][A-Z0-9]{1,9}-[0-9]{1,7}'] })
const ignored = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 100 })
const memberVisibility = oneOf(MEMBER_VISIBILITIES, {
  description: '`own`: developers see only their own sessions and figures',
})
const retention = nullable(
  Type.Integer({
    minimum: 1,
    maximum: MAX_RETENTION_DAYS,
    description: 'Sessions are deleted after so many days; null: they are kept for ever',
  }),
)

export const OrganizationSettings = Type.Object(
  {
    id: Type.String({ examples: ['org_4k2m8d'] }),
    slug: Type.String({ examples: ['acme'] }),
    name: Type.String({ examples: ['Acme'] }),
    plan: oneOf(PLANS),
    hide_members: Type.Boolean({ description: 'Members are shown to keys with the scope team:read only' }),
    member_visibility: memberVisibility,
    retention_sessions_days: retention,
    badges: Type.Object(
      {
        visibility: oneOf(VISIBILITIES),
        token: nullable(Type.Literal(true, { description: 'There is a token; only its SHA-256 is stored' })),
        labels: Type.Object({ quality: label, security: label, cost: label }, strict),
        colors: Type.Object({ good: color, medium: color, bad: color }, strict),
        thresholds: Type.Object({ good: threshold, medium: threshold }, strict),
      },
      strict,
    ),
    ticket_pattern: pattern,
    ticket_ignore: ignored,
    github_secret_set: Type.Boolean({ description: 'Whether the secret of GitHub’s webhook is set' }),
  },
  { ...strict, title: 'OrganizationSettings' },
)
export type OrganizationSettings = Static<typeof OrganizationSettings>

const change = <Fields extends Parameters<typeof Type.Object>[0]>(fields: Fields) =>
  Type.Optional(Type.Partial(Type.Object(fields, { ...strict, minProperties: 1 })))
const orDefault = <Schema extends Parameters<typeof nullable>[0]>(schema: Schema) =>
  Type.Union([schema, Type.Null({ description: 'the default' })])

export const OrganizationChangeBody = Type.Object(
  {
    name: Type.Optional(name(200)),
    hide_members: Type.Optional(Type.Boolean()),
    member_visibility: Type.Optional(memberVisibility),
    retention_sessions_days: Type.Optional(retention),
    badges: change({
      visibility: oneOf(VISIBILITIES),
      token: Type.Null({ description: 'Removes the token' }),
      labels: Type.Partial(
        Type.Object(
          { quality: orDefault(label), security: orDefault(label), cost: orDefault(label) },
          strict,
        ),
      ),
      colors: orDefault(Type.Partial(Type.Object({ good: color, medium: color, bad: color }, strict))),
      thresholds: orDefault(Type.Partial(Type.Object({ good: threshold, medium: threshold }, strict))),
    }),
    ticket_pattern: Type.Optional(orDefault(pattern)),
    ticket_ignore: Type.Optional(orDefault(ignored)),
    github_secret: Type.Optional(
      nullable(Type.String({ minLength: 1, maxLength: 256, description: 'Write-only; null removes it' })),
    ),
  },
  { ...strict, minProperties: 1, title: 'OrganizationChange' },
)
export type OrganizationChangeBody = Static<typeof OrganizationChangeBody>

export const BadgeToken = Type.Object(
  { token: Type.String({ description: 'Shown once; it replaces the token before', examples: ['badge_…'] }) },
  { ...strict, title: 'BadgeToken' },
)
