// Starts the embedded PostgreSQL, and says why it ended.

import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, OperatorError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { withTimeout } from '../../base/timing.ts'
import { MAX_EMBEDDED_POOL } from '../../config.ts'
import { SOCKET_NAME } from '../client.ts'
import { EXIT_CANNOT_EXECUTE, EXIT_CANNOT_SWITCH_USER, execCommand } from './exec-postgres.ts'
import type { SystemUser } from './system-user.ts'

/** Connections beside the server's pool: for versions, the threads, commands (two each) and interactive sessions. */
const EXTRA_CONNECTIONS = 28

/** Sized for a small machine: an idle server takes about 35 MB; a million rows can be grouped in memory. */
const SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: String(MAX_EMBEDDED_POOL + EXTRA_CONNECTIONS),
  shared_buffers: '64MB',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  effective_cache_size: '512MB',
  random_page_cost: '1.1',
  max_wal_size: '1GB',
  // no /dev/shm, which a container may lack; no worker processes for I/O, three otherwise
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
/** Settings of databases that are thrown away. The tests run in several processes, each with pools of its own. */
const SCRATCH_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '128',
}

const STDERR_DRAIN_LIMIT_MS = 500
const NO_SPACE = /No space left on device|Disk quota exceeded/
const POLL_MS = 5
const STOP_LIMIT_MS = 20_000
const STILL_IN_USE_LIMIT_MS = 20_000
const STILL_IN_USE_PAUSE_MS = 100
const SLOW_START_NOTICE_MS = 10_000
const KEPT_LINES = 20

interface PostmasterOptions {
  program: string
  /** Data directory of the cluster; locked by this process (see `acquireInstanceLock`). */
  cluster: string
  socketDir: string
  user: SystemUser | undefined
  /** false: a folder above `cluster` is closed to the user. */
  reachable: boolean
  /** false: nothing is flushed to disk; for databases that are thrown away. */
  durable: boolean
  log: Log
}

/** Starts the server and waits for it. `exited`: the reason of its exit; `stop` rolls back. Throws OperatorError when it fails. */
export async function startPostmaster(options: PostmasterOptions) {
  const deadline = performance.now() + STILL_IN_USE_LIMIT_MS
  for (;;) {
    takeOverLockFiles(options)
    const child = spawnPostgres(options)
    if (await becomesReady(child, options))
      return { pid: child.pid, exited: exitReasonOf(child), stop: () => stopPostmaster(child, options.log) }
    // after a postmaster was killed its backends release the shared memory with a delay
    const stillInUse = child.lines.some((line) => /still in use|already exists/.test(line))
    if (!stillInUse || performance.now() > deadline) throw startFailure(child, options)
    await Bun.sleep(STILL_IN_USE_PAUSE_MS)
  }
}

type Child = ReturnType<typeof spawnPostgres>

