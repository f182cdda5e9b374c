// Starts and stops the embedded PostgreSQL of a data directory.

import { dlopen, FFIType } from 'bun:ffi'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf, OperatorError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { once } from '../../base/memoize.ts'
import { shellWord } from '../../base/text.ts'
import { type ConnectTarget, SOCKET_NAME } from '../client.ts'
import { type Assets, findAssets, findManifest } from './assets.ts'
import { acquireInstanceLock, type InstanceLock, type Role, readHolder } from './instance-lock.ts'
import { cannotSwitchUser, readPidFile, startPostmaster } from './postmaster.ts'
import { isPostmasterOf, stopStalePostmaster } from './stale-postmaster.ts'
import { changeOwner, chooseSystemUser, makeReachable, type SystemUser } from './system-user.ts'
import {
  postgresFolder,
  removeLeftovers,
  removeOtherPrograms,
  unpackCluster,
  unpackProgram,
} from './unpack.ts'

interface EmbeddedOptions {
  /** Created when missing. Only one process uses it at a time. */
  dataDir: string
  log: Log
  /** `serve` unless given. */
  role?: Role
  /** false: nothing is flushed to disk; for databases that are thrown away. true unless given. */
  durable?: boolean
}

const USER = 'postgres'
const DATABASE = 'postgres'
/** The kernel's sun_path has 108 bytes, on macOS 104, one of them for the terminating NUL. */
const MAX_SOCKET_PATH = process.platform === 'darwin' ? 103 : 107
const SHARED_HOME = '/var/cache/cloud-analytics'
const FALLBACK_SOCKET_PREFIX = '/tmp/cloud-analytics-'

/** Starts PostgreSQL on `dataDir`. Throws OperatorError when that is in use, not writable or full. */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const embedded = await tryStartEmbedded(options)
  if (embedded === undefined) throw inUse(options.dataDir)
  return embedded
}

/** Does the same as `startEmbedded`, but returns undefined when another process uses `dataDir`. */
export async function tryStartEmbedded(options: EmbeddedOptions): Promise<Embedded | undefined> {
  const { role = 'serve', log } = options
  const assets = findAssets()
  try {
    const dataDir = makeDataDir(options.dataDir)
    const lock = acquireInstanceLock(dataDir)
    if (lock === undefined) return undefined
    try {
      return await startLocked(lock, assets, { durable: true, ...options, role, log, dataDir })
    } catch (error) {
      lock.release()
      throw error
    }
  } catch (error) {
    throw explainFailure(error, options.dataDir)
  }
}

/** Creates the folder when it is missing; returns its real path. */
export function makeDataDir(path: string): string {
  mkdirSync(dirname(path), { recursive: true })
  if (!existsSync(path)) mkdirSync(path, { mode: 0o700 })
  return realpathSync(path)
}

/** The error for a data directory that another process uses. */
export function inUse(dataDir: string): OperatorError {
  const pid = readHolder(dataDir)?.pid ?? 'unknown'
  return new OperatorError(`${dataDir} is in use by another running instance (pid ${pid})`)
}

/** The PostgreSQL that another process runs on `dataDir`; undefined when none is ready. */
export function attachEmbedded(dataDir: string): ConnectTarget | undefined {
  const holder = readHolder(dataDir)
  if (holder?.socketDir === undefined) return undefined
  const cluster = clusterFolder(realpathSync(dataDir), findAssets())
  const state = readPidFile(cluster)
  if (state?.ready !== true || !isPostmasterOf(state.pid, cluster)) return undefined
  return { socketDir: holder.socketDir, user: USER, database: DATABASE }
}

