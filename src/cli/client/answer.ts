import { type FieldProblem, messageOf, OperatorError } from '../../base/errors.ts'

/**
 * Largest body of an answer: some eight times the longest that our server gives, 10,000 skipped sessions of a batch.
 */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/** A server's answer, read to its end. */
export interface Answer extends Pick<Response, 'status' | 'ok' | 'headers'> {
  url: string
  text: string
}

/**
 * Asks a server and reads its whole answer, which may come from anybody. It is asked not to pack it, and what is packed all
 * the same is not unpacked: a MiB of gzip may be a GiB. Redirects are not followed: they would take the key elsewhere.
 * Throws OperatorError for a longer answer than `MAX_ANSWER_BYTES`, and what `fetch` throws.
 */
export async function fetchAnswer(url: string, init: RequestInit & { signal: AbortSignal }): Promise<Answer> {
  const tooLong = new AbortController()
  const response = await fetch(url, {
    ...init,
    redirect: 'manual',
    decompress: false,
    headers: { ...init.headers, 'accept-encoding': 'identity' },
    signal: AbortSignal.any([init.signal, tooLong.signal]),
  })
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    length += chunk.length
    if (length <= MAX_ANSWER_BYTES) continue
    tooLong.abort()
    throw new OperatorError(
      `the answer of ${url} is longer than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB: is it the right address?`,
    )
  }
  const { status, ok, headers } = response
  return { url, status, ok, headers, text: Buffer.concat(chunks).toString('utf8') }
}

/** Does the same within `timeoutMs`, and throws OperatorError also when the server does not answer. */
export async function askServer(
  url: string,
  { timeoutMs, ...init }: RequestInit & { timeoutMs: number },
): Promise<Answer> {
  try {
    return await fetchAnswer(url, { ...init, signal: AbortSignal.timeout(timeoutMs) })
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const { origin } = new URL(url)
    throw new OperatorError(
      `${origin} cannot be reached: ${messageOf(error)}; next: cloud-analytics health --url ${origin}`,
    )
  }
}

/** The object that an answer's body is; an empty one for any other body. */
export function bodyOf(answer: Pick<Answer, 'text'>): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(answer.text)
    return typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body } : {}
  } catch {
    return {}
  }
}

/** Reads an error body; a part that is missing or of another type is undefined. */
export function errorOf(answer: Pick<Answer, 'text'>): {
  error: string | undefined
  code: string | undefined
  details: FieldProblem[] | undefined
} {
  const { error, code, details } = bodyOf(answer)
  return {
    error: typeof error === 'string' ? error : undefined,
    code: typeof code === 'string' ? code : undefined,
    details: Array.isArray(details) && details.every(isProblem) ? details : undefined,
  }
}

const isProblem = (value: unknown): value is FieldProblem =>
  typeof value === 'object' &&
  value !== null &&
  'field' in value &&
  'message' in value &&
  typeof value.field === 'string' &&
  typeof value.message === 'string'

/** Throws OperatorError for an answer that leads to another address; `url` is the server's. */
export function refuseRedirect(url: string, { status, headers }: Answer): void {
  if (status < 300 || status >= 400) return
  const target = headers.get('location') ?? 'another address'
  throw new OperatorError(`${url} redirects to ${target}: give the address that it leads to`)
}
