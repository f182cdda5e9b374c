// Makes and parses the text of a key, `ca_live_<id>_<secret><checksum>`, and compares hashes. The checksum detects a
// mistyped key without a query to the database; it is neither secret nor a signature.

import { timingSafeEqual } from 'node:crypto'
import { BASE62, randomLowerAlnum, randomText } from '../../base/ids.ts'

const PREFIX = 'ca_live_'
const ID_LENGTH = 8
const SECRET_LENGTH = 32
const CHECKSUM_LENGTH = 6
const FORM = /^ca_live_([a-z0-9]{8})_[0-9A-Za-z]{38}$/
export const KEY_LENGTH = PREFIX.length + ID_LENGTH + 1 + SECRET_LENGTH + CHECKSUM_LENGTH

/** A parsed API key: the id to look up, and the hash that must match the stored one. */
export interface ParsedKey {
  id: string
  hash: Uint8Array
}

function checksumOf(text: string): string {
  let rest = Bun.hash.crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = (BASE62[rest % BASE62.length] ?? '') + digits
    rest = Math.floor(rest / BASE62.length)
  }
  return digits
}

/** SHA-256 of the whole key, 32 bytes: all that is stored of its secret. */
function hashKey(key: string): Uint8Array {
  return new Bun.CryptoHasher('sha256').update(key).digest()
}

/** A new key; `id` is its public part. */
export function makeKey(id = randomLowerAlnum(ID_LENGTH)): { id: string; key: string; hash: Uint8Array } {
  const body = `${PREFIX}${id}_${randomText(BASE62, SECRET_LENGTH)}`
  const key = body + checksumOf(body)
  return { id, key, hash: hashKey(key) }
}

/** The key's id and hash, or undefined when the text has another form or a wrong checksum. */
export function parseKey(text: string): ParsedKey | undefined {
  const id = text.length === KEY_LENGTH ? FORM.exec(text)?.[1] : undefined
  if (id === undefined) return undefined
  const body = text.slice(0, -CHECKSUM_LENGTH)
  return text.endsWith(checksumOf(body)) ? { id, hash: hashKey(text) } : undefined
}

/** Compares two hashes in constant time. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
