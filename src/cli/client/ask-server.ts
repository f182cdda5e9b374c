// Asks a server over HTTP on behalf of any command, reads answers of bounded size, and explains errors.

import { isObject, type Json, objectOf, parseJson } from '../../analysis/agents/transcript/json.ts'
import { type FieldProblem, messageOf, OperatorError } from '../../base/errors.ts'

/** Largest body of an answer: many times the longest that our server gives. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024

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
  const bytes = await readAtMost(response.body ?? [], MAX_ANSWER_BYTES)
  if (bytes === undefined) {
    tooLong.abort()
    throw new OperatorError(
      `the answer of ${url} is longer than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB: is it the right address?`,
    )
  }
  const { status, ok, headers } = response
  return { url, status, ok, headers, text: bytes.toString() }
}

/** All bytes of a stream; undefined as soon as there are more than `maxBytes`. */
export async function readAtMost(stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, maxBytes: number) {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

/** Does the same within `timeoutMs`, and throws OperatorError also when the server does not answer. */
export async function askServer(url: string, { timeoutMs, ...init }: RequestInit & { timeoutMs: number }) {
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
export const bodyOf = ({ text }: Pick<Answer, 'text'>): Json => objectOf(parseJson(text))

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
  isObject(value) && typeof value.field === 'string' && typeof value.message === 'string'

/** Throws OperatorError for an answer that leads to another address; `url` is the server's. */
export function refuseRedirect(url: string, { status, headers }: Answer): void {
  if (status < 300 || status >= 400) return
  const target = headers.get('location') ?? 'another address'
  throw new OperatorError(`${url} redirects to ${target}: give the address that it leads to`)
}