function spawnPostgres(options: PostmasterOptions) {
  const { program, cluster, socketDir, user, reachable, durable, log } = options
  const settings = {
    ...SETTINGS,
    ...(durable ? {} : SCRATCH_SETTINGS),
    // a list, whose items are quoted since a path may contain a comma
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
  }
  const assignments = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  // The kernel follows this link without permission for the folders above; `cwd` is entered before the user
  // changes.
  const directory = reachable ? cluster : '/proc/self/cwd'
  const postgres = join(program, 'bin/postgres')
  const command = [postgres, '-D', directory, '-c', clusterSetting(cluster), ...assignments]
  const child = Bun.spawn({
    ...execCommand({ command, parent: process.pid, ...(user === undefined ? {} : { user }) }),
    cwd: cluster,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    // a session of its own: Ctrl-C in the terminal must not stop it while requests still drain
    detached: true,
  })
  const lines: string[] = []
  return {
    pid: child.pid,
    exited: child.exited,
    exitCode: () => child.exitCode ?? (child.signalCode === null ? null : -1),
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    /** The last lines of its standard error. */
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

/** Waits until the pid file says that the server is ready (true), as pg_ctl does, or it ends (false). */
async function becomesReady(child: Child, { cluster, log }: PostmasterOptions): Promise<boolean> {
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
  // SIGINT: fast shutdown; SIGQUIT: immediate shutdown, the next start recovers
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (child.exitCode() !== null) return
    child.kill(signal)
    if ((await withTimeout(child.exited, STOP_LIMIT_MS, undefined)) !== undefined) return
    log.warn('PostgreSQL does not stop', { signal, pid: child.pid })
  }
}

async function exitReasonOf(child: Child): Promise<string> {
  const code = await child.exited
  // its last lines; limited, since a child process of its own may keep standard error open
  await withTimeout(child.drained, STDERR_DRAIN_LIMIT_MS, undefined)
  return describeExit(code, child.lines)
}

/** The exit code, and a full disk where that is the reason: only lines since the last start count. */
export function describeExit(code: number, lines: readonly string[]): string {
  const since = lines.slice(lines.findLastIndex((line) => /ready to accept connections/.test(line)) + 1)
  const isFull = since.some((line) => /FATAL|PANIC/.test(line) && NO_SPACE.test(line))
  return `exit code ${code}${isFull ? ': no space left on its disk, free some first' : ''}`
}

function startFailure(child: Child, { cluster, user }: PostmasterOptions): OperatorError {
  const output = child.lines.join('\n')
  const missing = /error while loading shared libraries: (\S+):/.exec(output)?.[1]
  if (missing !== undefined)
    return new OperatorError(
      `PostgreSQL needs ${missing}, which this system lacks: install libstdc++ and libgcc (Debian: libstdc++6), or set DATABASE_URL`,
    )
  if (child.exitCode() === EXIT_CANNOT_SWITCH_USER) return cannotSwitchUser(user)
  if (child.exitCode() === EXIT_CANNOT_EXECUTE)
    return new OperatorError(
      `${output.trim()}: is its file system mounted noexec? Set DATA_DIR to another, or set DATABASE_URL`,
    )
  if (NO_SPACE.test(output))
    return new OperatorError(`no space left for the database in ${cluster}: free some and start again`)
  const reason =
    child.lines.findLast((line) => /FATAL|PANIC|ERROR/.test(line)) ?? child.lines.at(-1) ?? 'no output'
  const message = `PostgreSQL in ${cluster} did not start (exit code ${child.exitCode()}): ${reason}`
  return new OperatorError(message)
}

/** The error when root may not change its uid: in a container without the capability or with one uid. */
export function cannotSwitchUser(user: SystemUser | undefined): OperatorError {
  return new OperatorError(
    `PostgreSQL cannot run as root, and this process may not switch to uid ${user?.uid}: run as an ordinary user, or set DATABASE_URL`,
  )
}

/** A setting without effect in the server's command line, which identifies the cluster it runs on. */
export const clusterSetting = (cluster: string) => `cloud_analytics.cluster=${cluster}`

/** The state of the server that `postmaster.pid` names. */
export function readPidFile(cluster: string): { pid: number; ready: boolean } | undefined {
  const file = openOwnFile(join(cluster, 'postmaster.pid'), constants.O_RDONLY)
  if (file === undefined) return undefined
  try {
    const lines = readFileSync(file, 'utf8').split('\n')
    return { pid: Number(lines[0]), ready: lines[7]?.trim() === 'ready' }
  } catch {
    return undefined
  } finally {
    closeSync(file)
  }
}

/**
 * PostgreSQL refuses to start while the pid in an old lock file is in use, although after a reboot or in a restarted
 * container another process has that pid. It ignores its parent's pid, so this process writes its own into the file.
 * Deleting the file instead would disable the check for backends that still use the shared memory.
 */
function takeOverLockFiles({ cluster, socketDir }: PostmasterOptions): void {
  for (const path of [join(cluster, 'postmaster.pid'), join(socketDir, `${SOCKET_NAME}.lock`)]) {
    const file = openOwnFile(path, constants.O_RDWR)
    if (file === undefined) continue
    try {
      const text = readFileSync(file, 'utf8').replace(/^[^\n]*/, String(process.pid))
      ftruncateSync(file)
      writeSync(file, text, 0)
    } finally {
      closeSync(file)
    }
  }
}

/** Opens a regular file with one name in a folder of PostgreSQL's user: root would write through links. Undefined without it. */
function openOwnFile(path: string, flags: number): number | undefined {
  let file: number
  try {
    file = openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    if (codeOf(error) === 'ELOOP') throw notOwnFile(path)
    throw error
  }
  const { nlink, mode } = fstatSync(file)
  if (nlink === 1 && (mode & constants.S_IFMT) === constants.S_IFREG) return file
  closeSync(file)
  throw notOwnFile(path)
}

const notOwnFile = (path: string) =>
  new OperatorError(
    `${path} is a link or no regular file, which PostgreSQL does not make: remove it and start again`,
  )
