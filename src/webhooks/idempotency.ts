import { createHash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { validationError } from '../base/errors.ts'

export const FIELD = 'Idempotency-Key'
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
  if (!/^[ -~]+$/.test(header) || header.length > MAX_KEY_LENGTH) {
    throw validationError({ field: FIELD, message: `must have 1 to ${MAX_KEY_LENGTH} printable characters` })
  }
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
