import type { Config } from '../config.ts'
import { MAX_AGE_S } from './session-queries.ts'

type Place = Pick<Config, 'publicUrl'>

const isHttps = ({ publicUrl }: Place): boolean => publicUrl?.startsWith('https:') === true

/** A name with this prefix is accepted by browsers over https only, for this host alone and all of its paths. */
const nameOf = (place: Place): string => (isHttps(place) ? '__Host-ca_session' : 'ca_session')

/** A function that reads the token of a request's cookie; undefined without one of the right form. */
export function cookieReader(place: Place): (request: Request) => string | undefined {
  const form = new RegExp(`(?:^|;)\\s*${nameOf(place)}=([A-Za-z0-9_-]{43})\\s*(?:;|$)`)
  return (request) => {
    const header = request.headers.get('cookie')
    return header === null ? undefined : form.exec(header)?.[1]
  }
}

/** The Set-Cookie header of a session that began; of one that ended without a token. */
export function sessionCookie(place: Place, token?: string): string {
  const secure = isHttps(place) ? '; Secure' : ''
  const value = token === undefined ? '=; Max-Age=0' : `=${token}; Max-Age=${MAX_AGE_S}`
  return `${nameOf(place)}${value}; Path=/; HttpOnly; SameSite=Lax${secure}`
}
