// Stores responses by the header Idempotency-Key. Requests that are sent again under the same key take effect once.

import { createHash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { sumBy } from '../base/batches.ts'
import { fieldError } from '../base/errors.ts'
import type { ISql, Sql } from '../database/client.ts'
import { deleteFrom, replaced } from '../database/rows.ts'
import type { SecretBox } from './signing/secret-box.ts'

const FIELD = 'Idempotency-Key'
const MAX_KEY_LENGTH = 255

export const IdempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description:
        'A name of your own for what is to be made, at most 255 printable characters: the same request again within 24 hours makes nothing and has the first answer',
    }),
  ),
})

/** Identifies a request that must take effect once: by its Idempotency-Key, and a hash of its body. */
export interface Idempotency {
  key: string
  bodyHash: Uint8Array
}

/** `header` is undefined when missing, `body` the parsed body. Throws VALIDATION_ERROR for an invalid key. */
export function idempotencyOf(header: string | undefined, body: unknown): Idempotency | undefined {
  if (header === undefined) return undefined
  if (!/^[ -~]+$/.test(header) || header.length > MAX_KEY_LENGTH)
    throw fieldError(FIELD, `must have 1 to ${MAX_KEY_LENGTH} printable characters`)
  return { key: header, bodyHash: createHash('sha256').update(canonical(body)).digest() }
}

/** JSON with sorted fields: the same text for the same value. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, item: unknown) =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}

/** A response is repeated for this long. */
const KEPT = '24 hours'

const contextOf = (orgId: string, { key }: Idempotency) => `${orgId}/idempotency/${key}`

/**
 * The response to the first request with this idempotency key in the last 24 hours by the database's clock, as JSON. Throws
 * VALIDATION_ERROR when that had another body. Ignores a response that was encrypted with another secret key: that is only
 * replaced while there are no endpoints.
 */
export async function findStoredResponse(
  sql: ISql,
  box: SecretBox,
  orgId: string,
  idempotency: Idempotency | undefined,
): Promise<string | undefined> {
  if (idempotency === undefined) return undefined
  const [stored] = await sql<{ request_hash: Uint8Array; answer: Uint8Array }[]>`
    select k.request_hash, k.answer
    from webhook_idempotency_keys k
    where k.org_id = ${orgId}
      and k.key = ${idempotency.key}
      and k.created_at > now() - ${KEPT}::interval`
  if (stored === undefined) return undefined
  if (!Buffer.from(idempotency.bodyHash).equals(stored.request_hash))
    throw fieldError(FIELD, 'was given with another body before')
  try {
    return box.open(stored.answer, contextOf(orgId, idempotency))
  } catch {
    return undefined
  }
}

/**
 * Answers by `make` once: under the same key with its first answer, which is stored encrypted since it may contain a signing
 * secret, in place of one that is too old. Needs the organization's lock.
 */
export async function answerOnce<Answer>(
  tx: ISql,
  box: SecretBox,
  orgId: string,
  idempotency: Idempotency | undefined,
  make: () => Promise<Answer>,
): Promise<Answer> {
  if (idempotency === undefined) return await make()
  const first = await findStoredResponse(tx, box, orgId, idempotency)
  if (first !== undefined) return JSON.parse(first) as Answer
  const answer = await make()
  const { key, bodyHash } = idempotency
  const sealed = box.seal(JSON.stringify(answer), contextOf(orgId, idempotency))
  await tx`
    insert into webhook_idempotency_keys (org_id, key, request_hash, answer, created_at)
    values (${orgId}, ${key}, ${bodyHash}, ${sealed}, now())
    on conflict (org_id, key) do update set ${replaced(tx, ['request_hash', 'answer', 'created_at'])}`
  return answer
}

/** Deletes the organization's responses: the key that opens them is lost, or what they tell of has changed. */
export async function deleteIdempotencyKeys(tx: ISql, orgId: string): Promise<void> {
  await deleteFrom(tx, orgId, 'webhook_idempotency_keys')
}

/** Organizations in one call; the next call continues. */
const MAX_ORGANIZATIONS = 1_000

/** Deletes responses that are older than 24 hours. Returns how many. */
export async function deleteOldIdempotencyKeys(sql: Sql): Promise<number> {
  const organizations = await sql<{ org_id: string }[]>`
    select distinct k.org_id
    from webhook_idempotency_keys k
    where k.created_at <= now() - ${KEPT}::interval
    limit ${MAX_ORGANIZATIONS}`
  const isOld = sql`and t.created_at <= now() - ${KEPT}::interval`
  return await sumBy(organizations, ({ org_id }) =>
    deleteFrom(sql, org_id, 'webhook_idempotency_keys', isOld),
  )
}
