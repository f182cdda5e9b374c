import { Database } from 'bun:sqlite'
import { codeOf } from './errors.ts'

/** Locks a file by SQLite, which holds between containers and ends with `kill -9`; undefined when it is held after `waitMs`. */
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
