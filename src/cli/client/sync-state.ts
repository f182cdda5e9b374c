// Keeps what this machine sent, and what the servers answered, for each server and organization. All of it may be lost: then
// everything is sent again, which changes nothing at a server.

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredCommit, StoredRepository } from '../../analysis/agents/attribution/attribute.ts'
import { createWritten, KEPT_MS, type StoredAction } from '../../analysis/agents/attribution/written-store.ts'
import type { KnownFile } from '../../analysis/agents/known-files.ts'
import { createLineOwners } from '../../analysis/agents/transcript/line-owners.ts'
import { DAY_MS } from '../../base/dates.ts'
import { messageOf } from '../../base/errors.ts'
import type { SkippedSession } from '../../features/sessions/deleted-queries.ts'
import { printMessage } from '../command/output.ts'
import { formerIds, takeFormerStates } from './former-states.ts'
import { Damaged, KINDS, openDatabase, type Run, SENT, type StateDatabase } from './state-database.ts'

export interface StateOfSession {
  /** The hash of the record's text. */
  hash: string
  /** Time of the server's answer, UTC. */
  at: string
  agent: string
  /** The reason why the server, or this program, did not accept it; absent when it did. */
  refused?: string
  /** The server's decision where it does not keep this session; absent for any other reason. */
  skipped?: SkippedSession['reason']
}

/** The values of each kind, which have an id. */
interface Values {
  /** The organization's keys: when the server last accepted one, UTC, and its member's address, which never changes. */
  keys: { at: string; member: string | null }
  /** The files by path. */
  files: KnownFile
  sessions: StateOfSession
  /** The hash of each commit's record, and whether it was on the default branch, by project and hash of the commit. */
  commits: string
  /** The lines that agents wrote, by project and hash of a commit. */
  attributed: StoredCommit
  /** The state of each repository, by project. */
  repositories: StoredRepository
  /** The edits and commits of sessions. */
  written: StoredAction
}

type Kind = keyof Values

/** The owner of a key, by the server. */
export interface KeyOwner {
  organization: { id: string; slug: string }
  /** The address of the key's member; null where it has none. */
  member: string | null
}

const NAME = 'state.sqlite3'
/** Writing takes a twentieth of the time at most. */
const WRITE_SHARE = 20
/** Lines remembered, some 60 MB: those of 8 GB of transcripts. Of more the first days are forgotten. */
const MAX_LINES = 2_000_000
/** Bytes of written lines remembered, some 4 million lines. */
const MAX_WRITTEN_BYTES = 64 * 1024 * 1024

/** Whether this machine remembers anything. */
export const hasState = (folder: string): boolean =>
  existsSync(join(folder, NAME)) || formerIds(folder).length > 0

/** Calls `use` with what is remembered in a folder; where it is damaged, says so, and calls it again with nothing. */
export async function withState<Result>(
  folder: string,
  use: (database: StateDatabase) => Result | Promise<Result>,
): Promise<Result> {
  const path = join(folder, NAME)
  const useOnce = async () => {
    using database = openDatabase(path)
    takeFormerStates(folder, database)
    return await use(database)
  }
  try {
    return await useOnce()
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    printMessage(`${path} is damaged (${error.message}): it is replaced, and what was sent is sent again`)
    for (const ending of ['', '-journal']) rmSync(path + ending, { force: true })
    return await useOnce()
  }
}

/** All states. */
export const listStates = (database: StateDatabase) =>
  database
    .read('select id, server, organization, slug from targets order by server, organization')
    .map(([id, server, organization, slug]) =>
      syncState(database, Number(id), String(server), { id: String(organization), slug: String(slug) }),
    )

/** The organization and member of a key that this server accepted before; undefined when it is not known. */
export function findKeyOwner(database: StateDatabase, server: string, keyId: string): KeyOwner | undefined {
  for (const state of listStates(database)) {
    const key = state.server === server ? state.get('keys', keyId) : undefined
    if (key !== undefined) return { organization: state.organization, member: key.member }
  }
  return undefined
}

/** Opens the state for a server (its address without a slash at its end) and an organization. */
export function openState(database: StateDatabase, server: string, organization: KeyOwner['organization']) {
  const { id, slug } = organization
  const [[target, tidied] = []] = database.read(
    'select id, tidied from targets where server = ? and organization = ?',
    ...[server, id],
  )
  if (tidied === today()) return syncState(database, Number(target), server, organization)
  database.write((run) => {
    const [[made] = []] = run(
      `insert into targets (server, organization, slug, tidied) values (?, ?, ?, ?)
      on conflict do update set tidied = excluded.tidied returning id`,
      ...[server, id, slug, today()],
    )
    forgetOld(run, Number(made))
  })
  return openState(database, server, organization)
}

