import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { objectOf, parseJson } from '../../analysis/agents/transcript/json.ts'
import { codeOf, messageOf, OperatorError } from '../../base/errors.ts'
import { configFolder, type Environment } from './folders.ts'
import { writePrivate } from './whole-file.ts'

/** The file in which `login` keeps server and key holds these. */
export interface Login {
  server: string
  key: string
  /** The address of the key's member, which never changes; null for a key without one. */
  member: string | null
}

export const loginPath = (env: Environment): string => join(configFolder(env), 'login.json')

/** The kept login; undefined when there is none. Throws OperatorError for a file that cannot be used. */
export function readLogin(env: Environment): Login | undefined {
  const path = loginPath(env)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined
    throw new OperatorError(`${path} cannot be read (${codeOf(error) ?? messageOf(error)})`)
  }
  const { server, key, member } = objectOf(parseJson(text))
  if (typeof server !== 'string' || typeof key !== 'string')
    throw new OperatorError(`${path} is damaged: run cloud-analytics login --server URL`)
  return { server, key, member: typeof member === 'string' ? member : null }
}

/** Whether others on this machine may read the kept key. On Windows the folder's access list protects it. */
export function isLoginOpen(env: Environment): boolean {
  if (process.platform === 'win32') return false
  return ((statSync(loginPath(env), { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0
}

export const keepLogin = (env: Environment, login: Login) =>
  writePrivate(loginPath(env), `${JSON.stringify(login, null, 2)}\n`)

export const deleteLogin = (env: Environment): void => rmSync(loginPath(env), { force: true })
