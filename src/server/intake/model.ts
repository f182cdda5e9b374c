import { Type } from '@sinclair/typebox'
import { component, literals } from '../../analysis/records/fields.ts'
import { RECORD_SCHEMAS } from '../../analysis/records/records.ts'
import { oneOfOr } from '../../http/query.ts'

const SYNC_RECORDS = {
  oneOf: Object.values(RECORD_SCHEMAS),
  discriminator: {
    propertyName: 'type',
    mapping: Object.fromEntries(
      Object.entries(RECORD_SCHEMAS).map(([type, { title }]) => [type, `#/components/schemas/${title}`]),
    ),
  },
}

/** Unknown: each record is checked by the schema that its `type` names, with its index in what is wrong. */
export const SyncRequest = Type.Object(
  {
    records: Type.Array(Type.Unknown(SYNC_RECORDS), {
      description: 'Each of one of the kinds that `type` names; at most 10,000',
    }),
  },
  {
    examples: [
      {
        records: [
          {
            type: 'session',
            id: 'sess_7q1n5v',
            project_name: 'checkout',
            created_at: '2026-01-31T12:34:56.789Z',
            user_email: 'ada@example.com',
            source: 'claude-code',
            turns: 42,
            estimated_cost: 1.284213,
          },
          {
            type: 'member',
            email: 'alan@example.com',
            display_name: 'Alan Turing',
            role: 'developer',
            joined_at: '2026-01-05T09:00:00Z',
          },
          { type: 'budget', month: '2030-01', limit: 2500 },
        ],
      },
    ],
  },
)

const flag = (description: string) => oneOfOr(['true', 'false'], 'false', description)
export const SyncQuery = Type.Object({
  reassign: flag(
    'Whether a session may get another user than the one it has; without a user it keeps the one it has',
  ),
  restore: flag(
    'Whether sessions that were deleted are stored again, for which the key needs `write`; without it they are left out',
  ),
  moved: flag('Whether the response says how many of the updated sessions had another project'),
})

export const SyncResponse = component('SyncResult', {
  received: Type.Integer(),
  created: Type.Integer({ description: 'not known before' }),
  updated: Type.Integer({ description: 'known, and now different' }),
  unchanged: Type.Integer({ description: 'known as they are, or skipped' }),
  skipped: Type.Optional(
    Type.Array(
      component('SkippedSession', {
        id: Type.String({ examples: ['sess_4f1c2a'] }),
        reason: literals(['deleted', 'retention']),
      }),
      {
        description:
          'Sessions that were not stored: they were deleted, or are older than the organization keeps. Absent where there are none',
      },
    ),
  ),
  moved: Type.Optional(
    Type.Array(
      component('MovedSessions', {
        from: Type.String({ examples: ['fix-cart'] }),
        to: Type.String({ examples: ['checkout'] }),
        sessions: Type.Integer({ examples: [3] }),
      }),
      {
        description:
          'With `moved=true`: how many of the updated sessions had another project. Absent where there are none',
      },
    ),
  ),
})
