import type { Headers } from './admission.ts'

// Every answer that is not already a Response ends here: its JSON text is made once, hashed for its ETag, and
// handed to Elysia as text, with everything else in `set`.

/** What the answer will have besides its text; Elysia's `set`, as far as it is used here. */
export interface AnswerSet {
  headers: Headers
  status?: number | string
}

/** Headers of every answer below /v1: any page may read them, none with a browser's own credentials. */
export function setCorsHeaders(headers: Headers): void {
  headers['access-control-allow-origin'] = '*'
  headers['access-control-expose-headers'] =
    'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ETag, X-Request-Id, Retry-After, Location'
}

/** Further headers of a preflight's answer. */
export function setPreflightHeaders(headers: Headers): void {
  headers['access-control-allow-methods'] = 'GET, HEAD, POST, PATCH, DELETE'
  headers['access-control-allow-headers'] =
    'Authorization, Content-Type, Content-Encoding, If-None-Match, Idempotency-Key, X-Request-Id'
  headers['access-control-max-age'] = '86400'
}

/** The ETag of an answer with this text. */
export function etagOf(text: string): string {
  return `"${Bun.hash.xxHash3(text).toString(36)}-${text.length.toString(36)}"`
}

/** Whether an If-None-Match header says that the caller has the answer with this ETag. */
export function matchesEtag(header: string, etag: string): boolean {
  return header.split(',').some((part) => {
    const candidate = part.trim()
    return candidate === '*' || candidate.replace(/^W\//, '') === etag
  })
}

/**
 * The text of an answer with the value `value`, headers and status put into `set`: JSON unless the handler named a
 * content type for a text of its own. A GET or HEAD below /v1 gets an ETag, and 304 with no text when it matches.
 */
export function answerText(value: unknown, set: AnswerSet, request: Request, versioned: boolean): string {
  if (set.status === 204 || value === undefined) return ''
  const { headers } = set
  let text: string
  if (typeof value === 'string' && headers['content-type'] !== undefined) {
    text = value
  } else {
    text = JSON.stringify(value)
    headers['content-type'] = 'application/json'
  }
  const readable = request.method === 'GET' || request.method === 'HEAD'
  const good = set.status === undefined || set.status === 200
  if (!good) headers['cache-control'] ??= 'no-store'
  else if (!versioned) headers['cache-control'] ??= 'no-cache'
  else if (readable) {
    const etag = etagOf(text)
    headers.etag = etag
    headers['cache-control'] ??= 'private, no-cache'
    const condition = request.headers.get('if-none-match')
    if (condition !== null && matchesEtag(condition, etag)) {
      set.status = 304
      delete headers['content-type']
      return ''
    }
  } else headers['cache-control'] ??= 'no-store'
  return text
}
