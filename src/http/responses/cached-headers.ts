import type { CachedResponse } from './cached-response.ts'
import { type Encoding, encodedEtag } from './compression.ts'
import { matchesEtag } from './response.ts'

/** A 304 leaves out these of the headers below. */
export const BODY_HEADERS = ['content-type', 'content-encoding'] as const

/** The headers that say what a cached response is, in this encoding. */
export function cachedHeaders(
  response: CachedResponse,
  encoding: Encoding | undefined,
): Record<string, string> {
  const { contentType, variesByAccept } = response.source
  return {
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
