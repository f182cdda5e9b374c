import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf, OperatorError } from '../../base/errors.ts'
import { replaceFile } from '../client/private-file.ts'
import type { Context } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { programWords } from '../command/program-words.ts'
import {
  SERVER_DATA,
  SERVER_SETTINGS,
  SERVER_UNIT,
  SERVER_UNIT_PATH,
  SERVER_USER,
  SYSUSERS,
  SYSUSERS_PATH,
  serverUnit,
} from './server-unit.ts'
import { load, runCommand, typed } from './system-commands.ts'
import type { ServiceOptions } from './user-service.ts'

/** Closed to the unit by `ProtectHome`. */
const CLOSED = /^\/(home|root|run\/user)\//

/** Nor what `PrivateTmp` replaces by an empty folder, which is removed when the unit stops. */
const CLOSED_TO_BACKUPS = /^\/(home|root|run\/user|tmp|var\/tmp)(\/|$)/

const loadCommands = (backupDir: string | null) => [
  ['systemd-sysusers', SYSUSERS_PATH],
  ...(backupDir === null
    ? []
    : [['install', '-d', '-m', '0700', '-o', SERVER_USER, '-g', SERVER_USER, backupDir]]),
  ['systemctl', 'daemon-reload'],
  ['systemctl', 'enable', SERVER_UNIT],
  ['systemctl', 'restart', SERVER_UNIT],
]

/** `service install --server`: writes the system unit of `serve` and starts it, or says how. Needs root. */
export async function install(
  { env, json, config }: Context,
  { print, databaseUrlFile }: ServiceOptions,
  paths: readonly string[],
): Promise<void> {
  if (paths.length > 0) throw new OperatorError('--server takes no paths', 2)
  if (databaseUrlFile !== undefined && !databaseUrlFile.startsWith('/'))
    throw new OperatorError('--database-url-file must be an absolute path', 2)
  // commander gives --backup-dir to the program's setting
  const { backupDir } = config
  if (backupDir !== null && (!backupDir.startsWith('/') || CLOSED_TO_BACKUPS.test(backupDir))) {
    throw new OperatorError(
      '--backup-dir must be an absolute path that the service can open: not below /home, /root, /run/user, /tmp or /var/tmp',
      2,
    )
  }
  const commands = loadCommands(backupDir)
  const words = programWords()
  const text = serverUnit(words, databaseUrlFile, backupDir)
  if (print) {
    const files = [
      { path: SYSUSERS_PATH, text: SYSUSERS },
      { path: SERVER_UNIT_PATH, text },
    ]
    const shown = files.map((file) => `# ${file.path}\n${file.text}`).join('\n')
    return await printResult(json, { files, run: typed(commands) }, shown.trimEnd())
  }
  const closed = words.find((word) => CLOSED.test(word))
  if (closed !== undefined) {
    throw new OperatorError(
      `${closed} is in a folder that the service cannot open: copy the program to /usr/local/bin and run that`,
    )
  }
  write(SYSUSERS_PATH, SYSUSERS)
  write(SERVER_UNIT_PATH, text)
  // an older systemd ignores settings that it does not know
  const verified = runCommand(['systemd-analyze', 'verify', SERVER_UNIT_PATH], env)
  if (!verified.ok) printMessage(`systemd-analyze verify: ${verified.reason}`)
  const { loaded, run } = load(commands, env)
  const started = loaded ? 'runs now and at each start of the machine' : 'is written'
  printMessage(`settings are in ${SERVER_SETTINGS}, data in ${SERVER_DATA}; commands: sudo cloud-analytics …`)
  await printResult(json, { path: SERVER_UNIT_PATH, loaded, run }, `${SERVER_UNIT_PATH} ${started}`)
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    replaceFile(path, text, 0o644)
  } catch (error) {
    throw new OperatorError(
      `${path} cannot be written (${codeOf(error) ?? String(error)}): run it as root, or use --print`,
    )
  }
}

/** `service uninstall --server`: stops the server and deletes its unit; data and user stay. */
export async function uninstall({ env, json }: Context): Promise<void> {
  const installed = existsSync(SERVER_UNIT_PATH)
  if (installed) {
    runCommand(['systemctl', 'disable', '--now', SERVER_UNIT], env)
    try {
      rmSync(SERVER_UNIT_PATH)
      rmSync(SYSUSERS_PATH, { force: true })
    } catch (error) {
      throw new OperatorError(`${SERVER_UNIT_PATH} cannot be deleted (${codeOf(error)}): run it as root`)
    }
    runCommand(['systemctl', 'daemon-reload'], env)
  }
  const text = installed
    ? `${SERVER_UNIT} is removed; ${SERVER_DATA} stays`
    : `${SERVER_UNIT} was not installed`
  await printResult(json, { path: SERVER_UNIT_PATH, removed: installed }, text)
}

/** `service status --server`. Throws OperatorError unless it runs. */
export async function status({ env, json }: Context): Promise<void> {
  const { ok, output, reason } = runCommand(['systemctl', 'is-active', SERVER_UNIT], env)
  const state = output.trim() || reason
  await printResult(json, { path: SERVER_UNIT_PATH, running: ok, state }, `${SERVER_UNIT}: ${state}`)
  if (!ok) throw new OperatorError(`${SERVER_UNIT} does not run`)
}
