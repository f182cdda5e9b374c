import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ProjectFrom } from '../../agents/transcript/workspace.ts'
import { OperatorError } from '../../errors.ts'
import { agentFolders, stateFolder } from '../client/folders.ts'
import { getServer } from '../client/server.ts'
import { takeLock } from '../client/watch-lock.ts'
import { type Args, type Context, pathsOf } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { untilSignal } from '../command/signals.ts'
import { createChanges } from './changes.ts'
import { stampsOf } from './files.ts'
import { type WatchRecord, writeWatchRecord } from './record.ts'
import { runSync, type SyncResult, type SyncTarget } from './run-sync.ts'

export interface WatchOptions extends SyncTarget {
  project?: string
  projectFrom?: ProjectFrom
  content?: true
}

/** A session is sent when nothing was written to it for so long. `sync --settled` has the rest of the rule. */
const QUIET_MS = 30_000
/** A file that grows is sent so often. */
const GROWING_MS = 300_000
/** All files are looked at after this time: 10,000 take 23 ms of processor time. It is below the quiet that is waited for. */
const LOOK_MS = 15_000
/** Two syncs are this far apart: one of several sessions is always quiet. */
const BETWEEN_MS = 15_000
/** A sync that failed is repeated after this time; it doubles with each failure. */
const FIRST_RETRY_MS = 5_000
const MAX_RETRY_MS = 60_000
/** The quiet that `sync` sees is some ms shorter than the one seen here. */
const MARGIN_MS = 500

/** `watch`: sends the sessions below the paths as they end or grow, until SIGTERM. */
export async function watch(context: Context, options: WatchOptions, args: Args): Promise<void> {
  const given = pathsOf(args)
  for (const path of given) {
    if (!existsSync(path)) throw new OperatorError(`no such file or folder: ${path}`, 2)
  }
  const { url } = getServer(context.env, options)
  const folder = stateFolder(context.env)
  const lock = takeLock(folder)
  if (lock === undefined)
    throw new OperatorError('another watch of this user is running: `status` says which')
  const signal = untilSignal()
  try {
    const paths = given.map((path) => resolve(path))
    await run(context, { paths, url, options, folder }, signal)
  } finally {
    lock.release()
  }
}

interface Watched {
  /** Empty for the agents' usual folders. */
  paths: readonly string[]
  /** The server's address. */
  url: string
  options: WatchOptions
  folder: string
}

async function run(
  context: Context,
  { paths, url, options, folder }: Watched,
  signal: Promise<NodeJS.Signals>,
): Promise<void> {
  // an agent may be installed at any time
  const existing = () =>
    (paths.length > 0 ? paths : agentFolders(context.env)).filter((path) => existsSync(path))
  const changes = createChanges(QUIET_MS + MARGIN_MS, GROWING_MS + MARGIN_MS)
  const record: WatchRecord = {
    pid: process.pid,
    started_at: new Date().toISOString(),
    paths: paths.length > 0 ? paths : agentFolders(context.env),
    server: url,
    last_run_at: null,
    last_success_at: null,
    error: null,
  }
  writeWatchRecord(folder, record)
  await printResult(
    context.json,
    { pid: process.pid, paths: record.paths },
    `watching ${existing().join(', ') || 'for the first session'}`,
  )

  let isStopped = false
  void signal.then(() => {
    isStopped = true
  })
  let failures = 0
  let isFirst = true
  let nextLookMs = 0
  let nextSyncMs = 0
  while (!isStopped) {
    if (Date.now() >= nextLookMs) {
      const stamps = await stampsOf(existing())
      for (const [path, stamp] of stamps) changes.note(path, stamp, Date.now())
      changes.forget((path) => !stamps.has(path))
      // clients that were started together do not look together
      nextLookMs = Date.now() + LOOK_MS * (0.9 + Math.random() / 5)
    }
    const dueMs = isFirst && existing().length > 0 ? 0 : changes.dueAtMs()
    if (dueMs !== undefined && dueMs <= Date.now() && nextSyncMs <= Date.now()) {
      const startedMs = Date.now()
      const pending = changes.pending()
      const settled = isFirst ? [] : ['--settled', `${QUIET_MS / 1_000}s`]
      const sync = runSync([...existing(), ...settled, ...argsOf(options)], options, context.env)
      void signal.then(() => sync.stop())
      const result = await sync.result
      if (isStopped) break
      note(record, result, folder)
      if (result.failure === null) {
        isFirst = false
        failures = 0
        changes.sent(pending, startedMs, Date.now(), result.growing > 0)
        nextSyncMs = Date.now() + BETWEEN_MS
      } else {
        // later the login may be gone, and come back
        if (result.isUsage && isFirst) throw new OperatorError(result.failure, 2)
        const delayMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** failures)
        failures += 1
        nextSyncMs = Date.now() + delayMs * (0.5 + Math.random())
      }
      continue
    }
    if (isStopped) break
    const wakeMs = Math.min(nextLookMs, Math.max(dueMs ?? Number.POSITIVE_INFINITY, nextSyncMs))
    await Promise.race([signal, Bun.sleep(Math.max(0, wakeMs - Date.now()))])
  }
}

const argsOf = ({ project, projectFrom, content }: WatchOptions): string[] => [
  ...(project === undefined ? [] : ['--project', project]),
  ...(projectFrom === undefined ? [] : ['--project-from', projectFrom]),
  ...(content === true ? ['--content'] : []),
]

function note(record: WatchRecord, { failure, created, updated }: SyncResult, folder: string): void {
  const at = new Date().toISOString()
  if (failure !== null && failure !== record.error) printMessage(`${at} ${failure}`)
  if (failure === null && (record.error !== null || created + updated > 0))
    printMessage(`${at} sent: ${created} new sessions, ${updated} changed`)
  record.last_run_at = at
  if (failure === null) record.last_success_at = at
  record.error = failure
  writeWatchRecord(folder, record)
}
