import { Type } from '@sinclair/typebox'
import { validationError } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import type { PreparedSession } from '../../features/sessions/prepare.ts'
import { findMemberIds } from '../../features/usage/scope-queries.ts'

// The machine that a request comes from, by its header.

/** A host name is at most this long. */
const MAX_LENGTH = 255
/** Printable ASCII; a comma is between the values of a header that was sent twice. */
const FORM = /^[\x20-\x2b\x2d-\x7e]+$/

export const MachineHeader = Type.Object({
  'x-machine': Type.Optional(
    Type.String({
      description: `The name of the machine that sends: 1 to ${MAX_LENGTH} printable ASCII characters, no comma. GET /v1/team/machines shows when each was seen`,
      examples: ['ada-macbook.local'],
    }),
  ),
})

/** The value of `X-Machine`; undefined where the header is missing. Throws VALIDATION_ERROR. */
export function machineOf(header: string | null): string | undefined {
  if (header === null) return undefined
  if (header.length <= MAX_LENGTH && FORM.test(header)) return header
  throw validationError({
    field: 'X-Machine',
    message: `must be given once, with 1 to ${MAX_LENGTH} printable ASCII characters and no comma`,
  })
}

/** The user of a request's sessions: the key's member, else the one user of them, by id or address; else null. */
export async function findUser(
  tx: ISql,
  orgId: string,
  sessions: readonly PreparedSession[],
  memberEmail: string | null,
): Promise<string | null> {
  if (memberEmail !== null) return memberEmail
  const sent = new Set(sessions.flatMap(({ user_id, user_email }) => user_id ?? user_email ?? []))
  const ids = sent.size > 1 ? await findMemberIds(tx, orgId, [...sent]) : new Map<string, string>()
  const users = new Set([...sent].map((user) => ids.get(user) ?? user))
  const [only = null] = users
  return users.size === 1 ? only : null
}
