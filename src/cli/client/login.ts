// The commands `login`, `logout` and `whoami`.

import { OperatorError } from '../../base/errors.ts'
import type { Context } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { loginByDevice } from './device-login.ts'
import { findUrl, getServer, givenKey, keyIdOf, type ServerOptions, warnOfPlainHttp } from './find-server.ts'
import { findUser } from './find-user.ts'
import type { Environment } from './folders.ts'
import { fetchKeyOwner } from './key-owner.ts'
import { deleteLogin, keepLogin, type Login, loginPath, readLogin } from './login-file.ts'
import { deleteStateOf } from './state-files.ts'

/** `login`: keeps server and key when the server knows the key. Without --server that of the login before. */
export async function login({ env, json }: Context, options: ServerOptions & { browser: boolean }) {
  const url = findUrl(env, options)?.url ?? readLogin(env)?.server
  if (url === undefined) throw new OperatorError('give --server, as https://analytics.example.com', 2)
  warnOfPlainHttp(url)
  const { key, name } = givenKey(env, options) ?? (await readKey(url, options))
  keyIdOf(key, name)
  const owner = await fetchKeyOwner(url, key)
  keepLogin(env, { server: url, key, member: owner.key.member?.email ?? null })
  const path = loginPath(env)
  const { id, name: keyName, member } = owner.key
  const whose = member === null ? '' : ` of ${member.email}`
  const text = `signed in to ${url}, organization ${owner.organization.slug}, key ${id} (${keyName})${whose}; kept in ${path}`
  await printResult(json, { server: url, ...owner, path }, text)
}

async function readKey(url: string, options: { browser: boolean }): Promise<{ key: string; name: string }> {
  if (process.stdin.isTTY) return { key: await loginByDevice(url, options), name: 'the key of the server' }
  const key = (await Bun.stdin.text()).trim()
  if (key === '') {
    const hint = 'give it on standard input or in CLOUD_ANALYTICS_KEY'
    throw new OperatorError(`no key was given: ${hint}`, 2)
  }
  // it is not shown: a mistyped key may differ from a valid one by a character
  return { key, name: 'what was given' }
}

/** `whoami`: what the server says of the key, and whose sessions `sync` would send. */
export async function whoAmI({ env, json }: Context, options: ServerOptions): Promise<void> {
  const { url, keyFrom, key } = getServer(env, options)
  const owner = await fetchKeyOwner(url, key)
  const user = await findUser(env, undefined, async () => owner.key.member?.email ?? null)
  const { organization, limits } = owner
  const lines = [
    `server        ${url}`,
    `organization  ${organization.slug} (${organization.name}), ${organization.plan}`,
    `key           ${owner.key.id} (${owner.key.name}), from the ${keyFrom}`,
    `scopes        ${owner.key.scopes.join(', ')}`,
    `expires       ${owner.key.expires_at ?? 'never'}`,
    `member        ${owner.key.member?.email ?? 'none: the key sends sessions of anybody'}`,
    `sends as      ${user === undefined ? 'nobody: give --user' : `${user.email} (${user.from})`}`,
    `limits        ${limits.read} requests a minute, ${limits.sync} of sync`,
  ]
  await printResult(json, { server: url, ...owner, user: user ?? null }, lines.join('\n'))
}

/** `logout`: deletes what `login` kept, and what is remembered of that server. */
export async function logout({ env, json }: Context): Promise<void> {
  const before = readAny(env)
  deleteLogin(env)
  if (before !== undefined) await deleteStateOf(env, before.server)
  if (before !== undefined && !json)
    printMessage('the key itself is still valid: key revoke, on the server, ends it')
  await printResult(
    json,
    { server: before?.server ?? null },
    before === undefined ? 'nobody was signed in' : `signed out of ${before.server}`,
  )
}

/** A damaged login is deleted like another. */
function readAny(env: Environment): Pick<Login, 'server'> | undefined {
  try {
    return readLogin(env)
  } catch {
    return { server: 'an unknown server' }
  }
}
