import { createHash } from 'node:crypto'
import type { ISql } from '../db/client.ts'
import { validationError } from '../errors.ts'
import { findAnswer, keepAnswer } from './idempotency-queries.ts'
import type { SecretBox } from './signing/secret-box.ts'

const FIELD = 'Idempotency-Key'
const MAX_KEY_LENGTH = 255

/** A request that is to have its effect once: its key, and what it asks for. */
export interface Once {
  key: string
  bodyHash: Uint8Array
}

/** Of the header, null where there is none, and the parsed body. Throws VALIDATION_ERROR for a key of a wrong form. */
export function onceOf(header: string | null, body: unknown): Once | undefined {
  if (header === null) return undefined
  if (!/^[ -~]+$/.test(header) || header.length > MAX_KEY_LENGTH) {
    throw validationError({ field: FIELD, message: `must have 1 to ${MAX_KEY_LENGTH} printable characters` })
  }
  return { key: header, bodyHash: createHash('sha256').update(canonical(body)).digest() }
}

/** The same text for the same value, however its fields are ordered. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, item: unknown) =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}

const contextOf = (orgId: string, { key }: Once) => `${orgId}/idempotency/${key}`

/**
 * The first answer to this key, as JSON. Throws VALIDATION_ERROR when that was to another body. An answer that another
 * secret key encrypted counts for none: then the database had no endpoints when the key was changed.
 */
export async function answeredBefore(
  sql: ISql,
  box: SecretBox,
  orgId: string,
  once: Once | undefined,
): Promise<string | undefined> {
  const kept = once === undefined ? undefined : await findAnswer(sql, orgId, once.key)
  if (once === undefined || kept === undefined) return undefined
  if (!Buffer.from(once.bodyHash).equals(kept.request_hash)) {
    throw validationError({ field: FIELD, message: 'was given with another body before' })
  }
  try {
    return box.open(kept.answer, contextOf(orgId, once))
  } catch {
    return undefined
  }
}

/** Keeps the first answer for a day. */
export async function rememberAnswer(
  tx: ISql,
  box: SecretBox,
  orgId: string,
  once: Once | undefined,
  answer: string,
): Promise<void> {
  if (once === undefined) return
  const sealed = box.seal(answer, contextOf(orgId, once))
  await keepAnswer(tx, orgId, once.key, { request_hash: once.bodyHash, answer: sealed })
}