async function startLocked(lock: InstanceLock, assets: Assets, options: Required<EmbeddedOptions>) {
  const { dataDir, log, role, durable } = options
  const previous = readHolder(dataDir)
  lock.announce({ pid: process.pid, role })
  const cluster = clusterFolder(dataDir, assets)
  removeLeftovers(dataDir)
  settleRestore(dataDir, cluster)
  if (previous?.socketDir?.startsWith(FALLBACK_SOCKET_PREFIX))
    rmSync(previous.socketDir, { recursive: true, force: true })
  refuseOtherMajor(dataDir, cluster, assets)
  const user = chooseSystemUser(cluster)
  const reachable = user === undefined || makeReachable(dataDir, user)
  await stopStalePostmaster(cluster, log)
  const setOwner = (folder: string) => user !== undefined && changeOwnerOrExplain(folder, user)
  const program = postgresFolder(assets, reachable ? dataDir : sharedHome(dataDir))
  const missing: Promise<void>[] = []
  if (!existsSync(program)) missing.push(unpackProgram(assets, program, { durable }))
  if (existsSync(cluster)) setOwner(cluster)
  else missing.push(unpackCluster(assets, cluster, { durable }, setOwner))
  await Promise.all(missing)
  // without this the unpacked archives stay in the heap: 190 MB instead of 25
  if (missing.length > 0) {
    Bun.gc(true)
    pageOutExecutable()
  }
  const socketDir = makeSocketFolder(dataDir, reachable)
  setOwner(socketDir)
  const postmaster = await startPostmaster({ program, cluster, socketDir, user, reachable, durable, log })
  if (reachable) removeOtherPrograms(dataDir, program)
  const holder = { pid: process.pid, role, socketDir }
  lock.announce(holder)
  const stop = once(async () => {
    await postmaster.stop()
    if (socketDir.startsWith(FALLBACK_SOCKET_PREFIX)) rmSync(socketDir, { recursive: true, force: true })
    lock.release()
  })
  return {
    target: { socketDir, user: USER, database: DATABASE } as ConnectTarget,
    pid: postmaster.pid,
    /** Resolves when it ends, also without `stop`: `exit code 1`, and the reason where it is known. */
    exited: postmaster.exited,
    /** Publishes where the API listens, and its name in `/health`, for commands on the same data directory. */
    announceServer: (url: string, instance: string) => lock.announce({ ...holder, url, instance }),
    /** Stops it and releases the data directory; may be called twice. */
    stop,
  }
}

/** The embedded PostgreSQL, which listens on a unix socket only. */
export type Embedded = Awaited<ReturnType<typeof startLocked>>

/** Throws OperatorError if root cannot change owners: in a container without that capability, or with a single uid. */
function changeOwnerOrExplain(folder: string, user: SystemUser): void {
  try {
    changeOwner(folder, user)
  } catch (error) {
    if (/^(EPERM|EINVAL)$/.test(codeOf(error) ?? '')) throw cannotSwitchUser(user)
    throw error
  }
}

/** The folder for the program when PostgreSQL's user cannot reach the data directory: its loader needs a real path. */
function sharedHome(dataDir: string): string {
  try {
    // PostgreSQL's cluster is in the closed folder all the same, and only Linux has a way around (/proc/self/cwd)
    if (process.platform !== 'linux') throw new Error('no way in')
    mkdirSync(SHARED_HOME, { recursive: true, mode: 0o755 })
    return SHARED_HOME
  } catch {
    throw new OperatorError(
      `PostgreSQL cannot run as root, and a folder above ${dataDir} is closed to other users: set DATA_DIR to a folder they ` +
        'can reach, such as /var/lib/cloud-analytics, or run as an ordinary user, or set DATABASE_URL',
    )
  }
}

/** The cluster of this program's PostgreSQL. */
export const clusterFolder = (dataDir: string, assets: Assets) =>
  join(dataDir, `data-${assets.manifest.major}`)

/** Whether there is a database in `dataDir`, of any major version. Throws OperatorError when it cannot be read. */
export function holdsDatabase(dataDir: string): boolean {
  try {
    return existsSync(dataDir) && majorsIn(dataDir).length > 0
  } catch (error) {
    throw explainFailure(error, dataDir)
  }
}

/** Whether there is a database in `dataDir`, and none of this program's major version. */
export const holdsOtherMajor = (dataDir: string): boolean => {
  const major = findManifest()?.major
  return holdsDatabase(dataDir) && !majorsIn(dataDir).includes(String(major))
}

