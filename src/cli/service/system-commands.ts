// Runs the commands of the platform's service manager.

import { messageOf } from '../../base/errors.ts'
import { printMessage } from '../command/output.ts'

const TIMEOUT_MS = 30_000

/** Runs a command to its end; one that does not exist or hangs has failed. `reason`: of the failure. */
export function runCommand([name = '', ...args]: readonly string[], env: Record<string, string | undefined>) {
  const path = Bun.which(name, { PATH: env.PATH ?? '' })
  if (path === null) return { ok: false, output: '', reason: `there is no ${name} on this machine` }
  try {
    const { exitCode, stdout, stderr } = Bun.spawnSync({
      cmd: [path, ...args],
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
    })
    const [first] = stderr.toString().trim().split('\n')
    return {
      ok: exitCode === 0,
      output: stdout.toString(),
      reason: first || `${name} ended with ${exitCode}`,
    }
  } catch (error) {
    return { ok: false, output: '', reason: messageOf(error) }
  }
}

/** Runs commands one after the other; the reason of the first that fails, else undefined. */
export const runAll = (commands: readonly (readonly string[])[], env: Record<string, string | undefined>) =>
  commands
    .values()
    .map((command) => runCommand(command, env))
    .find(({ ok }) => !ok)?.reason

/** Runs the commands that load a service, or says that they are to be run: the ones to run. */
export function load(commands: readonly (readonly string[])[], env: Record<string, string | undefined>) {
  const problem = runAll(commands, env)
  if (problem === undefined) return { loaded: true, run: [] }
  const run = typed(commands)
  printMessage(`it could not be started (${problem}); run:\n  ${run.join('\n  ')}`)
  return { loaded: false, run }
}

export const typed = (commands: readonly (readonly string[])[]): string[] =>
  commands.map((words) =>
    words.map((word) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : `"${word}"`)).join(' '),
  )
