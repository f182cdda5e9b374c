// Makes and reads the cookies of a browser's session and of a sign-in that is under way.

import type { Config } from '../../config.ts'
import { MAX_AGE_S } from './sign-in-queries.ts'

type Place = Pick<Config, 'publicUrl'>

const isHttps = ({ publicUrl }: Place): boolean => publicUrl?.startsWith('https:') === true

/** A name with this prefix is accepted by browsers over https only, for this host alone and all of its paths. */
const cookieName = (place: Place, name: string): string => (isHttps(place) ? `__Host-${name}` : name)
const SESSION = 'ca_session'
const FLOW = 'ca_oidc'

/** A sign-in by the identity provider takes so long at most. */
const FLOW_S = 600

const formOf = (place: Place, name: string, value: string): RegExp =>
  new RegExp(`(?:^|;)\\s*${cookieName(place, name)}=(${value})\\s*(?:;|$)`)
const cookieValue = (request: Request, form: RegExp): string | undefined =>
  form.exec(request.headers.get('cookie') ?? '')?.[1]

/** A function that reads the token of a request's cookie; undefined without one of the right form. */
export function cookieReader(place: Place): (request: Request) => string | undefined {
  const form = formOf(place, SESSION, '[A-Za-z0-9_-]{43}')
  return (request) => cookieValue(request, form)
}

/** The Set-Cookie header of a session that began; of one that ended without a token. */
export const sessionCookie = (place: Place, token?: string): string =>
  setCookie(place, SESSION, token, MAX_AGE_S)

function setCookie(place: Place, name: string, value: string | undefined, maxAgeS: number): string {
  const secure = isHttps(place) ? '; Secure' : ''
  const cookie = value === undefined ? '=; Max-Age=0' : `=${value}; Max-Age=${maxAgeS}`
  return `${cookieName(place, name)}${cookie}; Path=/; HttpOnly; SameSite=Lax${secure}`
}

/** A browser keeps this from the way to the identity provider until the way back. */
export interface Flow {
  state: string
  nonce: string
  verifier: string
}

/** The Set-Cookie header of a sign-in that has begun; of one that has ended without a flow. */
export const flowCookie = (place: Place, flow?: Flow): string =>
  setCookie(place, FLOW, flow && [flow.state, flow.nonce, flow.verifier].join('.'), FLOW_S)

export function readFlow(place: Place, request: Request): Flow | undefined {
  const part = '[A-Za-z0-9_-]{20,128}'
  const [state, nonce, verifier] =
    cookieValue(request, formOf(place, FLOW, `${part}\\.${part}\\.${part}`))?.split('.') ?? []
  return state === undefined || nonce === undefined || verifier === undefined
    ? undefined
    : { state, nonce, verifier }
}
