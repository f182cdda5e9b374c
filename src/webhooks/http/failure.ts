// Says why an attempt failed and whether a retry may help, by status or error.

import { closeSync, openSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { codeOf } from '../../base/errors.ts'
import { refusalOf } from './egress.ts'
import type { LookUpResult } from './resolve.ts'

/** Whether this process has no file descriptor left, which Bun reports as ECONNREFUSED. Opens a file: some 5 µs. */
export function isOutOfDescriptors(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'))
    return false
  } catch (error) {
    const code = codeOf(error)
    return code === 'EMFILE' || code === 'ENFILE'
  }
}

// The reasons of failed attempts, in words for the owner of the endpoint. They contain no address of this
// network and no message of the operating system: the history must not show what only this machine can see.

export interface Failure {
  /** `refused`: a retry would not help; `postponed`: this machine had no socket left, nothing was sent. */
  kind: 'refused' | 'postponed' | 'failed'
  /** A class, a colon, and what happened. */
  text: string
}

/** The step in which an attempt failed. */
export type Phase = 'connect' | 'handshake' | 'response'

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

/** `problem` is a text of the egress rules. */
export const refused = (problem: string): Failure => ({
  kind: 'refused',
  text: `refused: the URL ${problem}`,
})

export const timedOut = (what: string, afterMs: number): Failure =>
  failed(`timeout: ${what} within ${afterMs / 1_000} s`)

export const protocolFailure = (what: string): Failure => failed(`protocol: ${what}`)

export const POSTPONED: Failure = {
  kind: 'postponed',
  text: 'postponed: this server has no socket left; the attempt does not count',
}

/** Explains why a name has no address that may be used. */
export function lookupFailure(lookup: Exclude<LookUpResult, { addresses: string[] }>, timeoutMs: number) {
  if (lookup.problem === 'refused') return refused(refusalOf())
  // Bun does not distinguish the two
  if (lookup.code === 'ENOTFOUND' || lookup.code === 'ENODATA')
    return failed('dns: there is no such name, or it has no address')
  if (isOutOfDescriptors()) return POSTPONED
  const isLate = lookup.problem === 'timeout'
  return failed(isLate ? `dns: no answer within ${timeoutMs / 1_000} s` : 'dns: the look-up failed')
}

export function statusFailure(status: number): Failure | null {
  if (status >= 200 && status <= 299) return null
  if (status < 200 || status > 599)
    return protocolFailure(`answered ${status}, which is no final status of HTTP`)
  const note = status >= 300 && status <= 399 ? '; redirects are not followed' : ''
  return failed(`status: answered ${status}${note}`)
}

const field = (error: unknown, name: 'code' | 'address'): string => {
  const value: unknown = error instanceof Error ? Reflect.get(error, name) : undefined
  return typeof value === 'string' ? value : ''
}

/** EADDRNOTAVAIL of an IPv6 address means that this host has no IPv6, which a retry does not change. */
const isExhausted = (error: unknown): boolean => {
  const code = field(error, 'code')
  return EXHAUSTED.has(code) && !(code === 'EADDRNOTAVAIL' && isIPv6(field(error, 'address')))
}

/** The failure for an error in this phase. A name with several addresses fails with an AggregateError. */
export function connectionFailure(error: unknown, phase: Phase): Failure {
  const causes: unknown[] = error instanceof AggregateError ? error.errors : [error]
  if (causes.some(isExhausted) || (phase === 'connect' && isOutOfDescriptors())) return POSTPONED
  const code = field(error, 'code') || field(causes[0], 'code')
  if (code === 'HPE_HEADER_OVERFLOW')
    return protocolFailure('the headers of the answer are larger than 16 KiB')
  if (code.startsWith('HPE_')) return protocolFailure('the answer is not HTTP/1.1')
  const tls = TLS_TEXTS[code]
  if (tls !== undefined) return failed(`tls: ${tls}`)
  if (phase === 'handshake' || /^(ERR_SSL|ERR_TLS|EPROTO|CERT_|UNABLE_TO_|HOSTNAME_)/.test(code))
    return failed('tls: the handshake failed')
  const text = CONNECT_TEXTS[code] ?? 'the connection failed'
  return failed(`connect: ${text}${phase === 'response' ? ' before an answer' : ''}`)
}
