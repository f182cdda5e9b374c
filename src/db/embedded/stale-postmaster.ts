import { readFileSync } from 'node:fs'
import { OperatorError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { clusterMark, readPidFile } from './postmaster.ts'

const POLL_MS = 10
/** The kernel told it to stop when our predecessor was killed; its last checkpoint may take a while. */
const OWN_ACCORD_MS = 30_000
const AFTER_SIGNAL_MS = 10_000

/** Waits for a server that outlived its killed parent, then urges it. Throws OperatorError when it does not end. */
export async function endOrphan(cluster: string, log: Log): Promise<void> {
  const pid = readPidFile(cluster)?.pid
  if (pid === undefined || !isPostgresOf(pid, cluster)) return
  log.info('waiting for the PostgreSQL of a killed instance to stop', { pid })
  if (await endsWithin(pid, cluster, OWN_ACCORD_MS)) return
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    process.kill(pid, signal)
    if (await endsWithin(pid, cluster, AFTER_SIGNAL_MS)) return
  }
  throw new OperatorError(
    `a PostgreSQL (pid ${pid}) still runs on ${cluster} and does not stop: end it and start again`,
  )
}

async function endsWithin(pid: number, cluster: string, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (isPostgresOf(pid, cluster)) {
    if (performance.now() > deadline) return false
    await Bun.sleep(POLL_MS)
  }
  return true
}

/**
 * Whether this pid is a living server of the cluster. Asking by signal 0 would take a zombie or a recycled pid for one;
 * its command line is readable for all, unlike its working folder.
 */
export function isPostgresOf(pid: number, cluster: string): boolean {
  try {
    const [program, ...rest] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    const state = /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]
    return program?.endsWith('/postgres') === true && rest.includes(clusterMark(cluster)) && state !== 'Z'
  } catch {
    return false
  }
}
