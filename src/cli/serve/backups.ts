// Makes backups at an interval while the server runs.

import { setTimeout } from 'node:timers/promises'
import { DAY_MS } from '../../base/dates.ts'
import { messageOf } from '../../base/errors.ts'
import { type Config, SETTINGS } from '../../config.ts'
import { removePartials } from '../../database/backup/file-writer.ts'
import {
  backupFolderOf,
  listBackups,
  newBackupPath,
  noteFailure,
  removeOldBackups,
} from '../../database/backup/folder.ts'
import type { Context } from '../command/context.ts'
import { runSelf } from '../command/run-self.ts'

/** A backup that failed is tried again after this time, unless the next one is due before. */
const RETRY_MS = 10 * 60_000

type BackupContext = Pick<Context, 'env' | 'log'> & {
  config: Pick<Config, 'backupDir' | 'backupKeep' | 'dataDir' | 'databaseUrl' | 'logLevel' | 'secretKey'>
}

export type BackupResult = 'made' | 'failed'

/**
 * Makes a backup every `everyS` seconds after the newest one in the folder, also across restarts, and removes the
 * oldest ones. Each is made by a process of its own, whose work does not delay requests. A failure is logged and noted
 * for `doctor` and the metrics; `onResult` is told of each.
 */
export function startBackups(
  context: BackupContext,
  everyS: number,
  onResult: (result: BackupResult) => void,
): { stop(): Promise<void> } {
  const { config, log } = context
  const folder = backupFolderOf(config)
  const everyMs = everyS * 1_000
  const stop = new AbortController()
  const { signal } = stop
  let child: ReturnType<typeof runBackup> | undefined

  const wait = async (untilMs: number) => {
    // a timer of Node takes 24 days at most
    while (!signal.aborted && Date.now() < untilMs)
      await setTimeout(Math.min(untilMs - Date.now(), DAY_MS), undefined, { signal }).catch(() => {})
  }
  const makeOne = async (): Promise<void> => {
    const path = newBackupPath(folder, new Date())
    child = runBackup(context, path)
    const { stdout, failure } = await child.ended
    if (signal.aborted) return removePartials(folder)
    if (failure !== null) throw new Error(failure)
    const { bytes, rows, seconds }: Record<string, unknown> = JSON.parse(stdout)
    const removed = removeOldBackups(folder, config.backupKeep)
    noteFailure(config.dataDir, undefined)
    onResult('made')
    log.info('backup made', { file: path, bytes, rows, seconds, removed: removed.length })
  }
  const loop = async () => {
    let retryAtMs = 0
    while (!signal.aborted) {
      try {
        await wait(Math.max(retryAtMs, (listBackups(folder).at(-1)?.at.getTime() ?? 0) + everyMs))
        if (!signal.aborted) await makeOne()
        retryAtMs = 0
      } catch (error) {
        retryAtMs = Date.now() + Math.min(everyMs, RETRY_MS)
        report(error)
      }
    }
  }
  const report = (error: unknown) => {
    onResult('failed')
    log.error('the backup failed', { folder, error: messageOf(error) })
    try {
      noteFailure(config.dataDir, { at: new Date().toISOString(), error: messageOf(error) })
    } catch (noteError) {
      log.error('the failure cannot be noted for doctor', { error: messageOf(noteError) })
    }
  }
  const ended = loop()
  return {
    async stop() {
      stop.abort()
      child?.kill('SIGKILL')
      await ended
    },
  }
}

/** Runs `backup` with the settings of the data and its key, in variables: arguments show in the process list. */
function runBackup({ env, config }: BackupContext, path: string) {
  const isSetting = (name: string) => SETTINGS.some((setting) => setting.name === name)
  const others = Object.fromEntries(Object.entries(env).filter(([name]) => !isSetting(name)))
  return runSelf(['backup', path, '--json'], {
    env: {
      ...others,
      DATA_DIR: config.dataDir,
      DATABASE_URL: config.databaseUrl ?? '',
      // it signs the backup
      ...(config.secretKey !== null && { SECRET_KEY: Buffer.from(config.secretKey).toString('base64') }),
      LOG_LEVEL: config.logLevel,
      // the last line of its standard error is read
      LOG_FORMAT: 'pretty',
    },
  })
}