const today = (): number => Math.floor(Date.now() / DAY_MS)

/** Forgets what is too old, or too much. */
function forgetOld(run: Run, target: number): void {
  for (const kind of ['attributed', 'written'])
    run(`delete from ${kind} where target = ? and value ->> 'at' < ?`, target, Date.now() - KEPT_MS)
  run(
    `delete from written where target = ?1 and id in (
      select w.id from (
        select id, sum(length(value)) over (order by value ->> 'at' desc, id) as bytes from written
        where target = ?1
      ) as w
      where w.bytes > ?2
    )`,
    ...[target, MAX_WRITTEN_BYTES],
  )
  run(
    `delete from lines where target = ?1 and added < (
      select max(d.added) from (
        select added, sum(count(*)) over (order by added desc) as lines from lines
        where target = ?1 group by added
      ) as d
      where d.lines >= ?2
    )`,
    ...[target, MAX_LINES],
  )
}

/** Forgets a server. Returns whether there is another one. */
export function forgetServer({ read, write }: StateDatabase, server: string): boolean {
  write((run) => {
    // paths would stay in the file
    run('pragma secure_delete = on')
    for (const table of [...KINDS, 'lines'])
      run(`delete from ${table} where target in (select id from targets where server = ?)`, server)
    run('delete from targets where server = ?', server)
  })
  return read('select 1 from targets limit 1').length > 0
}

type Pending = { [K in Kind]: Map<string, Values[K] | undefined> }

function syncState(
  { read, write }: StateDatabase,
  target: number,
  server: string,
  organization: KeyOwner['organization'],
) {
  const pending = Object.fromEntries(KINDS.map((kind) => [kind, new Map()])) as Pending
  let nextSaveMs = 0
  const owners = createLineOwners((line) => {
    const [row] = read('select owner from lines where target = ? and line = ?', target, line)
    return row && Number(row[0])
  })
  const get = <K extends Kind>(kind: K, id: string): Values[K] | undefined => {
    if (pending[kind].has(id)) return pending[kind].get(id)
    const [row] = read(`select value from ${kind} where target = ? and id = ?`, target, id)
    return row && parsed(row[0])
  }
  const set = <K extends Kind>(kind: K, id: string, value: Values[K] | undefined): void => {
    pending[kind].set(id, value)
  }
  /** Writes what changed. */
  const flush = () => {
    if (owners.added.size === 0 && KINDS.every((kind) => pending[kind].size === 0)) return
    const startedMs = performance.now()
    write((run) => {
      for (const line of owners.added)
        run('insert or ignore into lines values (?, ?, ?, ?)', target, ...line, today())
      for (const kind of KINDS)
        for (const [id, value] of pending[kind])
          if (value === undefined) run(`delete from ${kind} where target = ? and id = ?`, target, id)
          else run(`insert or replace into ${kind} values (?, ?, ?)`, target, id, JSON.stringify(value))
    })
    for (const written of [owners.added, ...Object.values(pending)]) written.clear()
    nextSaveMs = performance.now() + WRITE_SHARE * (performance.now() - startedMs)
  }
  /** The values whose id begins with this. */
  const list = <K extends Kind>(kind: K, prefix = ''): [id: string, value: Values[K]][] => {
    flush()
    return read(
      `select id, value from ${kind} where target = ? and id >= ? and id < ?`,
      ...[target, prefix, `${prefix}\u{10ffff}`],
    ).map(([id, value]) => [String(id), parsed(value)])
  }
  return {
    ...{ server, organization, owners, get, set, list, flush },
    written: createWritten({ get, set, list }, () => Date.now()),
    /** Forgets what was sent. */
    forget() {
      write((run) => {
        for (const table of [...SENT, 'lines']) run(`delete from ${table} where target = ?`, target)
      })
    },
    /** Writes what changed, unless that was done a moment ago. */
    save() {
      if (performance.now() >= nextSaveMs) flush()
    },
  }
}

export type SyncState = ReturnType<typeof syncState>

function parsed(value: unknown) {
  try {
    return JSON.parse(String(value))
  } catch (error) {
    throw new Damaged(messageOf(error))
  }
}
