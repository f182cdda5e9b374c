// Checks at the start that folders of settings can be written.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../base/errors.ts'
import type { Config } from '../../config.ts'
import { wantedFolder } from '../../database/backup/folder.ts'

type Folders = Pick<Config, 'backupDir' | 'backupEveryS' | 'dataDir' | 'databaseUrl' | 'secretKey'>

/** Says why DATA_DIR and BACKUP_DIR cannot be written: of a backup it would be noticed when the first is due. */
export function folderProblems(config: Folders): string[] {
  const { dataDir, databaseUrl, secretKey } = config
  const backups = wantedFolder(config)
  // nothing is kept there where database and key are elsewhere, as in a container that is read-only
  const problems = databaseUrl === null || secretKey === null ? problemOf('DATA_DIR', dataDir, OF_DATA) : []
  // backups within DATA_DIR have no other problem than it has
  if (backups === null || (problems.length > 0 && config.backupDir === null)) return problems
  return [...problems, ...problemOf('BACKUP_DIR', backups, OF_BACKUPS)]
}

const OF_DATA = 'set it to a folder that this user owns'
const OF_BACKUPS =
  'set it to a folder that this user owns; in a unit of systemd also `ReadWritePaths=`, which `service install --server --backup-dir DIR` writes'

/** Other errors than these, such as a full disk, are not for the settings. */
const NOT_WRITABLE = /^(EACCES|EPERM|EROFS|ENOTDIR|EEXIST|ENOENT|ELOOP|ENAMETOOLONG)$/

function problemOf(setting: string, folder: string, remedy: string): string[] {
  try {
    const created = mkdirSync(folder, { recursive: true, mode: 0o700 })
    // a folder that was missing is made when it is needed: the start may still fail for another reason
    rmSync(created ?? mkdtempSync(join(folder, '.writable-')), { recursive: true })
    return []
  } catch (error) {
    const code = codeOf(error) ?? ''
    return NOT_WRITABLE.test(code) ? [`${setting}: ${folder} cannot be written (${code}): ${remedy}`] : []
  }
}