/** The major versions of PostgreSQL whose databases the folder has. */
const majorsIn = (dataDir: string): string[] =>
  readdirSync(dataDir).flatMap((name) => /^data-(\d+)$/.exec(name)?.[1] ?? [])

/** PostgreSQL can neither read nor convert the files of another major version. */
function refuseOtherMajor(dataDir: string, cluster: string, { manifest }: Assets): void {
  if (existsSync(cluster)) return
  const [other] = majorsIn(dataDir)
  if (other === undefined) return
  throw new OperatorError(
    `${dataDir} holds a database of PostgreSQL ${other}, and this program carries ${manifest.major}. Two commands move the data: ` +
      `with the program that made it \`cloud-analytics backup FILE --data-dir ${shellWord(dataDir)}\`, then with this one ` +
      `\`cloud-analytics restore FILE --data-dir ${shellWord(dataDir)}\``,
  )
}

/** A restore makes its cluster in this folder (see `createFilledDatabase`), which is then renamed. */
export const RESTORE_FOLDER = 'unfinished-restore'

/** A cluster in its place means that the restore was finished; without one nobody may start with an empty one. */
function settleRestore(dataDir: string, cluster: string): void {
  const folder = join(dataDir, RESTORE_FOLDER)
  if (!existsSync(folder)) return
  if (!existsSync(cluster))
    throw new OperatorError(
      `a restore into ${dataDir} was interrupted: run \`cloud-analytics restore FILE\` again, or remove ${folder} to start with an empty database`,
    )
  rmSync(folder, { recursive: true })
}

function makeSocketFolder(dataDir: string, reachable: boolean): string {
  const folder = join(dataDir, 'run')
  const fits = Buffer.byteLength(join(folder, SOCKET_NAME)) <= MAX_SOCKET_PATH
  if (!fits || !reachable) return mkdtempSync(FALLBACK_SOCKET_PREFIX)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  return folder
}

/** The error for the operator when the data directory cannot be written or its disk is full. */
export function explainFailure(error: unknown, dataDir: string): unknown {
  const code = codeOf(error) ?? ''
  if (/^(EACCES|EPERM|EROFS|ENOTDIR|EEXIST|SQLITE_CANTOPEN|SQLITE_READONLY|SQLITE_PERM)/.test(code))
    return new OperatorError(
      `the data directory ${dataDir} cannot be written (${code}): set DATA_DIR to a folder this user owns, or set DATABASE_URL`,
    )
  if (/^(EMFILE|ENFILE)/.test(code))
    return new OperatorError(
      'this process may open too few files: raise the limit (ulimit -n 4096) and start again',
    )
  if (/^(ENOSPC|EDQUOT|SQLITE_FULL)/.test(code))
    return new OperatorError(
      `no space left for the database in ${dataDir}: free some and start again; a new one needs 100 MB`,
    )
  return error
}

/** Linux knows it from 5.4 on; older kernels return an error, which is ignored. */
const MADV_PAGEOUT = 21
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+\s+(.*)$/

/**
 * Releases the memory of the executable's data pages; the kernel reads them from the file when they are
 * needed again. Reading the packed archives maps 18 MB of them: 30 s after a first start the program takes 75
 * MB (PSS) with this call, 92 MB without it. After later starts, which read no archive, it takes 73 MB.
 */
function pageOutExecutable(): void {
  if (process.platform !== 'linux') return
  const { symbols: libc, close } = dlopen('libc.so.6', {
    madvise: { args: [FFIType.u64, FFIType.u64, FFIType.i32], returns: FFIType.i32 },
  })
  for (const line of readFileSync('/proc/self/maps', 'utf8').split('\n')) {
    const [, from, to, permissions = '', file] = MAPPING.exec(line) ?? []
    if (from === undefined || file !== process.execPath || permissions.includes('x')) continue
    libc.madvise(BigInt(`0x${from}`), BigInt(`0x${to}`) - BigInt(`0x${from}`), MADV_PAGEOUT)
  }
  close()
}
