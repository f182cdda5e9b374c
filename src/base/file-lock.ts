import { Database } from 'bun:sqlite'
import { codeOf } from './errors.ts'

/**
 * Takes a lock on a file; undefined when another process still holds it after `waitMs`. SQLite's exclusive transaction is a lock
 * that the system releases after `kill -9`, that holds between containers which share the folder, and that every platform
 * has; a file with a pid is none of these.
 */
export function lockFile(path: string, waitMs = 0): { release(): void } | undefined {
  const database = new Database(path, { create: true })
  try {
    database.run(`pragma busy_timeout = ${waitMs}`)
    database.run('pragma locking_mode = exclusive')
    database.run('begin exclusive')
    return { release: () => database.close() }
  } catch (error) {
    database.close()
    if (codeOf(error)?.startsWith('SQLITE_BUSY')) return undefined
    throw error
  }
}
