import { type Static, Type } from '@sinclair/typebox'
import { PLANS } from '../config.ts'
import { oneOf } from '../http/query.ts'
import { SCOPES } from '../keys/model.ts'
import { nullable, strict, Timestamp } from '../records/fields.ts'
import { Role } from '../records/member.ts'

const scopes = Type.Array(oneOf(SCOPES))
const perMinute = (description: string) => Type.Integer({ description, examples: [500] })

export const WhoAmI = Type.Object(
  {
    organization: Type.Object(
      {
        id: Type.String({ examples: ['org_4k2m8d'] }),
        slug: Type.String({ examples: ['acme'] }),
        name: Type.String({ examples: ['Acme'] }),
        plan: oneOf(PLANS),
      },
      strict,
    ),
    key: nullable(
      Type.Object(
        {
          id: Type.String({ examples: ['k3y1d001'] }),
          name: Type.String({ examples: ['laptop'] }),
          scopes,
          expires_at: nullable(Timestamp('UTC, milliseconds')),
          member: nullable(
            Type.Object(
              {
                id: nullable(Type.String({ description: 'null while no member has the address' })),
                email: Type.String({ examples: ['ada@example.com'] }),
              },
              { ...strict, description: 'Whose sessions the key sends' },
            ),
          ),
        },
        { ...strict, description: 'null for a person who signed in' },
      ),
    ),
    member: nullable(
      Type.Object(
        {
          id: Type.String({ examples: ['user_7h2k9d'] }),
          email: Type.String({ examples: ['ada@example.com'] }),
          display_name: Type.String({ examples: ['Ada'] }),
          role: Role,
        },
        { ...strict, description: 'The person, or whose sessions the key sends' },
      ),
    ),
    scopes,
    csrf_token: Type.Optional(
      Type.String({ description: 'Of a person: X-CSRF-Token of requests that change something' }),
    ),
    limits: Type.Object(
      { read: perMinute('Requests a minute'), sync: perMinute('Requests of POST /v1/sync a minute') },
      { ...strict, description: 'Of the organization, shared by its keys' },
    ),
  },
  { ...strict, title: 'WhoAmI' },
)
export type WhoAmI = Static<typeof WhoAmI>
