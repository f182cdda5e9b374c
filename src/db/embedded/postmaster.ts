import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAX_EMBEDDED_POOL } from '../../config.ts'
import { OperatorError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { EXIT_CANNOT_EXECUTE, EXIT_CANNOT_SWITCH_USER, execCommand } from './exec-postgres.ts'
import type { User } from './run-as.ts'

export const SOCKET_NAME = '.s.PGSQL.5432'

/** Of the worker, of commands (two each) and of whoever looks at the database by hand. */
const CONNECTIONS_BESIDE = 20

/** Sized for a small machine: an idle server takes about 35 MB; a million rows still load and group in memory. */
const SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: String(MAX_EMBEDDED_POOL + CONNECTIONS_BESIDE),
  shared_buffers: '64MB',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  effective_cache_size: '512MB',
  random_page_cost: '1.1',
  max_wal_size: '1GB',
  // Both spare what a bare container lacks or an idle server does not need: /dev/shm, three more processes.
  dynamic_shared_memory_type: 'mmap',
  io_method: 'sync',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  logging_collector: 'off',
  log_checkpoints: 'off',
}
/** For databases that are thrown away. */
const SCRATCH_SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

const LAST_WORDS_TIMEOUT_MS = 500
const NO_SPACE = /No space left on device|Disk quota exceeded/
const POLL_MS = 5
const STOP_TIMEOUT_MS = 20_000
const STILL_IN_USE_TIMEOUT_MS = 20_000
const STILL_IN_USE_PAUSE_MS = 100
const SLOW_START_NOTICE_MS = 10_000
const KEPT_LINES = 20

export interface PostmasterOptions {
  /** Folder of the unpacked program. */
  program: string
  /** Data directory of the cluster; no other process of ours may use it (see `acquireInstanceLock`). */
  cluster: string
  socketDir: string
  user: User | undefined
  /** false: the user may not pass the folders above `cluster`. */
  reachable: boolean
  /** false: a scratch database that may be lost with the power. */
  durable: boolean
  log: Log
}

/** A running server. `exited` tells how it ended; `stop` ends it, its clients' transactions rolled back. */
export interface Postmaster {
  pid: number
  exited: Promise<string>
  stop(): Promise<void>
}

/** Starts the server and waits until it takes connections. Throws OperatorError when it does not come up. */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const deadline = performance.now() + STILL_IN_USE_TIMEOUT_MS
  for (;;) {
    claimStaleLocks(options)
    const child = spawnPostgres(options)
    if (await comesUp(child, options)) {
      return { pid: child.pid, exited: howItEnded(child), stop: () => stopPostmaster(child, options.log) }
    }
    // After a postmaster was killed, its backends need a moment to notice and let go of the shared memory.
    const stillInUse = child.lines.some((line) => /still in use|already exists/.test(line))
    if (!stillInUse || performance.now() > deadline) throw startFailure(child, options)
    await Bun.sleep(STILL_IN_USE_PAUSE_MS)
  }
}

interface Child {
  pid: number
  exited: Promise<number>
  exitCode(): number | null
  kill(signal: NodeJS.Signals): void
  /** The last lines of its standard error. */
  lines: string[]
  drained: Promise<void>
}

function spawnPostgres(options: PostmasterOptions): Child {
  const { program, cluster, socketDir, user, reachable, durable, log } = options
  const settings = {
    ...SETTINGS,
    ...(durable ? {} : SCRATCH_SETTINGS),
    // A list; quoted, or a comma in the path would split it.
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
  }
  const assignments = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  // The kernel follows this link without asking the folders on the way; and we enter while we are still root.
  const directory = reachable ? cluster : '/proc/self/cwd'
  const command = [join(program, 'bin/postgres'), '-D', directory, '-c', clusterMark(cluster), ...assignments]
  const child = Bun.spawn({
    ...execCommand({ command, parent: process.pid, ...(user === undefined ? {} : { user }) }),
    cwd: cluster,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    // Its own session: Ctrl-C in the terminal must not end it while we still drain.
    detached: true,
  })
  const lines: string[] = []
  return {
    pid: child.pid,
    exited: child.exited,
    exitCode: () => child.exitCode ?? (child.signalCode === null ? null : -1),
    kill: (signal) => child.kill(signal),
    lines,
    drained: keepLines(child.stderr, lines, log),
  }
}

async function keepLines(stream: ReadableStream<Uint8Array>, lines: string[], log: Log): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    for (const line of parts) {
      log.debug(line, { from: 'postgres' })
      lines.push(line)
    }
    lines.splice(0, lines.length - KEPT_LINES)
  }
}

