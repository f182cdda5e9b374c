// Ends the PostgreSQL that a killed process has left behind.

import { readFileSync } from 'node:fs'
import { OperatorError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { clusterSetting, readPidFile } from './postmaster.ts'

const POLL_MS = 10
/** Linux sent it SIGINT when its parent was killed; its last checkpoint may take a while. macOS sends nothing. */
const SHUTDOWN_LIMIT_MS = process.platform === 'linux' ? 30_000 : 0
const SIGNAL_LIMIT_MS = 10_000
const PS_LIMIT_MS = 5_000

/** Waits for the server of an earlier process that was killed, and ends it. Throws OperatorError when it still runs then. */
export async function stopStalePostmaster(cluster: string, log: Log): Promise<void> {
  const pid = readPidFile(cluster)?.pid
  if (pid === undefined || !isPostmasterOf(pid, cluster)) return
  log.info('waiting for the PostgreSQL of a killed instance to stop', { pid })
  if (await endsWithin(pid, cluster, SHUTDOWN_LIMIT_MS)) return
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    process.kill(pid, signal)
    if (await endsWithin(pid, cluster, SIGNAL_LIMIT_MS)) return
  }
  throw new OperatorError(
    `a PostgreSQL (pid ${pid}) still runs on ${cluster} and does not stop: end it and start again`,
  )
}

async function endsWithin(pid: number, cluster: string, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs
  while (isPostmasterOf(pid, cluster)) {
    if (performance.now() > deadline) return false
    await Bun.sleep(POLL_MS)
  }
  return true
}

/** Whether this pid is a running server of the cluster, by its command line: no zombie and no other process. */
export function isPostmasterOf(pid: number, cluster: string): boolean {
  try {
    return process.platform === 'linux' ? isListedInProc(pid, cluster) : isListedByPs(pid, cluster)
  } catch {
    return false
  }
}

function isListedInProc(pid: number, cluster: string): boolean {
  const [program, ...rest] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  const state = /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]
  return program?.endsWith('/postgres') === true && rest.includes(clusterSetting(cluster)) && state !== 'Z'
}

/** Does the same without /proc: `ps` prints the arguments with spaces between them. */
export function isListedByPs(pid: number, cluster: string): boolean {
  const { stdout } = Bun.spawnSync({
    cmd: ['ps', '-ww', '-o', 'stat=', '-o', 'command=', '-p', String(pid)],
    env: { LC_ALL: 'C', PATH: process.env.PATH ?? '/bin:/usr/bin' },
    stderr: 'ignore',
    timeout: PS_LIMIT_MS,
  })
  const [, state = '', command = ''] = /^\s*(\S+)\s+(.*)$/m.exec(stdout.toString()) ?? []
  // the setting is followed by others
  return (
    !state.startsWith('Z') &&
    /\/postgres -D /.test(command) &&
    command.includes(` ${clusterSetting(cluster)} -c `)
  )
}
