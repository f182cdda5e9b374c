// Makes the database of a data directory that has none, for `restore`: `fill` gets a new one in a folder of its own. Only
// when it has succeeded, and everything is flushed to disk, that database is moved to its place; otherwise the data
// directory is as it was, and after a kill the next start says so. Throws OperatorError when the directory has a database,
// is in use or cannot be written.

import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { ConnectTarget } from '../client.ts'
import { fullDiskError, syncPath } from '../disk.ts'
import { findAssets } from './assets.ts'
import {
  clusterFolder,
  explainFailure,
  holdsDatabase,
  inUse,
  makeDataDir,
  RESTORE_FOLDER,
  startEmbedded,
} from './embedded-server.ts'
import { refuseExternal, removeExternalNote } from './external-note.ts'
import { acquireInstanceLock } from './instance-lock.ts'
import { stopStalePostmaster } from './stale-postmaster.ts'
import { chooseSystemUser, makeReachable } from './system-user.ts'

export async function createFilledDatabase<Result>(
  { dataDir: given, log }: { dataDir: string; log: Log },
  fill: (target: ConnectTarget) => Promise<Result>,
): Promise<Result> {
  // one of another major version is there to be replaced
  if (!holdsDatabase(given)) refuseExternal(given)
  try {
    const dataDir = makeDataDir(given)
    const lock = acquireInstanceLock(dataDir)
    if (lock === undefined) throw inUse(dataDir)
    try {
      lock.announce({ pid: process.pid, role: 'command' })
      return await createLocked(dataDir, log, fill)
    } finally {
      lock.release()
    }
  } catch (error) {
    throw explainFailure(error, given)
  }
}

async function createLocked<Result>(
  dataDir: string,
  log: Log,
  fill: (target: ConnectTarget) => Promise<Result>,
): Promise<Result> {
  const assets = findAssets()
  const cluster = clusterFolder(dataDir, assets)
  if (existsSync(cluster))
    throw new OperatorError(
      `${dataDir} holds a database: a backup is restored only where there is none (another --data-dir, or move this one away)`,
    )
  const folder = join(dataDir, RESTORE_FOLDER)
  const made = clusterFolder(folder, assets)
  await stopStalePostmaster(made, log)
  rmSync(folder, { recursive: true, force: true })
  const user = chooseSystemUser(made)
  if (user !== undefined) makeReachable(dataDir, user)
  try {
    const embedded = await startEmbedded({ dataDir: folder, log, role: 'command' })
    const explained = (error: unknown) => {
      // here, since the space is free again when the folder is removed
      throw fullDiskError(error, { databaseUrl: null, dataDir }) ?? error
    }
    const result = await fill(embedded.target)
      .catch(explained)
      .finally(() => embedded.stop())
    renameSync(made, cluster)
    removeExternalNote(dataDir)
    await syncPath(dataDir)
    return result
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
