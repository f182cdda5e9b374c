// Chooses the user of the system that PostgreSQL runs as where this process is root, and gives it its files.

import { chmodSync, chownSync, lchownSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface SystemUser {
  uid: number
  gid: number
}

/** Needs no passwd entry. Not that of `nobody`: every process with PostgreSQL's uid may connect to it. */
const PRIVATE_ID = 65432
const OTHERS_MAY_ENTER = 0o001
const GROUP_MAY_ENTER = 0o010
const OWNER_MAY_ENTER = 0o100

/** The user for PostgreSQL where this process is root: the cluster's owner, or a uid of its own. undefined: this one. */
export function chooseSystemUser(cluster: string): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const owner = statSync(cluster, { throwIfNoEntry: false })
  return owner === undefined || owner.uid === 0
    ? { uid: PRIVATE_ID, gid: PRIVATE_ID }
    : { uid: owner.uid, gid: owner.gid }
}

/** Lets the user enter `dataDir`. false when a folder above it is closed, as /root or one of mktemp. */
export function makeReachable(dataDir: string, user: SystemUser): boolean {
  const path = realpathSync(dataDir)
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder))
    if (!mayEnter(folder, user)) return false
  if (!mayEnter(path, user)) chmodSync(path, statSync(path).mode | OTHERS_MAY_ENTER)
  return true
}

function mayEnter(folder: string, user: SystemUser): boolean {
  const { mode, uid, gid } = statSync(folder)
  if (uid === user.uid) return (mode & OWNER_MAY_ENTER) !== 0
  if (gid === user.gid) return (mode & GROUP_MAY_ENTER) !== 0
  return (mode & OTHERS_MAY_ENTER) !== 0
}

/** Makes the user the owner of the folder and of everything below it, unless the folder has that owner. */
export function changeOwner(folder: string, user: SystemUser): void {
  if (statSync(folder).uid === user.uid) return
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(folder, name), user.uid, user.gid)
  // last, since its owner marks the change as complete
  chownSync(folder, user.uid, user.gid)
}
