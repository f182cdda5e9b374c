import { type Static, Type } from '@sinclair/typebox'
import { SCOPES } from '../../accounts/keys/scopes.ts'
import {
  closed,
  component,
  Integer,
  nullable,
  Text,
  Timestamp,
  TimeZone,
} from '../../analysis/records/fields.ts'
import { Role } from '../../analysis/records/member.ts'
import { PLANS } from '../../config.ts'
import { oneOf } from '../../http/query.ts'

const scopes = Type.Array(oneOf(SCOPES))
const perMinute = (description: string) => Integer(description, 500)

export const WhoAmI = component('WhoAmI', {
  organization: closed({
    id: Type.String({ examples: ['org_4k2m8d'] }),
    slug: Type.String({ examples: ['demo'] }),
    name: Type.String({ examples: ['Acme'] }),
    plan: oneOf(PLANS),
    time_zone: TimeZone,
  }),
  key: nullable(
    closed(
      {
        id: Type.String({ examples: ['k3y1d001'] }),
        name: Type.String({ examples: ['laptop'] }),
        scopes,
        expires_at: nullable(Timestamp('UTC, milliseconds')),
        member: nullable(
          closed(
            {
              id: nullable(Text('null while no member has the address')),
              email: Type.String({ examples: ['ada@example.com'] }),
            },
            { description: 'Whose sessions the key sends' },
          ),
        ),
      },
      { description: 'null for a person who signed in' },
    ),
  ),
  member: nullable(
    closed(
      {
        id: Type.String({ examples: ['user_7h2k9d'] }),
        email: Type.String({ examples: ['ada@example.com'] }),
        display_name: Type.String({ examples: ['Ada'] }),
        role: Role,
      },
      { description: 'The person, or whose sessions the key sends' },
    ),
  ),
  scopes,
  csrf_token: Type.Optional(Text('Of a person: X-CSRF-Token of requests that change something')),
  limits: closed(
    { read: perMinute('Requests a minute'), sync: perMinute('Requests of POST /v1/sync a minute') },
    { description: 'Of the organization, shared by its keys' },
  ),
})
export type WhoAmI = Static<typeof WhoAmI>
