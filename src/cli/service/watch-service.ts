// Installs the service of a user that runs `watch`, shows its state and removes it (`service`).

import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { OperatorError } from '../../base/errors.ts'
import { FOLDER_VARIABLES } from '../client/agent-folders.ts'
import { NOT_SIGNED_IN } from '../client/find-server.ts'
import { configFolder, type Environment, homeOf } from '../client/folders.ts'
import { readLogin } from '../client/login-file.ts'
import { deleteState } from '../client/state-files.ts'
import { replaceFile } from '../client/whole-file.ts'
import type { Context } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { programWords } from '../command/run-self.ts'
import { launchAgent } from './launchd.ts'
import { load, runAll, runCommand, typed } from './system-commands.ts'
import { userUnit } from './systemd.ts'
import { scheduledTask } from './task-scheduler.ts'
import type { Program, ServiceOptions, UserService } from './user-service.ts'

/** The service on this platform. Throws OperatorError where there is none. */
function serviceOf(program: Program, env: Environment): UserService {
  const { platform } = process
  if (platform === 'darwin') return launchAgent(program, homeOf(env), process.getuid?.() ?? 0)
  if (platform === 'linux') return userUnit(program, dirname(configFolder(env, platform)))
  if (platform === 'win32') {
    const account = `${env.USERDOMAIN ?? '.'}\\${env.USERNAME ?? ''}`
    return scheduledTask(program, { account, config: configFolder(env, platform) })
  }
  throw new OperatorError(`there is no service for ${platform}: start cloud-analytics watch yourself`)
}

/** `watch` as the service runs it: on these paths, else on the agents' folders, also those that appear later. */
function watchProgram(env: Environment, paths: readonly string[]): Program {
  const missing = paths.find((path) => !existsSync(path))
  if (missing !== undefined) throw new OperatorError(`no such file or folder: ${missing}`)
  const [executable, ...others] = programWords()
  return {
    words: [executable, ...others, 'watch', ...paths.map((path) => resolve(path))],
    environment: environmentOf(env),
  }
}

/** Variables that the service, which is not started from the user's shell, would not have. No secret is among them. */
function environmentOf(env: Environment): Record<string, string> {
  const given = (names: readonly string[], read = (value: string) => value) =>
    names.flatMap((name) => (env[name] ? [[name, read(env[name])] as const] : []))
  // a relative OPENCODE_DB is in OpenCode's folder
  const asGiven = given(['CLOUD_ANALYTICS_USER', 'OPENCODE_DB'])
  return Object.fromEntries([...given(FOLDER_VARIABLES, (path) => resolve(path)), ...asGiven])
}

/** launchd ends a service after the command that asks for it; at most 5 s are waited. */
const UNLOAD_CHECKS = 50
const UNLOAD_CHECK_MS = 100

/** `service install`: writes the service's file and loads it, or says how. */
export async function install(
  { env, json }: Context,
  { print, databaseUrlFile }: ServiceOptions,
  paths: readonly string[],
): Promise<void> {
  if (databaseUrlFile !== undefined) throw new OperatorError('--database-url-file needs --server', 2)
  const service = serviceOf(watchProgram(env, paths), env)
  const { path, text, unload } = service
  if (print) return await printResult(json, { path, text, run: typed(service.load) }, text.trimEnd())
  // the service does not see the environment of this shell
  const login = readLogin(env)
  if (login === undefined)
    throw new OperatorError(`the service uses the login: ${NOT_SIGNED_IN.split(',')[0]}`)
  mkdirSync(dirname(path), { recursive: true })
  replaceFile(path, service.bytes ?? text, 0o644)
  // launchd does not take a service again that it still has
  if (process.platform === 'darwin') {
    runAll(unload, env)
    for (let n = 0; n < UNLOAD_CHECKS && runCommand(service.status, env).ok; n++)
      await Bun.sleep(UNLOAD_CHECK_MS)
  }
  const { loaded, run } = load(service.load, env)
  const started = loaded ? 'runs now and at each login' : 'is written'
  await printResult(
    json,
    { path, loaded, server: login.server, run },
    `${path} ${started}; it sends to ${login.server}`,
  )
}

/** `service status`. Throws OperatorError unless it runs. */
export async function status({ env, json }: Context): Promise<void> {
  const service = serviceOf({ words: programWords(), environment: {} }, env)
  const { path, isRunning, name } = service
  const installed = existsSync(path)
  const { ok, output, reason } = runCommand(service.status, env)
  const running = ok && isRunning(output)
  const text = running
    ? 'runs'
    : installed
      ? `is installed and does not run (${output.trim().split('\n')[0] || reason})`
      : 'is not installed'
  await printResult(json, { path, installed, loaded: ok, running }, `${name} ${text}`)
  if (!running) throw new OperatorError(`${name} does not run`)
}

/** `service uninstall`: stops the service, deletes its file and what is remembered of servers. */
export async function uninstall({ env, json }: Context): Promise<void> {
  const { path, unload, forget, name } = serviceOf({ words: programWords(), environment: {} }, env)
  const installed = existsSync(path)
  // the task may still be loaded without its file
  for (const command of unload) runCommand(command, env)
  rmSync(path, { force: true })
  if (installed) for (const command of forget) runCommand(command, env)
  deleteState(env)
  const text = installed ? `${name} is removed, with ${path}` : `${name} was not installed`
  await printResult(json, { path, removed: installed }, text)
}
