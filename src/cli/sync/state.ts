import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import type { KnownFile } from '../../agents/known-files.ts'
import { isObject } from '../../agents/transcript/json-fields.ts'
import { createLineOwners, type LineOwners, OWNER_BYTES } from '../../agents/transcript/line-owners.ts'
import type { SkippedSession } from '../../sessions/deleted-queries.ts'
import { writeError, writePrivate } from '../client/private-file.ts'

// What a server said about what it was sent, in one file for each server and organization. All of it may be lost: then
// everything is sent again, which changes nothing at the server.

/** A file, and what became of its sessions. */
export interface StateOfFile extends KnownFile {
  /**
   * How it was read when the server had answered for all of its sessions (and those of the files that share them); null
   * before.
   */
  done: string | null
  /** Ids of the records that were read with it; a session that spans several files is in the last of them. */
  records: string[]
}

export interface StateOfSession {
  /** Of the record's text. */
  hash: string
  /** When the server answered, UTC. */
  at: string
  agent: string
  /** Why the server, or this program, did not accept it; absent when it did. */
  refused?: string
  /** The server's decision where it does not keep this session; absent for any other reason. */
  skipped?: SkippedSession['reason']
}

export interface StateOfKey {
  /** When the server last accepted it, UTC. */
  at: string
  /** The address of its member, which never changes; null where it has none. */
  member: string | null
}

export interface StateFile {
  version: 1
  server: string
  organization: { id: string; slug: string }
  /** By the id of a key of the organization. */
  keys: Record<string, StateOfKey>
  files: Record<string, StateOfFile>
  sessions: Record<string, StateOfSession>
  /** By project and hash of a commit: the hash of its record. */
  commits: Record<string, string>
}

export interface SyncState extends Readonly<Omit<StateFile, 'version'>> {
  setKey(keyId: string, key: StateOfKey): void
  setFile(path: string, file: StateOfFile): void
  setSession(id: string, session: StateOfSession): void
  setCommit(id: string, hash: string): void
  /** The lines read in earlier runs and this one; read from the disk at the first call. */
  owners(): LineOwners
  /** Forgets what was sent. */
  forget(): void
  /** Writes what changed, unless the last write was so recent that writing would take more than a twentieth of the time. */
  save(): void
  /** Writes what changed. */
  flush(): void
}

type Kept = 'keys' | 'files' | 'sessions' | 'commits'

/** Lines remembered, 24 MB: those of some 12 GB of transcripts. Then the older half is forgotten. */
const MAX_LINES = 2_000_000
const STATE_NAME = /^sync-[0-9a-f]{32}\.json$/
const WRITE_SHARE = 20

const newState = (server: string, organization: StateFile['organization']): StateFile => ({
  version: 1,
  server,
  organization,
  keys: {},
  files: {},
  sessions: {},
  commits: {},
})

/** All states in the folder. A file that is damaged is none. */
export const listStates = (folder: string): StateFile[] =>
  stateNames(folder).flatMap((name) => readState(join(folder, name))?.state ?? [])

const stateNames = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => STATE_NAME.test(name)) : []

/** A state as it was read: reading a large one takes long. */
export interface ReadState {
  state: StateFile
  stamp: string
}

function readState(path: string): ReadState | undefined {
  const stamp = stampOf(path)
  try {
    const state: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isState(state) ? { state, stamp } : undefined
  } catch {
    return undefined
  }
}

/** Whether a value has the parts of a state, as far as the program would fail without them. */
function isState(value: unknown): value is StateFile {
  if (!isObject(value) || value.version !== 1 || typeof value.server !== 'string') return false
  const { organization, keys, files, sessions, commits } = value
  const isText = (each: unknown) => typeof each === 'string'
  const isFile = (each: unknown) =>
    isObject(each) && isObject(each.detected) && Array.isArray(each.ids) && Array.isArray(each.records)
  return (
    isObject(organization) &&
    isText(organization.id) &&
    isText(organization.slug) &&
    isObject(keys) &&
    Object.values(keys).every((key) => isObject(key) && isText(key.at)) &&
    isObject(files) &&
    Object.values(files).every(isFile) &&
    isObject(sessions) &&
    Object.values(sessions).every((session) => isObject(session) && isText(session.at)) &&
    isObject(commits)
  )
}

