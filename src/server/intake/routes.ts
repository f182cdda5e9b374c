import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { grants } from '../../accounts/keys/rights.ts'
import { rightsOf } from '../../accounts/people/callers.ts'
import { ApiError, validationError } from '../../base/errors.ts'
import type { RouteDeps } from '../../http/api.ts'
import { JSON_TYPE, NDJSON_TYPE, packedBody } from '../../http/body.ts'
import { type Intake, MAX_SYNC_BYTES } from './messages.ts'
import { SyncQuery, SyncRequest, SyncResponse } from './model.ts'

/** A host name is at most this long. */
const MAX_LENGTH = 255
/** Printable ASCII; a comma is between the values of a header that was sent twice. */
const FORM = /^[\x20-\x2b\x2d-\x7e]+$/

const MachineHeader = Type.Object({
  'x-machine': Type.Optional(
    Type.String({
      description: `The name of the machine that sends: 1 to ${MAX_LENGTH} printable ASCII characters, no comma. GET /v1/team/machines shows when each was seen`,
      examples: ['ada-macbook.local'],
    }),
  ),
})

/** The value of `X-Machine`; undefined where the header is missing. Throws VALIDATION_ERROR. */
function machineOf(header: string | null): string | undefined {
  if (header === null) return undefined
  if (header.length <= MAX_LENGTH && FORM.test(header)) return header
  throw validationError({
    field: 'X-Machine',
    message: `must be given once, with 1 to ${MAX_LENGTH} printable ASCII characters and no comma`,
  })
}

export const syncRoutes = ({ gate, api }: RouteDeps, intake: Intake) =>
  new Elysia({ tags: ['Sync'] }).use(api).post(
    '/sync',
    ({ body, headers, query, request, access }) => {
      const { reassign, restore, moved } = query
      const { orgId, actor, scopes, memberEmail } = access
      // a key that may delete sessions has `write`; a laptop's key must not undo a deletion
      if (restore === 'true' && !grants(scopes, 'write'))
        throw new ApiError('FORBIDDEN', '?restore=true needs an API key with the scope write')
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
          'Writes all of the records or none. Each kind of record needs its scope: `sessions:write`, `commits:write`, `risk:write`, `members:write`, `budgets:write` or `reports:write`, for all of which `write` stands, `audit:write`, and `admin` for notes, plans and changes. With the key of a member, sessions without a user are that member’s; refused are sessions of another user, sessions that are stored without one, commits that are stored with other content, and aliases.',
      },
    },
  )
