// Names, lists and removes the backups that `serve` makes in one folder, and notes when one failed.

import { accessSync, constants, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf } from '../../base/errors.ts'
import { readJsonFile } from '../../base/json-file.ts'
import type { Config } from '../../config.ts'

const NAME = /^cloud-analytics-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.zst$/

/** `cloud-analytics-20260131T235959Z.zst` */
const backupName = (at: Date): string =>
  `cloud-analytics-${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z.zst`

export const backupFolderOf = ({ backupDir, dataDir }: Pick<Config, 'backupDir' | 'dataDir'>): string =>
  backupDir ?? join(dataDir, 'backups')

/** The folder where `serve` is to have its backups; null: the settings name none. */
export const wantedFolder = (config: Pick<Config, 'backupDir' | 'backupEveryS' | 'dataDir'>) =>
  config.backupEveryS === null && config.backupDir === null ? null : backupFolderOf(config)

export const newBackupPath = (folder: string, at: Date): string => join(folder, backupName(at))

/** Creates the folder. The result says `ok`, or why no backup can be written there: a lost disk is not replaced. Never throws. */
export function watchFolder(folder: string): () => string {
  const isMounted = () => statSync(folder).dev !== statSync(dirname(folder)).dev
  let wasMounted = false
  const attempt = (look: () => string): string => {
    try {
      return look()
    } catch (error) {
      return `BACKUP_DIR: ${folder} cannot be written (${codeOf(error)})`
    }
  }
  attempt(() => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    wasMounted = isMounted()
    return ''
  })
  return () =>
    attempt(() => {
      accessSync(folder, constants.W_OK | constants.X_OK)
      return wasMounted && !isMounted() ? `BACKUP_DIR: nothing is mounted at ${folder} any more` : 'ok'
    })
}

/** The complete backups in the folder, oldest first; [] when there is no such folder. */
export function listBackups(folder: string) {
  return namesIn(folder)
    .sort()
    .flatMap((name) => {
      const at = name.replace(NAME, '$1-$2-$3T$4:$5:$6Z')
      return at === name ? [] : { path: join(folder, name), at: new Date(at) }
    })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (/^(ENOENT|ENOTDIR)$/.test(codeOf(error) ?? '')) return []
    throw error
  }
}

/** Removes the oldest backups, so that `keep` are left. Returns the paths removed. */
export function removeOldBackups(folder: string, keep: number): string[] {
  const removed = listBackups(folder)
    .slice(0, -keep)
    .map(({ path }) => path)
  for (const path of removed) rmSync(path, { force: true })
  return removed
}

/** A backup that could not be made. */
interface FailedBackup {
  /** RFC 3339. */
  at: string
  error: string
}

// the file is in the data directory, since the folder of backups may not be writable
const failureFile = (dataDir: string): string => join(dataDir, 'backup-failed.json')

/** Notes a failure for `doctor`, or with undefined that there is none any more. */
export function noteFailure(dataDir: string, failure: FailedBackup | undefined): void {
  if (failure === undefined) {
    rmSync(failureFile(dataDir), { force: true })
    return
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  writeFileSync(failureFile(dataDir), JSON.stringify(failure), { mode: 0o600 })
}

/** The failure since the last success; undefined when there is none. */
export const findFailure = (dataDir: string): FailedBackup | undefined =>
  readJsonFile(failureFile(dataDir)) as FailedBackup | undefined
