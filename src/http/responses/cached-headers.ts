import type { CachedResponse } from './cached-response.ts'
import { type Encoding, encodedEtag } from './compression.ts'
import { COMMON_HEADERS, CORS_HEADERS, matchesEtag } from './response.ts'

/** Of the headers below those that a 304 does not have. */
export const BODY_HEADERS = ['content-type', 'content-encoding'] as const

/** The headers that say what a cached response is, in this encoding. */
export function cachedHeaders(
  response: CachedResponse,
  encoding: Encoding | undefined,
  link: string | undefined,
): Record<string, string> {
  const { contentType, variesByAccept } = response.source
  return {
    ...(link !== undefined && { link }),
    etag: encodedEtag(response, encoding),
    'cache-control': 'private, no-cache',
    vary: variesByAccept === true ? 'Accept, Accept-Encoding' : 'Accept-Encoding',
    'content-type': contentType ?? 'application/json',
    ...(encoding !== undefined && { 'content-encoding': encoding }),
  }
}

/** Whether the client has the response, in this encoding, already. */
export function isUnchanged(
  response: CachedResponse,
  encoding: Encoding | undefined,
  request: Request,
): boolean {
  const condition = request.headers.get('if-none-match')
  return condition !== null && matchesEtag(condition, encodedEtag(response, encoding))
}

/** What the headers of a response to a URL depend on. */
interface Sent {
  /** In the encoding that is sent; those of two responses differ when anything in them does. */
  etag: string
  /** The limit of requests a minute, and when the minute ends, in Unix seconds. */
  limit: number
  resetS: number
}

/**
 * The headers of the last response to a URL, to be copied into the next one: made from names and values, the 13 of them
 * take 2.5 µs more.
 */
export interface SentHeaders extends Sent {
  headers: Headers
}

/**
 * `last`, where it fits what is sent, else new ones. Without X-Request-Id and X-RateLimit-Remaining, which are of the
 * request.
 */
export function sentHeaders(
  last: SentHeaders | undefined,
  response: CachedResponse,
  encoding: Encoding | undefined,
  { limit, resetS }: Pick<Sent, 'limit' | 'resetS'>,
  makeLink: () => string | undefined,
): SentHeaders {
  const etag = encodedEtag(response, encoding)
  if (last?.etag === etag && last.limit === limit && last.resetS === resetS) return last
  const headers = new Headers({
    ...COMMON_HEADERS,
    ...CORS_HEADERS,
    ...cachedHeaders(response, encoding, makeLink()),
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-reset': String(resetS),
  })
  return { etag, limit, resetS, headers }
}
