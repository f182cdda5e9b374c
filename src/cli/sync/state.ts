import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type {
  AttributionMemory,
  StoredCommit,
  StoredRepository,
} from '../../analysis/agents/attribution/attribute.ts'
import { createWritten, type Written } from '../../analysis/agents/attribution/written.ts'
import type { KnownFile } from '../../analysis/agents/known-files.ts'
import { isObject, type Json } from '../../analysis/agents/transcript/json.ts'
import { createLineOwners, type LineOwners } from '../../analysis/agents/transcript/line-owners.ts'
import { readJsonFile } from '../../base/json-file.ts'
import type { SkippedSession } from '../../features/sessions/deleted-queries.ts'
import { writePrivate } from '../client/private-file.ts'
import { idOf } from '../client/state-files.ts'
import { appendPrivate, readLines, readWritten } from './kept-lines.ts'

// The server's answers to all that was sent, in one file for each server and organization. All of it may be
// lost: then everything is sent again, which changes nothing at the server.

/** A file, and what became of its sessions. */
interface StateOfFile extends KnownFile {
  /**
   * The options and version that read it when the server had answered for all of its sessions (and those of the files
   * that share them); null before.
   */
  done: string | null
  /** The version of the readers that read it; absent for the first. */
  readers?: number
  /** The time of the last limit in it that was sent. */
  limited?: string
  /** Ids of the records that were read with it; a session that spans several files is in the last of them. */
  records: string[]
}

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

interface StateOfKey {
  /** Time when the server last accepted it, UTC. */
  at: string
  /** The address of its member, which never changes; null where it has none. */
  member: string | null
}

export interface StateFile {
  version: 1
  server: string
  organization: { id: string; slug: string }
  /** The keys of the organization by id. */
  keys: Record<string, StateOfKey>
  files: Record<string, StateOfFile>
  sessions: Record<string, StateOfSession>
  /** The hash of each commit's record, and whether it was on the default branch, by project and hash of the commit. */
  commits: Record<string, string>
  /** The lines that agents wrote, by project and hash of a commit. */
  attributed: Record<string, StoredCommit>
  /** The state of each repository, by project. */
  repositories: Record<string, StoredRepository>
}

type Kept = 'keys' | 'files' | 'sessions' | 'commits' | 'attributed' | 'repositories'

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
  attributed: {},
  repositories: {},
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
  const state = readJsonFile(path)
  return isState(state) ? { state, stamp } : undefined
}

/** Whether a value has the parts of a state, as far as the program would fail without them. */
function isState(value: unknown): value is StateFile {
  if (!isObject(value) || value.version !== 1 || typeof value.server !== 'string') return false
  const { organization, keys, files, sessions, commits, attributed, repositories } = value
  const isAllOf = (entries: unknown, isEntry: (entry: Json) => boolean) =>
    isObject(entries) && Object.values(entries).every((entry) => isObject(entry) && isEntry(entry))
  const hasTime = ({ at }: Json) => typeof at === 'string'
  return (
    isAllOf({ organization }, ({ id, slug }) => typeof id === 'string' && typeof slug === 'string') &&
    isAllOf(
      files,
      (each) => isObject(each.detected) && Array.isArray(each.ids) && Array.isArray(each.records),
    ) &&
    [keys, sessions].every((entries) => isAllOf(entries, hasTime)) &&
    [commits, attributed, repositories].every(isObject)
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
) {
  const name = idOf(`${server} ${organization.id}`)
  const path = join(folder, `sync-${name}.json`)
  const linesPath = join(folder, `lines-${name}.bin`)
  const writtenPath = join(folder, `written-${name}.ndjson`)
  const found = read ?? readState(path)
  let current = found?.state ?? newState(server, organization)
  let stamp = found?.stamp ?? stampOf(path)
  let changes: { kind: Kept; id: string; value: unknown }[] = []
  let owners: LineOwners | undefined
  let written: Written | undefined
  let nextSaveMs = 0

  const set = <Kind extends Kept>(kind: Kind, id: string, value: StateFile[Kind][string] | undefined) => {
    Object.assign(current[kind], { [id]: value })
    changes.push({ kind, id, value })
  }
  const flush = () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // lines come before the state: a line that is remembered twice is one, a session without its lines would count
    // copies
    appendPrivate(linesPath, owners?.takeAdded())
    appendPrivate(writtenPath, written?.takeAdded())
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
    get known(): Readonly<StateFile> {
      return current
    },
    set,
    /** The lines that agents wrote, read from the disk at the first call. */
    attribution(): AttributionMemory {
      written ??= createWritten(readWritten(writtenPath), () => Date.now())
      return {
        written,
        get commits() {
          return current.attributed
        },
        get repositories() {
          return current.repositories
        },
        setCommit: (key, commit) => set('attributed', key, commit),
        setRepository: (project, repository) => set('repositories', project, repository),
      }
    },
    /** The lines read in earlier runs and this one; read from the disk at the first call. */
    owners(): LineOwners {
      owners ??= createLineOwners(readLines(linesPath))
      return owners
    },
    /** Forgets what was sent. */
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
    /** Writes what changed, unless the last write was so recent that writing would take more than a twentieth of the time. */
    save() {
      if (performance.now() >= nextSaveMs) flush()
    },
    /** Writes what changed. */
    flush,
  }
}

export type SyncState = ReturnType<typeof openState>

/** Identifies a version of a file; empty when there is no file. */
function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.ino} ${stats.mtimeMs} ${stats.size}`
}
