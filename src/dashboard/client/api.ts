// Makes requests of the public API, which is all that the dashboard knows, and has the hooks by which pages load.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Pagination } from '../../http/query.ts'
import { readCsrfToken } from './auth.ts'
import { NONE, type Query, searchOf } from './links.ts'
import { keepPlace, noteLoaded, onChange } from './renewal.ts'
import { basePath } from './server-url.ts'
import { forgetWho } from './signed-in.ts'
import { apiKey } from './storage.ts'

export class ApiFailure extends Error {
  constructor(
    /** 0: the server did not respond. */
    readonly status: number,
    message: string,
    /** Seconds after which the same request may be made again; undefined: no time is known. */
    readonly retryAfterS?: number,
  ) {
    super(message)
  }
}

/** Path and query of a request below `/v1`. What has no project, or nobody in a team, is asked for by an empty one. */
export function pathOf(path: string, query: Query = {}): string {
  const empty = ['project', 'team', 'assignee'].filter((name) => query[name] === NONE)
  if (empty.length === 0) return path + searchOf(query)
  const others = searchOf({ ...query, ...Object.fromEntries(empty.map((name) => [name, undefined])) })
  return `${path}${others || '?'}&${empty.map((name) => `${name}=`).join('&')}`
}

interface RequestParts {
  method?: string
  body?: unknown
  accept?: string
  key?: string | null
  signal?: AbortSignal
}

/** Dispatched to the window, with the API's message as its detail, when the key or session is no longer valid. */
export const KEY_REFUSED = 'key-refused'

/** Makes a request with the tab's key, without one by the browser's session. Throws ApiFailure with the API's message. */
export async function request(
  path: string,
  { method = 'GET', body, accept, key = apiKey.read(), signal }: RequestParts = {},
) {
  const headers = new Headers()
  const csrfToken = readCsrfToken()
  if (key !== null) headers.set('authorization', `Bearer ${key}`)
  else if (csrfToken !== undefined) headers.set('x-csrf-token', csrfToken)
  if (accept !== undefined) headers.set('accept', accept)
  if (body !== undefined) headers.set('content-type', 'application/json')
  const init: RequestInit = { method, headers, credentials: key === null ? 'same-origin' : 'omit' }
  if (body !== undefined) init.body = JSON.stringify(body)
  if (signal !== undefined) init.signal = signal
  if (method !== 'GET') forgetWho()
  const response = await fetch(`${basePath()}v1${path}`, init).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiFailure(0, navigator.onLine ? 'The server does not respond' : 'This computer is offline')
  })
  if (response.ok) return response
  const failed: unknown = await response.json().catch(() => ({}))
  const message =
    typeof failed === 'object' && failed !== null && 'error' in failed && typeof failed.error === 'string'
      ? failed.error
      : `The server responded with status ${response.status}`
  // a key that the sign-in tries, or one that was signed out meanwhile, is left alone
  if (response.status === 401 && key === apiKey.read())
    dispatchEvent(new CustomEvent(KEY_REFUSED, { detail: message }))
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  throw new ApiFailure(response.status, message, Number.isFinite(retryAfter) ? retryAfter : undefined)
}

export async function getJson<Body>(path: string, sent: RequestParts = {}): Promise<Body> {
  const response = await request(path, sent)
  return (await response.json()) as Body
}

/** A page of a list. */
export interface Page<Item> {
  data: Item[]
  pagination: Pagination
}

/** The state of a request, or of several. While the next value is loaded, `value` is the one before; where that failed there is none. */
export type Loaded<Value> = (
  | { state: 'loading'; value?: Value }
  | { state: 'failed'; value?: undefined; error: ApiFailure; retry: () => void }
  | { state: 'ready'; value: Value }
) & {
  /** Another one after another URL. */
  key?: string
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const asFailure = (error: unknown): ApiFailure =>
  error instanceof ApiFailure ? error : new ApiFailure(0, messageOf(error))

const asText = (value: unknown) =>
  JSON.stringify(value, (_, part: unknown) => (part instanceof Map ? [...part] : part))
const isEqual = (one: unknown, other: unknown): boolean => asText(one) === asText(other)

/** Seconds that a refused request is repeated after at most; later ones are left to the reader. */
export const MAX_RETRY_S = 60

/**
 * Runs `load` again whenever `key` changes, after the time that a refusal names, and when the browser is online again; what
 * was loaded before stays in `value` meanwhile. Calls of an earlier `key` are given up. When the organization's data have
 * changed, a value is replaced without a word once the next one is there.
 */
export function useLoaded<Value>(key: string, load: (signal: AbortSignal) => Promise<Value>): Loaded<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value> & { key: string }>({ key, state: 'loading' })
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    let timer: ReturnType<typeof setTimeout> | undefined
    const run = async (): Promise<void> => {
      clearTimeout(timer)
      removeEventListener('online', retry)
      setLoaded((before) =>
        before.value !== undefined
          ? { key, state: 'loading', value: before.value }
          : { key, state: 'loading' },
      )
      try {
        const value = await load(signal)
        if (signal.aborted) return
        noteLoaded()
        setLoaded({ key, state: 'ready', value })
      } catch (error) {
        if (signal.aborted) return
        const failure = asFailure(error)
        setLoaded({ key, state: 'failed', error: failure, retry })
        if (failure.status === 0) addEventListener('online', retry, { signal })
        if (failure.retryAfterS !== undefined && failure.retryAfterS <= MAX_RETRY_S)
          timer = setTimeout(retry, (failure.retryAfterS + 1) * 1000)
      }
    }
    const retry = () => void run()
    const renew = async (): Promise<void> => {
      const value = await load(signal).catch(() => undefined)
      if (value === undefined || signal.aborted) return
      noteLoaded()
      keepPlace(() =>
        setLoaded((before) =>
          before.state !== 'ready' || isEqual(before.value, value) ? before : { key, state: 'ready', value },
        ),
      )
    }
    retry()
    const end = onChange(() => void renew())
    return () => {
      end()
      controller.abort()
      clearTimeout(timer)
    }
  }, [key])
  // the first render after a change of `key` still has the old state
  if (loaded.key === key) return loaded
  return loaded.value === undefined ? { state: 'loading' } : { state: 'loading', value: loaded.value }
}

/**
 * Keeps what the value that is shown was asked for: `asked` is of the next one, and while that is loaded, headings and columns
 * stay those of the value before.
 */
export function useAsked<Asked>({ state }: Loaded<unknown>, asked: Asked): Asked {
  const shown = useRef(asked)
  if (state === 'ready') shown.current = asked
  return shown.current
}

/** The body of a GET, loaded again when its URL or `count` changes. Without a path nothing is asked for. */
export function useApi<Body>(path: string, query?: Query, count?: number): Loaded<Body>
export function useApi<Body>(
  path: string | undefined,
  query?: Query,
  count?: number,
): Loaded<Body | undefined>
export function useApi<Body>(path: string | undefined, query: Query = {}, count = 0) {
  const url = path && pathOf(path, query)
  return useLoaded(`${url} ${count}`, async (signal) => url && (await getJson<Body>(url, { signal })))
}
