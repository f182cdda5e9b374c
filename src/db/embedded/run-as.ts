import { chmodSync, chownSync, lchownSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Whom PostgreSQL runs as. */
export interface User {
  uid: number
  gid: number
}

/** Not `nobody`: whoever runs as PostgreSQL's uid may connect to it. Needs no passwd entry. */
const PRIVATE_ID = 65432
const OTHERS_MAY_ENTER = 0o001
const GROUP_MAY_ENTER = 0o010
const OWNER_MAY_ENTER = 0o100

/**
 * PostgreSQL refuses to run as root: then it runs as the owner of the cluster, or as a uid of its own for a new one.
 * undefined when we are an ordinary user.
 */
export function chooseUser(cluster: string): User | undefined {
  if (process.getuid?.() !== 0) return undefined
  const owner = statSync(cluster, { throwIfNoEntry: false })
  return owner === undefined || owner.uid === 0
    ? { uid: PRIVATE_ID, gid: PRIVATE_ID }
    : { uid: owner.uid, gid: owner.gid }
}

/**
 * Whether the user can reach `dataDir`: false when a folder above it is closed to them, as /root is or what mktemp makes.
 * `dataDir` itself is opened for passing when it alone stands in the way.
 */
export function reaches(dataDir: string, user: User): boolean {
  const path = realpathSync(dataDir)
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if (!mayEnter(folder, user)) return false
  }
  if (!mayEnter(path, user)) chmodSync(path, statSync(path).mode | OTHERS_MAY_ENTER)
  return true
}

function mayEnter(folder: string, user: User): boolean {
  const { mode, uid, gid } = statSync(folder)
  if (uid === user.uid) return (mode & OWNER_MAY_ENTER) !== 0
  if (gid === user.gid) return (mode & GROUP_MAY_ENTER) !== 0
  return (mode & OTHERS_MAY_ENTER) !== 0
}

/** Gives the folder and all below it to the user, unless it is theirs already. */
export function giveTo(folder: string, user: User): void {
  if (statSync(folder).uid === user.uid) return
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(folder, name), user.uid, user.gid)
  }
  // The folder itself last: its owner says that all is done.
  chownSync(folder, user.uid, user.gid)
}
