// Notes in DATA_DIR that the database of `serve` is another server's: a command without DATABASE_URL would otherwise make,
// or work on, an embedded one that the server never reads.

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'

const FILE = 'external-database'
const TEXT =
  'The database of the server that has this folder is that of DATABASE_URL, not one in this folder.\n'

/** Notes it. A folder that cannot be written, as in a container without one, goes without: it has no embedded database either. */
export function noteExternal(dataDir: string, log: Log): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    writeFileSync(join(dataDir, FILE), TEXT, { mode: 0o644 })
  } catch (error) {
    log.debug('DATA_DIR cannot be written: it has no note of the external database', { error })
  }
}

export function removeExternalNote(dataDir: string): void {
  rmSync(join(dataDir, FILE), { force: true })
}

/** Whether the folder is that of a server whose database is external. */
export const hasExternalNote = (dataDir: string): boolean => existsSync(join(dataDir, FILE))

/** Throws OperatorError when the folder has the note. */
export function refuseExternal(dataDir: string): void {
  if (!hasExternalNote(dataDir)) return
  const file = join(dataDir, FILE)
  throw new OperatorError(
    `the server with the data directory ${dataDir} uses the database of DATABASE_URL, which is not set here: set it, or name the ` +
      `server's settings by --env-file FILE (/etc/cloud-analytics/environment) or --database-url @FILE; to use an embedded database there, remove ${file}`,
  )
}
