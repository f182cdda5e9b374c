// Makes and hashes the tokens of cookies, invitations and device codes (only the SHA-256 is stored), and derives CSRF
// tokens.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const TOKEN_BYTES = 32

/** 32 random bytes in base64url (43 characters). */
export const makeToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url')

export const hashToken = (token: string): Uint8Array => new Bun.CryptoHasher('sha256').update(token).digest()

/** Whether a given text is the token; takes the same time for every text. */
export const isToken = (text: string, token: string): boolean =>
  timingSafeEqual(hashToken(text), hashToken(token))

/** The CSRF token of a session: derived from the cookie, so that nothing more is stored. */
export const csrfTokenOf = (token: string): string =>
  createHmac('sha256', token).update('csrf').digest('base64url')
