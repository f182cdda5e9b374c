// Makes and hashes the token by which private badges are shown. Only its SHA-256 is stored.

import { BASE62, randomText } from '../../base/ids.ts'

const TOKEN_PREFIX = 'badge_'
const TOKEN_LENGTH = 32
const MAX_TOKEN_LENGTH = 128

/** The hash of a token; null for a text that cannot be one. */
export const hashBadgeToken = (token: string): Uint8Array | null =>
  token === '' || token.length > MAX_TOKEN_LENGTH ? null : sha256(token)

export function makeBadgeToken(): { token: string; hash: Uint8Array } {
  const token = `${TOKEN_PREFIX}${randomText(BASE62, TOKEN_LENGTH)}`
  return { token, hash: sha256(token) }
}

const sha256 = (text: string): Uint8Array => new Bun.CryptoHasher('sha256').update(text).digest()
