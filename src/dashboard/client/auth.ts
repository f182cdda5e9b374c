// Signs in and out by `/auth/…`, for a session of the browser: a cookie that the page cannot read and every tab shares.

import { basePath } from './server-url.ts'
import { noteSign } from './signed-in.ts'
import { apiKey } from './storage.ts'

let csrfToken: string | undefined

/** Kept for the page: requests that change something carry it. */
export function keepCsrfToken(token: string | undefined): void {
  csrfToken = token
}

export const readCsrfToken = (): string | undefined => csrfToken

/** The server's answer to a request outside /v1. */
interface AuthAnswer {
  status: number
  body: Record<string, unknown>
}

/** Asks `/auth/…`, by the cookie; posts `body` if there is one. Never rejects: status 0 where the server does not respond. */
async function askAuth(path: string, body?: object): Promise<AuthAnswer> {
  const headers = new Headers({ 'content-type': 'application/json' })
  if (csrfToken !== undefined) headers.set('x-csrf-token', csrfToken)
  try {
    const response = await fetch(`${basePath()}auth/${path}`, {
      headers,
      credentials: 'same-origin',
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json().catch(() => ({})) }
  } catch {
    return { status: 0, body: { error: 'The server does not respond' } }
  }
}

export const getAuth = (path: string): Promise<AuthAnswer> => askAuth(path)

/** Posts to `/auth/…`, which may change who is signed in. */
export async function postAuth(path: string, body: object): Promise<AuthAnswer> {
  noteSign()
  const answer = await askAuth(path, body)
  // a tab that asked before the server had taken it was told of the person before
  noteSign()
  return answer
}

/** People can sign in at this server by these methods. */
export interface SignInMethods {
  password: boolean
  oidc: boolean
  /** Whether there is no organization yet. */
  setup: boolean
}

export async function readMethods(signal?: AbortSignal): Promise<SignInMethods> {
  const response = await fetch(`${basePath()}auth/methods`, signal === undefined ? {} : { signal })
  return (await response.json()) as SignInMethods
}

const PLACE = 'place-before-sign-in'

/** Remembers the page for when the identity provider sends the browser back, which is always to the first page. */
export function keepPage(): void {
  noteSign()
  sessionStorage.setItem(PLACE, location.href)
}

/** Goes to the page that was remembered, once; returns whether the browser loads it. */
export function returnToPage(): boolean {
  const place = sessionStorage.getItem(PLACE)
  sessionStorage.removeItem(PLACE)
  if (place === null || place === location.href || !URL.canParse(place)) return false
  if (new URL(place).origin !== location.origin) return false
  location.replace(place)
  // another fragment of this page loads nothing
  return place.split('#')[0] !== location.href.split('#')[0]
}

/** Describes the problem for people. */
export const problemOf = ({ status, body }: AuthAnswer): string =>
  typeof body.error === 'string' ? body.error : `The server responded with status ${status}`

/** Posts what signs a person in, and goes to the dashboard. Throws what is wrong. */
export async function enter(path: string, body: object): Promise<void> {
  const answer = await postAuth(path, body)
  if (answer.status !== 201 && answer.status !== 204) throw new Error(problemOf(answer))
  apiKey.write(null)
  location.replace(basePath() || './')
}

const LINK_KEY = /^#key=(ca_live_[\w]+)$/

/** Takes the key of a link that signs in, `/#key=…`, out of the address bar and the history. Returns whether there was one. */
export function takeKeyOfLink(): boolean {
  const key = LINK_KEY.exec(location.hash)?.[1]
  if (key === undefined) return false
  apiKey.write(key)
  history.replaceState(null, '', location.pathname)
  return true
}
