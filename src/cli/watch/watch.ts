// The command `watch`: sends sessions as they grow, until a signal.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { ProjectFrom } from '../../analysis/agents/transcript/workspace.ts'
import { OperatorError } from '../../base/errors.ts'
import { plural } from '../../base/text.ts'
import { agentFolders } from '../client/agent-folders.ts'
import { getServer } from '../client/find-server.ts'
import { stateFolder } from '../client/folders.ts'
import { takeLock } from '../client/watch-lock.ts'
import { type Args, type Context, pathsOf } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { untilSignal } from '../command/signals.ts'
import { stampsOf } from './file-stamps.ts'
import { follow, QUIET_MS } from './loop.ts'
import { runSync, type SyncResult, type SyncTarget } from './run-sync.ts'
import { type WatchRecord, writeWatchRecord } from './watch-record.ts'

interface WatchOptions extends SyncTarget {
  project?: string
  projectFrom?: ProjectFrom
  content?: true
}

export async function watch(context: Context, options: WatchOptions, args: Args): Promise<void> {
  const pathArgs = pathsOf(args)
  for (const path of pathArgs)
    if (!existsSync(path)) throw new OperatorError(`no such file or folder: ${path}`, 2)
  const { url } = getServer(context.env, options)
  const folder = stateFolder(context.env)
  const lock = takeLock(folder)
  if (lock === undefined)
    throw new OperatorError('another watch of this user is running: `status` says which')
  const stop = new AbortController()
  const stopped = stop.signal
  void untilSignal().then(() => stop.abort())
  const paths = pathArgs.map((path) => resolve(path))
  const watched = () => (paths.length > 0 ? paths : agentFolders(context.env))
  // an agent may be installed at any time
  const existing = () => watched().filter((path) => existsSync(path))
  const record: WatchRecord = {
    pid: process.pid,
    paths: watched(),
    server: url,
    last_success_at: null,
    error: null,
  }
  try {
    writeWatchRecord(folder, record)
    await printResult(
      context.json,
      { pid: process.pid, paths: record.paths },
      `watching ${existing().join(', ') || 'for the first session'}`,
    )
    await follow({
      hasPaths: () => existing().length > 0,
      stamps: () => stampsOf(existing()),
      async sync(isFirst) {
        const settled = isFirst ? [] : ['--settled', `${QUIET_MS / 1_000}s`]
        const sync = runSync([...existing(), ...settled, ...argsOf(options)], options, context.env)
        stopped.addEventListener('abort', sync.stop)
        const result = await sync.result.finally(() => stopped.removeEventListener('abort', sync.stop))
        if (stopped.aborted) return result
        note(record, result, folder)
        // later the login may be gone, and come back
        if (result.failure !== null && result.isUsage && isFirst) throw new OperatorError(result.failure, 2)
        return result
      },
      now: Date.now,
      sleep: (ms) => setTimeout(ms, undefined, { signal: stopped }).catch(() => {}),
      stopped,
    })
  } finally {
    lock.release()
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
    printMessage(`${at} sent: ${plural(created, 'new session')}, ${updated} changed`)
  if (failure === null) record.last_success_at = at
  record.error = failure
  writeWatchRecord(folder, record)
}
