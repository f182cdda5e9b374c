import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, noSpaceError } from '../../base/errors.ts'

/** Others hold the lock for an instant when they ask whether it is held. */
const WAIT_MS = 500

/**
 * Takes the lock of the user's one `watch`; undefined when another process holds it. It is a lock of the operating system
 * on a file, taken by SQLite as every platform has it: it ends with the process, however that ends.
 */
export function takeLock(folder: string): { release(): void } | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = new Database(join(folder, 'watch.lock'), { create: true })
  try {
    file.run(`pragma busy_timeout = ${WAIT_MS}`)
    file.run('begin exclusive')
    return { release: () => file.close() }
  } catch (error) {
    file.close()
    if (codeOf(error) === 'SQLITE_BUSY') return undefined
    throw noSpaceError(error, folder) ?? error
  }
}

/** Whether a `watch` runs. */
export function isLockHeld(folder: string): boolean {
  const lock = takeLock(folder)
  lock?.release()
  return lock === undefined
}
