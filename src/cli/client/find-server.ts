// Finds the server and the key of a command: a flag comes before the environment, that before the login.

import { parseKey } from '../../accounts/keys/format.ts'
import { OperatorError } from '../../base/errors.ts'
import { shellWord } from '../../base/text.ts'
import { printMessage } from '../command/output.ts'
import type { Environment } from './folders.ts'
import { isLoginOpen, loginPath, readLogin } from './login-file.ts'

/** The options of every command that talks to a server. */
export interface ServerOptions {
  server?: string
  key?: string
}

/** The source of a value. */
type Origin = 'flag' | 'environment' | 'login'

export interface Server {
  /** Without a slash at its end. */
  url: string
  key: string
  keyFrom: Origin
  /** The address of the key's member, null where it has none; undefined when only the server knows. */
  member: string | null | undefined
}

export const NOT_SIGNED_IN =
  'not signed in: run cloud-analytics login --server URL, or set CLOUD_ANALYTICS_SERVER and CLOUD_ANALYTICS_KEY'

/**
 * The server and key of a command; undefined when no server is named and nobody is signed in. Warns of a key that others
 * may see. Throws OperatorError when there is a server without a key, or either is malformed.
 */
export function findServer(env: Environment, options: ServerOptions): Server | undefined {
  const address = findUrl(env, options)
  const given = givenKey(env, options)
  // the login is not read if it is not needed: CI has none, and it may be damaged
  const login = address !== undefined && given !== undefined ? undefined : readLogin(env)
  if (address === undefined && login === undefined) {
    if (given === undefined) return undefined
    throw new OperatorError(
      given.from === 'flag' ? '--key needs --server' : 'CLOUD_ANALYTICS_KEY needs CLOUD_ANALYTICS_SERVER',
      2,
    )
  }
  const { url, from: urlFrom } = address ?? { url: login?.server ?? '', from: 'login' as const }
  // never the key of one server to another
  const savedLogin = login?.server === url ? login : undefined
  if (given === undefined && savedLogin === undefined) {
    const signedIn = login === undefined ? '' : `; the login is for ${login.server}`
    throw new OperatorError(
      `there is no key for ${url}: run cloud-analytics login --server ${shellWord(url)}, or set CLOUD_ANALYTICS_KEY${signedIn}`,
      urlFrom === 'flag' ? 2 : 1,
    )
  }
  const keptKey = { key: savedLogin?.key ?? '', from: 'login' as const, name: `the key in ${loginPath(env)}` }
  const { key, from: keyFrom, name } = given ?? keptKey
  keyIdOf(key, name)
  if (keyFrom === 'login' && isLoginOpen(env))
    printMessage(`warning: others on this machine can read ${loginPath(env)}: chmod 600 it`)
  warnOfPlainHttp(url)
  return { url, key, keyFrom, member: key === savedLogin?.key ? savedLogin.member : undefined }
}

/** Does the same as `findServer`, for a command that needs a server. */
export function getServer(env: Environment, options: ServerOptions): Server {
  const server = findServer(env, options)
  if (server === undefined) throw new OperatorError(NOT_SIGNED_IN)
  return server
}

/** The options of a command that is for the local database or a server. */
export interface OrgOptions extends ServerOptions {
  org?: string
}

/** The server of a command; undefined with --org, which is for the local database, and where none is needed. */
export function serverUnlessOrg(env: Environment, { org, ...options }: OrgOptions, isNeeded = true) {
  if (org !== undefined) {
    if (options.server === undefined && options.key === undefined) return undefined
    throw new OperatorError('--org is for the local database: a key knows its organization', 2)
  }
  const server = findServer(env, options)
  if (server !== undefined || !isNeeded) return server
  throw new OperatorError(`give --org for the local database, or sign in: ${NOT_SIGNED_IN}`, 2)
}

/** The address that a flag or the environment names. Throws OperatorError for what is no address of a server. */
export function findUrl(
  env: Environment,
  { server }: ServerOptions,
): { url: string; from: Origin } | undefined {
  if (server !== undefined) return { url: urlOf(server, '--server'), from: 'flag' }
  const value = env.CLOUD_ANALYTICS_SERVER?.trim()
  return value ? { url: urlOf(value, 'CLOUD_ANALYTICS_SERVER'), from: 'environment' } : undefined
}

function urlOf(text: string, name: string): string {
  const wrong = (reason: string) => new OperatorError(`${name} ${reason}`, 2)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw wrong('must be a URL, as https://analytics.example.com')
  if (url.username !== '' || url.password !== '') throw wrong('must have no user and password')
  if (url.search !== '' || url.hash !== '') throw wrong('must have neither a query nor a fragment')
  return url.href.replace(/\/+$/, '')
}

/** The key that a flag or the environment gives; warns of one that stands on the command line. */
export function givenKey(
  env: Environment,
  { key }: ServerOptions,
): { key: string; from: Origin; name: string } | undefined {
  if (key !== undefined) {
    // a key given as @FILE is not among the arguments
    if (process.argv.some((argument) => argument === key || argument === `--key=${key}`))
      printMessage(
        'warning: others on this machine can see a key on the command line: use login, CLOUD_ANALYTICS_KEY or --key @FILE',
      )
    return { key, from: 'flag', name: '--key' }
  }
  const value = env.CLOUD_ANALYTICS_KEY?.trim()
  return value ? { key: value, from: 'environment', name: 'CLOUD_ANALYTICS_KEY' } : undefined
}

/** The id of an API key. Throws OperatorError for a text that is none; `name` says where it is from. */
export function keyIdOf(key: string, name = 'the key'): string {
  const parsed = parseKey(key)
  if (parsed !== undefined) return parsed.id
  throw new OperatorError(`${name} is not an API key: its form or its checksum is wrong`)
}

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Warns when the key and the records would go over the network unencrypted. */
export function warnOfPlainHttp(url: string): void {
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'http:' || LOOPBACK.test(hostname)) return
  printMessage(`warning: ${url} is not encrypted: others on the way can read the key and what is sent`)
}
