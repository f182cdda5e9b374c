import { chmodSync, closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile } from '../../base/file-lock.ts'
import { readJsonFile } from '../../base/json-file.ts'

/** A process uses the data directory as a server, or for one command. */
export type Role = 'serve' | 'command'

/** The process that has the lock, as other processes see it; `socketDir` once PostgreSQL runs, the others once the API listens. */
interface Holder {
  pid: number
  role: Role
  socketDir?: string
  url?: string
  /** The name of the server in `/health`. */
  instance?: string
}

/** Locks the data directory for this process; undefined when another process has the lock. */
export function acquireInstanceLock(dataDir: string) {
  const file = join(dataDir, 'instance.lock')
  // whoever may read the file may lock it, and others may enter the folder: PostgreSQL's user has to
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  const lock = lockFile(file)
  return (
    lock && {
      /** Publishes what other processes need to attach. */
      announce: (holder: Holder) => writeHolder(dataDir, holder),
      release() {
        rmSync(holderFile(dataDir), { force: true })
        lock.release()
      },
    }
  )
}

export type InstanceLock = NonNullable<ReturnType<typeof acquireInstanceLock>>

/** Reads what the process with the lock has published; undefined when it has published nothing yet. */
export const readHolder = (dataDir: string): Holder | undefined =>
  readJsonFile(holderFile(dataDir)) as Holder | undefined

const holderFile = (dataDir: string) => join(dataDir, 'instance.json')

function writeHolder(dataDir: string, holder: Holder): void {
  const temporary = `${holderFile(dataDir)}.new`
  writeFileSync(temporary, JSON.stringify(holder), { mode: 0o600 })
  renameSync(temporary, holderFile(dataDir))
}
