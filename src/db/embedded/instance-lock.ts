import { Database } from 'bun:sqlite'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Who holds the data directory: a server that stays, or a command that starts PostgreSQL for itself and leaves soon. */
export type Role = 'serve' | 'command'

/** What the holder tells others; `socketDir` once PostgreSQL's place is chosen. */
export interface Holder {
  pid: number
  role: Role
  socketDir?: string
}

export interface InstanceLock {
  /** Tells others what they need to attach. */
  announce(holder: Holder): void
  release(): void
}

/**
 * Takes the data directory for this process, or returns undefined when another holds it. SQLite's exclusive
 * transaction is a lock that the kernel frees on `kill -9` and that is seen across containers sharing the folder; a pid
 * in a file is neither.
 */
export function acquireInstanceLock(dataDir: string): InstanceLock | undefined {
  const database = new Database(join(dataDir, 'instance.lock'), { create: true })
  try {
    database.exec('pragma locking_mode = exclusive; begin exclusive')
  } catch (error) {
    database.close()
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY'))
      return undefined
    throw error
  }
  return {
    announce: (holder) => writeHolder(dataDir, holder),
    release() {
      rmSync(holderFile(dataDir), { force: true })
      database.close()
    },
  }
}

/** What the holder of the lock said last; undefined when it has said nothing yet. */
export function readHolder(dataDir: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(holderFile(dataDir), 'utf8')) satisfies Holder
  } catch {
    return undefined
  }
}

const holderFile = (dataDir: string) => join(dataDir, 'instance.json')

function writeHolder(dataDir: string, holder: Holder): void {
  const temporary = `${holderFile(dataDir)}.new`
  writeFileSync(temporary, JSON.stringify(holder), { mode: 0o600 })
  renameSync(temporary, holderFile(dataDir))
}