/** Waits until the server says ready in its pid file, as pg_ctl does: true; or until it has ended: false. */
async function comesUp(child: Child, { cluster, log }: PostmasterOptions): Promise<boolean> {
  let noticeAt = performance.now() + SLOW_START_NOTICE_MS
  for (;;) {
    if (child.exitCode() !== null) {
      await child.drained
      return false
    }
    const state = readPidFile(cluster)
    if (state?.pid === child.pid && state.ready) return true
    if (performance.now() > noticeAt) {
      log.info('PostgreSQL is still starting, perhaps recovering after a crash')
      noticeAt += SLOW_START_NOTICE_MS
    }
    await Bun.sleep(POLL_MS)
  }
}

async function stopPostmaster(child: Child, log: Log): Promise<void> {
  // SIGINT is PostgreSQL's fast shutdown, SIGQUIT leaves recovery to the next start.
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (child.exitCode() !== null) return
    child.kill(signal)
    if (await endsWithin(child.exited, STOP_TIMEOUT_MS)) return
    log.warn('PostgreSQL does not stop', { signal, pid: child.pid })
  }
}

async function endsWithin(exited: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const timeout = Promise.withResolvers<false>()
  const timer = setTimeout(() => timeout.resolve(false), timeoutMs)
  try {
    return await Promise.race([exited.then(() => true), timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}

async function howItEnded(child: Child): Promise<string> {
  const code = await child.exited
  // what it said last; a child of its own may hold its standard error for longer
  await endsWithin(child.drained, LAST_WORDS_TIMEOUT_MS)
  return endingOf(code, child.lines)
}

/** How the server ended, from its exit code and what it said last: it may have run long since it lacked space once. */
export function endingOf(code: number, lines: readonly string[]): string {
  const since = lines.slice(lines.findLastIndex((line) => /ready to accept connections/.test(line)) + 1)
  const isFull = since.some((line) => /FATAL|PANIC/.test(line) && NO_SPACE.test(line))
  return `exit code ${code}${isFull ? ': no space left on its disk, free some first' : ''}`
}

function startFailure(child: Child, { cluster, user }: PostmasterOptions): OperatorError {
  const output = child.lines.join('\n')
  const missing = /error while loading shared libraries: (\S+):/.exec(output)?.[1]
  if (missing !== undefined) {
    return new OperatorError(
      `PostgreSQL needs ${missing}, which this system lacks: install libstdc++ and libgcc (Debian: libstdc++6), or set DATABASE_URL`,
    )
  }
  if (child.exitCode() === EXIT_CANNOT_SWITCH_USER) return cannotSwitchUser(user)
  if (child.exitCode() === EXIT_CANNOT_EXECUTE) {
    return new OperatorError(
      `${output.trim()}: is its file system mounted noexec? Set DATA_DIR to another, or set DATABASE_URL`,
    )
  }
  if (NO_SPACE.test(output)) {
    return new OperatorError(`no space left for the database in ${cluster}: free some and start again`)
  }
  const told =
    child.lines.findLast((line) => /FATAL|PANIC|ERROR/.test(line)) ?? child.lines.at(-1) ?? 'no output'
  return new OperatorError(`PostgreSQL in ${cluster} did not start (exit code ${child.exitCode()}): ${told}`)
}

/** Root without the right to become somebody else: a container without that capability or with a single uid. */
export function cannotSwitchUser(user: User | undefined): OperatorError {
  return new OperatorError(
    `PostgreSQL cannot run as root, and this process may not switch to uid ${user?.uid}: run as an ordinary user, or set DATABASE_URL`,
  )
}

/** A setting of no effect in the server's command line, by which we know whose it is. */
export const clusterMark = (cluster: string) => `cloud_analytics.cluster=${cluster}`

/** What a running server says in `postmaster.pid`. */
export function readPidFile(cluster: string): { pid: number; ready: boolean } | undefined {
  const path = join(cluster, 'postmaster.pid')
  if (!existsSync(path)) return undefined
  try {
    const lines = readFileSync(path, 'utf8').split('\n')
    return { pid: Number(lines[0]), ready: lines[7]?.trim() === 'ready' }
  } catch {
    return undefined
  }
}

/**
 * PostgreSQL refuses to start while the pid in a left-over lock file lives, though after a reboot or in a restarted
 * container that is somebody else. It takes its parent's pid for stale, so we write ours; deleting the file instead
 * would switch off its check for backends that still use the shared memory.
 */
function claimStaleLocks({ cluster, socketDir }: PostmasterOptions): void {
  for (const path of [join(cluster, 'postmaster.pid'), join(socketDir, `${SOCKET_NAME}.lock`)]) {
    if (!existsSync(path)) continue
    writeFileSync(path, readFileSync(path, 'utf8').replace(/^[^\n]*/, String(process.pid)))
  }
}
