import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { grants } from '../../accounts/keys/model.ts'
import { rightsOf } from '../../accounts/people/callers.ts'
import { component, literals } from '../../analysis/records/fields.ts'
import { RECORD_SCHEMAS } from '../../analysis/records/records.ts'
import { ApiError } from '../../base/errors.ts'
import type { RouteDeps } from '../../http/api.ts'
import { JSON_TYPE, NDJSON_TYPE, packedBody } from '../../http/body.ts'
import { oneOfOr } from '../../http/query.ts'
import { MachineHeader, machineOf } from '../sync/machine.ts'
import { type Intake, MAX_SYNC_BYTES } from './messages.ts'

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
const SyncRequest = Type.Object(
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
            id: 'sess_4f1c2a',
            project_name: 'checkout',
            created_at: '2026-01-31T12:34:56.789Z',
            user_email: 'ada@example.com',
            source: 'claude-code',
            turns: 42,
            estimated_cost: 1.284213,
          },
          {
            type: 'member',
            email: 'ada@example.com',
            display_name: 'Ada Lovelace',
            role: 'developer',
            joined_at: '2026-01-05T09:00:00Z',
          },
          { type: 'budget', month: '2026-01', limit: 2500 },
        ],
      },
    ],
  },
)

const flag = (description: string) => oneOfOr(['true', 'false'], 'false', description)
const SyncQuery = Type.Object({
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
export type SyncResponse = Static<typeof SyncResponse>

export const syncRoutes = ({ gate, api }: RouteDeps, intake: Intake) =>
  new Elysia({ tags: ['Sync'] }).use(api).post(
    '/sync',
    ({ body, headers, query, request, access }) => {
      const { reassign, restore, moved } = query
      const { orgId, actor, scopes, memberEmail } = access
      // a key that may delete sessions has `write`; a laptop's key must not undo a deletion
      if (restore === 'true' && !grants(scopes, 'write')) {
        throw new ApiError('FORBIDDEN', '?restore=true needs an API key with the scope write')
      }
      const options = {
        key: { ...rightsOf(access), memberEmail },
        reassign: reassign === 'true',
        machine: machineOf(headers['x-machine'] ?? null),
        restore: restore === 'true',
        moved: moved === 'true',
      }
      return intake.submit({ orgId, actor, options, body }, gate.pass(request, orgId).signal)
    },
    {
      scope: 'some write',
      headers: MachineHeader,
      query: SyncQuery,
      body: packedBody(SyncRequest),
      reads: { maxBytes: MAX_SYNC_BYTES, types: [JSON_TYPE, NDJSON_TYPE] },
      response: SyncResponse,
      detail: {
        operationId: 'sync',
        summary: 'Send sessions, commits, pull requests, members, budgets, audit entries and reports',
        description:
          'Writes all of the records or none. Each kind of record needs its scope: `sessions:write`, `commits:write`, `risk:write`, `members:write`, `budgets:write` or `reports:write`, for all of which `write` stands, and `audit:write`. With the key of a member, sessions without a user are that member’s; refused are sessions of another user, sessions that are stored without one, commits that are stored with other content, and aliases.',
      },
    },
  )
