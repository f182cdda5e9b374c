import type { ISql } from '../db/client.ts'
import { moveSums, type ProjectSums, type Renaming } from '../db/move-sums.ts'
import { unnest } from '../db/rows.ts'
import { directoryOf } from '../scoring/ownership.ts'

/** The fields of a session that are counted: by hour of `createdAt`, and by user and domain of `files`. */
export interface Activity {
  createdAt: string | Date
  /** The member's id, else the address; null where the session has no user. */
  userKey: string | null
  project: string
  files: readonly string[]
}

/** The change of a row of session_directories. */
interface DirectoryChange {
  user_key: string
  project: string
  directory: string
  sessions: number
}

interface ActivityChanges {
  hours: Map<string, number>
  /** The changes by user, project and directory. */
  directories: Map<string, DirectoryChange>
}

/**
 * Updates the counts of sessions by hour, and by user and domain, by the difference between `before` and `after`: the same
 * sessions as they were stored and as they are now. Needs the organization's lock, in the transaction that writes the
 * sessions.
 */
export async function updateActivity(
  tx: ISql,
  orgId: string,
  before: readonly Activity[],
  after: readonly Activity[],
): Promise<void> {
  const changes: ActivityChanges = { hours: new Map(), directories: new Map() }
  for (const session of before) count(changes, session, -1)
  for (const session of after) count(changes, session, 1)
  await addToHours(tx, orgId, changes)
  await addToDirectories(tx, orgId, changes)
}

function count({ hours, directories }: ActivityChanges, session: Activity, sign: 1 | -1): void {
  const hour = `${new Date(session.createdAt).toISOString().slice(0, 13)}:00:00Z`
  hours.set(hour, (hours.get(hour) ?? 0) + sign)
  const { userKey: user_key, project } = session
  if (user_key === null) return
  for (const directory of directoriesOf(session.files)) {
    const key = [user_key, project, directory].join('\0')
    const change = directories.get(key) ?? { user_key, project, directory, sessions: 0 }
    change.sessions += sign
    directories.set(key, change)
  }
}

/** The directories of a session's files; an absolute path is outside of the project. */
const directoriesOf = (files: readonly string[]): Set<string> =>
  new Set(files.filter((file) => !file.startsWith('/')).map(directoryOf))

/** Renames the project of the counts. Needs the organization's lock. */
export const renameInActivity = (tx: ISql, orgId: string, renaming: Renaming): Promise<void> =>
  moveSums(tx, orgId, DIRECTORIES, renaming)

const DIRECTORIES: ProjectSums = {
  name: 'session_directories',
  key: ['user_key', 'directory'],
  sums: ['sessions'],
}

async function addToHours(tx: ISql, orgId: string, { hours }: ActivityChanges): Promise<void> {
  const changed = [...hours].filter(([, sessions]) => sessions !== 0)
  if (changed.length === 0) return
  await tx`
    insert into session_hours (org_id, hour, sessions)
    select ${orgId}, n.*
    from ${unnest(tx, changed, {
      hour: ['timestamptz', ([hour]) => hour],
      sessions: ['integer', ([, sessions]) => sessions],
    })}
    on conflict (org_id, hour) do update set sessions = session_hours.sessions + excluded.sessions`
}

async function addToDirectories(tx: ISql, orgId: string, { directories }: ActivityChanges): Promise<void> {
  const changed = [...directories.values()].filter(({ sessions }) => sessions !== 0)
  if (changed.length === 0) return
  await tx`
    insert into session_directories (org_id, user_key, project, directory, sessions)
    select ${orgId}, n.*
    from ${unnest(tx, changed, {
      user_key: 'text',
      project: 'text',
      directory: 'text',
      sessions: 'integer',
    })}
    on conflict (org_id, user_key, project, directory) do update set
      sessions = session_directories.sessions + excluded.sessions`
  if (!changed.some(({ sessions }) => sessions < 0)) return
  // a row of no session would still hold the names of its user and its directory
  await tx`
    delete from session_directories d
    using ${unnest(tx, changed, { user_key: 'text', project: 'text', directory: 'text' })}
    where d.org_id = ${orgId}
      and d.user_key = n.user_key
      and d.project = n.project
      and d.directory = n.directory
      and d.sessions = 0`
}
