import { type Static, Type } from '@sinclair/typebox'
import { SCOPES } from '../../accounts/keys/scopes.ts'
import { closed, component, name, nullable, Text, Timestamp } from '../../analysis/records/fields.ts'
import { oneOf, PageOf } from '../../http/query.ts'

const MAX_GRACE_S = 604_800
const DEFAULT_GRACE_S = 86_400

const keyFields = {
  id: Type.String({ examples: ['k3y1d001'] }),
  name: Type.String({ examples: ['ci'] }),
  scopes: Type.Array(oneOf(SCOPES)),
  member: nullable(
    closed(
      { id: nullable(Type.String()), email: Type.String({ examples: ['ada@example.com'] }) },
      { description: 'Whose sessions the key sends; null: anybody’s' },
    ),
  ),
  created_at: Timestamp('UTC, milliseconds'),
  created_by: nullable(Text('The member or key that made it; null: the command line')),
  expires_at: nullable(Timestamp('UTC, milliseconds')),
  last_used_at: nullable(Timestamp('UTC, milliseconds')),
  revoked_at: nullable(Timestamp('UTC, milliseconds')),
}

export const Key = component('ApiKey', keyFields)
export type Key = Static<typeof Key>

export const CreatedKey = component('CreatedApiKey', {
  ...keyFields,
  key: Text('The key itself: shown once'),
})
export type CreatedKey = Static<typeof CreatedKey>

export const KeyPage = PageOf(Key)
export type KeyPage = Static<typeof KeyPage>

export const NewKeyBody = closed(
  {
    name: name(200),
    scopes: Type.Array(oneOf(SCOPES), { minItems: 1, maxItems: SCOPES.length, uniqueItems: true }),
    expires_at: Type.Optional(nullable(Timestamp('In the future; without it the key does not expire'))),
    member: Type.Optional(
      nullable(Type.String({ minLength: 1, maxLength: 320, description: 'Id or address of a member' })),
    ),
  },
  {
    title: 'NewApiKey',
    examples: [{ name: 'ci', scopes: ['risk:read', 'risk:write'], expires_at: '2030-01-31T00:00:00Z' }],
  },
)
export type NewKeyBody = Static<typeof NewKeyBody>

export const RotateKeyBody = component('ApiKeyRotation', {
  grace_period_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_GRACE_S,
      fallback: DEFAULT_GRACE_S,
      description: 'How long the old key still works',
    }),
  ),
})
export type RotateKeyBody = Static<typeof RotateKeyBody>

export const graceMsOf = ({ grace_period_seconds = DEFAULT_GRACE_S }: RotateKeyBody): number =>
  grace_period_seconds * 1000