/** The organization and member of a key that this server accepted before, and its state; undefined when it is not known. */
export function findKeyOwner(
  folder: string,
  server: string,
  keyId: string,
): { organization: StateFile['organization']; member: string | null; read: ReadState } | undefined {
  for (const name of stateNames(folder)) {
    const read = readState(join(folder, name))
    const key = read?.state.server === server ? read.state.keys[keyId] : undefined
    if (read !== undefined && key !== undefined)
      return { organization: read.state.organization, member: key.member, read }
  }
  return undefined
}

/**
 * Opens the state for a server (its address without a slash at its end) and an organization. `read`: what `findKeyOwner`
 * read of it.
 */
export function openState(
  folder: string,
  server: string,
  organization: StateFile['organization'],
  read?: ReadState,
): SyncState {
  const name = new Bun.CryptoHasher('sha256')
    .update(`${server} ${organization.id}`)
    .digest('hex')
    .slice(0, 32)
  const path = join(folder, `sync-${name}.json`)
  const linesPath = join(folder, `lines-${name}.bin`)
  const found = read ?? readState(path)
  let current = found?.state ?? newState(server, organization)
  let stamp = found?.stamp ?? stampOf(path)
  let changes: { kind: Kept; id: string; value: unknown }[] = []
  let owners: LineOwners | undefined
  let nextSaveMs = 0

  const set = (kind: Kept, id: string, value: unknown) => {
    Object.assign(current[kind], { [id]: value })
    changes.push({ kind, id, value })
  }
  const appendLines = () => {
    const added = owners?.takeAdded()
    if (added === undefined || added.length === 0) return
    try {
      appendFileSync(linesPath, added, { mode: 0o600 })
    } catch (error) {
      throw writeError(linesPath, error)
    }
  }
  const flush = () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // before the state: a line that is remembered twice is one, a session without its lines would count copies
    appendLines()
    if (changes.length === 0) return
    if (stampOf(path) !== stamp) {
      // another run wrote it meanwhile: its answers stay, ours are newer
      current = readState(path)?.state ?? newState(server, organization)
      for (const { kind, id, value } of changes) Object.assign(current[kind], { [id]: value })
    }
    const startedMs = performance.now()
    writePrivate(path, JSON.stringify(current))
    changes = []
    stamp = stampOf(path)
    nextSaveMs = performance.now() + WRITE_SHARE * (performance.now() - startedMs)
  }
  return {
    server,
    organization,
    get keys() {
      return current.keys
    },
    get files() {
      return current.files
    },
    get sessions() {
      return current.sessions
    },
    get commits() {
      return current.commits
    },
    setKey: (keyId, key) => set('keys', keyId, key),
    setFile: (file, value) => set('files', file, value),
    setSession: (id, value) => set('sessions', id, value),
    setCommit: (id, hash) => set('commits', id, hash),
    owners() {
      owners ??= createLineOwners(readLines(linesPath))
      return owners
    },
    forget() {
      rmSync(path, { force: true })
      rmSync(linesPath, { force: true })
      const { keys } = current
      owners = undefined
      current = newState(server, organization)
      changes = []
      stamp = ''
      for (const [keyId, key] of Object.entries(keys)) set('keys', keyId, key)
    },
    save() {
      if (performance.now() >= nextSaveMs) flush()
    },
    flush,
  }
}

/** What tells one version of a file from another; empty when there is none. */
function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.ino} ${stats.mtimeMs} ${stats.size}`
}

function readLines(path: string): Uint8Array {
  if (!existsSync(path)) return new Uint8Array()
  const bytes = readFileSync(path)
  const torn = bytes.length % OWNER_BYTES
  // the disk was full, or the machine stopped: further lines would be out of step
  if (torn > 0) truncateSync(path, bytes.length - torn)
  if (bytes.length <= MAX_LINES * OWNER_BYTES) return bytes
  const kept = bytes.subarray(bytes.length - (MAX_LINES / 2) * OWNER_BYTES)
  writePrivate(path, kept)
  return kept
}
