import { type Static, Type } from '@sinclair/typebox'
import { PLANS } from '../config.ts'
import { oneOf } from '../http/query.ts'
import { SCOPES } from '../keys/model.ts'
import { strict, Timestamp } from '../records/fields.ts'

const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()])
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
    key: Type.Object(
      {
        id: Type.String({ examples: ['k3y1d001'] }),
        name: Type.String({ examples: ['laptop'] }),
        scopes: Type.Array(oneOf(SCOPES)),
        expires_at: orNull(Timestamp('UTC, milliseconds')),
        member: orNull(
          Type.Object(
            {
              id: orNull(Type.String({ description: 'null while no member has the address' })),
              email: Type.String({ examples: ['ada@example.com'] }),
            },
            { ...strict, description: 'Whose sessions the key sends' },
          ),
        ),
      },
      strict,
    ),
    limits: Type.Object(
      { read: perMinute('Requests a minute'), sync: perMinute('Requests of POST /v1/sync a minute') },
      { ...strict, description: 'Of the organization, shared by its keys' },
    ),
  },
  { ...strict, title: 'WhoAmI' },
)
export type WhoAmI = Static<typeof WhoAmI>
