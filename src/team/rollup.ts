import type { ISql } from '../db/client.ts'
import { directoryOf } from '../scoring/ownership.ts'

/** What of a session is counted: the hour it began, and for its user the domains it touched. */
export interface Activity {
  createdAt: string | Date
  /** The member's id, else the address; null for nobody's. */
  userKey: string | null
  project: string
  files: readonly string[]
}

interface Move {
  hours: Map<string, number>
  /** By user, project and directory. */
  directories: Map<string, { key: readonly [string, string, string]; sessions: number }>
}

/**
 * Brings the counts of sessions by hour, and by user and domain, from `before` to `after` (the same sessions as they were and
 * as they are). Call it in the transaction that writes the sessions, behind the organization's lock.
 */
export async function moveActivity(
  tx: ISql,
  orgId: string,
  before: readonly Activity[],
  after: readonly Activity[],
): Promise<void> {
  const move: Move = { hours: new Map(), directories: new Map() }
  for (const session of before) count(move, session, -1)
  for (const session of after) count(move, session, 1)
  await moveHours(tx, orgId, move)
  await moveDirectories(tx, orgId, move)
}

function count({ hours, directories }: Move, session: Activity, sign: 1 | -1): void {
  const hour = `${new Date(session.createdAt).toISOString().slice(0, 13)}:00:00Z`
  hours.set(hour, (hours.get(hour) ?? 0) + sign)
  if (session.userKey === null) return
  for (const directory of directoriesOf(session.files)) {
    const key = [session.userKey, session.project, directory] as const
    const name = key.join('\0')
    const known = directories.get(name) ?? { key, sessions: 0 }
    known.sessions += sign
    directories.set(name, known)
  }
}

/** The directories that a session's files lie in; a name from the machine's root is in no project. */
const directoriesOf = (files: readonly string[]): Set<string> =>
  new Set(files.filter((file) => !file.startsWith('/')).map(directoryOf))

async function moveHours(tx: ISql, orgId: string, { hours }: Move): Promise<void> {
  const changed = [...hours].filter(([, sessions]) => sessions !== 0)
  if (changed.length === 0) return
  await tx`
    insert into session_hours (org_id, hour, sessions)
    select ${orgId}, n.*
    from unnest(
      ${changed.map(([hour]) => hour)}::timestamptz[],
      ${changed.map(([, sessions]) => sessions)}::integer[]
    ) as n
    on conflict (org_id, hour) do update set sessions = session_hours.sessions + excluded.sessions`
}

async function moveDirectories(tx: ISql, orgId: string, { directories }: Move): Promise<void> {
  const changed = [...directories.values()].filter(({ sessions }) => sessions !== 0)
  if (changed.length === 0) return
  await tx`
    insert into session_directories (org_id, user_key, project, directory, sessions)
    select ${orgId}, n.*
    from unnest(
      ${changed.map(({ key }) => key[0])}::text[],
      ${changed.map(({ key }) => key[1])}::text[],
      ${changed.map(({ key }) => key[2])}::text[],
      ${changed.map(({ sessions }) => sessions)}::integer[]
    ) as n
    on conflict (org_id, user_key, project, directory) do update set
      sessions = session_directories.sessions + excluded.sessions`
}
