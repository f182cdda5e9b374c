import { isIPv6 } from 'node:net'
import { isOutOfDescriptors } from './descriptors.ts'
import { ADDRESS_REFUSED } from './egress.ts'
import type { Vetted } from './resolve.ts'

// Why an attempt came to nothing, in words for the receiver's owner. They are coarse: with an address of this network or
// a system's message in them, the history would tell what only this machine can see.

export interface Failure {
  /** `refused`: trying again would not help; `postponed`: this machine had no socket left, nothing was sent. */
  kind: 'refused' | 'postponed' | 'failed'
  /** A class, a colon, and what happened. */
  text: string
}

/** How far an attempt had come. */
export type Phase = 'connect' | 'handshake' | 'answer'

/** The operating system is out of descriptors, memory for sockets, or ports. */
const EXHAUSTED = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])

const CONNECT_TEXTS: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EADDRNOTAVAIL: 'the network cannot be reached',
}

const TLS_TEXTS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is of an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate is of an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate is of an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is of an unknown authority, or its chain is incomplete',
}

const failed = (text: string): Failure => ({ kind: 'failed', text })

/** `problem` is one of the egress's. */
export const refused = (problem: string): Failure => ({
  kind: 'refused',
  text: `refused: the URL ${problem}`,
})

export const timedOut = (what: string, afterMs: number): Failure =>
  failed(`timeout: ${what} within ${afterMs / 1_000} s`)

export const broken = (what: string): Failure => failed(`protocol: ${what}`)

export const POSTPONED: Failure = {
  kind: 'postponed',
  text: 'postponed: this server has no socket left; the attempt does not count',
}

/** What the look-up of a name came to, where it gave no addresses. */
export function lookupFailure(vetted: Exclude<Vetted, { addresses: string[] }>, timeoutMs: number): Failure {
  if (vetted.problem === 'refused') return refused(ADDRESS_REFUSED)
  // Bun does not tell the two apart
  if (vetted.code === 'ENOTFOUND' || vetted.code === 'ENODATA')
    return failed('dns: there is no such name, or it has no address')
  if (isOutOfDescriptors()) return POSTPONED
  const isLate = vetted.problem === 'timeout'
  return failed(isLate ? `dns: no answer within ${timeoutMs / 1_000} s` : 'dns: the look-up failed')
}

/** What a status that is no success means; null for 2xx. */
export function statusFailure(status: number): Failure | null {
  if (status >= 200 && status <= 299) return null
  if (status < 200 || status > 599) return broken(`answered ${status}, which is no final status of HTTP`)
  const note = status >= 300 && status <= 399 ? '; redirects are not followed' : ''
  return failed(`status: answered ${status}${note}`)
}

const field = (error: unknown, name: 'code' | 'address'): string => {
  const value: unknown = error instanceof Error ? Reflect.get(error, name) : undefined
  return typeof value === 'string' ? value : ''
}

/** Without IPv6 on this host its addresses are "not available" too, which does not pass. */
const isExhausted = (error: unknown): boolean => {
  const code = field(error, 'code')
  return EXHAUSTED.has(code) && !(code === 'EADDRNOTAVAIL' && isIPv6(field(error, 'address')))
}

/** What an error of the connection means, by how far it had come. An AggregateError is of a name with many addresses. */
export function connectionFailure(error: unknown, phase: Phase): Failure {
  const causes: unknown[] = error instanceof AggregateError ? error.errors : [error]
  if (causes.some(isExhausted) || (phase === 'connect' && isOutOfDescriptors())) return POSTPONED
  const code = field(error, 'code') || field(causes[0], 'code')
  if (code === 'HPE_HEADER_OVERFLOW') return broken('the headers of the answer are larger than 16 KiB')
  if (code.startsWith('HPE_')) return broken('the answer is not HTTP/1.1')
  const tls = TLS_TEXTS[code]
  if (tls !== undefined) return failed(`tls: ${tls}`)
  if (phase === 'handshake' || /^(ERR_SSL|ERR_TLS|EPROTO|CERT_|UNABLE_TO_|HOSTNAME_)/.test(code))
    return failed('tls: the handshake failed')
  const text = CONNECT_TEXTS[code] ?? 'the connection failed'
  return failed(`connect: ${text}${phase === 'answer' ? ' before an answer' : ''}`)
}
