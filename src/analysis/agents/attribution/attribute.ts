// Says of each commit which of its lines agents wrote, for `sync`, and what of them survives. docs/outcomes.md has the definitions.

import { DAY_MS } from '../../../base/dates.ts'
import type { CommitAi, CommitRecord } from '../../records/commit.ts'
import { type Attributed, type Attributing, aiOf, type History, type ReadCommit } from '../git/commits.ts'
import { branchHeads } from '../git/default-branch.ts'
import type { AddedLine, LoggedCommit, LoggedFile } from '../git/parse-log.ts'
import { openBlobs } from '../git/read-blobs.ts'
import { type EditedCommit, withEdits } from './edited-files.ts'
import { type NotedLines, notedCommits, noteState, readNotes } from './git-ai-notes.ts'
import { countIn, rangesOf } from './line-ranges.ts'
import { createPool, matchLines, type Pool, type Used } from './match.ts'
import { countsOf, createSurvival, type FollowedCommit, survivalOf } from './survival.ts'
import type { WrittenEdit } from './written-edits.ts'
import { createWritten, type Written } from './written-store.ts'

/** A commit with lines that agents wrote, as it is kept while it is needed. */
export interface StoredCommit extends Omit<FollowedCommit, 'sha' | 'counted'> {
  /** 0.2.0 kept none. */
  counted?: FollowedCommit['counted']
  ai: CommitAi
  used: Used
}

/** The state of a project's repository between runs. */
export interface StoredRepository {
  /** The edits that were added later than this, in ms since 1970, are new. */
  added: number
  notes: string | null
  /** The last commit of its default branch; 0.2.0 kept none. */
  tip?: string | null
}

interface StoredKinds {
  /** The commits by project and hash: see `commitKey`. */
  attributed: StoredCommit
  /** The state of each repository, by project. */
  repositories: StoredRepository
}

export interface AttributionMemory {
  written: Written
  get<Kind extends keyof StoredKinds>(kind: Kind, id: string): StoredKinds[Kind] | undefined
  set<Kind extends keyof StoredKinds>(kind: Kind, id: string, value: StoredKinds[Kind] | undefined): void
}

/** A memory that ends with the run. */
export function memoryOfRun(now: () => number): AttributionMemory {
  const stores = { attributed: new Map(), repositories: new Map() }
  return {
    written: createWritten({ get: () => undefined, set() {}, list: () => [] }, now),
    get: (kind, id) => stores[kind].get(id),
    set: (kind, id, value) => stores[kind].set(id, value),
  }
}

export interface Attribution {
  /** Says what agents wrote of commits: of all that are new and may have their lines, and of known ones of which that changed. */
  attribute(history: History): Promise<Attributing>
  /** The server has answered for a record. */
  accept(record: CommitRecord): void
  /** Keeps what the next run must know, after all records were answered for. */
  finish(): void
}

const WRITTEN_BEFORE_MS = 21 * DAY_MS
const MAX_SESSIONS = 1_000

const commitKey = ({ project, sha }: Pick<CommitRecord, 'project' | 'sha'>): string => `${project} ${sha}`

export function createAttribution(memory: AttributionMemory, now: () => number): Attribution {
  const { written } = memory
  const pending = new Map<string, StoredCommit | undefined>()
  const read = new Map<string, StoredRepository>()
  return {
    async attribute(history) {
      const { git, repository, project, commits, known } = history
      const before = memory.get('repositories', project)
      written.load()
      const startedMs = now()
      const notes = await noteState(git)
      const noted = notes === null ? new Map<string, string>() : await notedCommits(git, null)
      const renoted =
        notes === (before?.notes ?? null) ? noted : await notedCommits(git, before?.notes ?? null)
      const first = written.firstSince(repository)
      const firstNew = written.firstSince(repository, before?.added ?? 0)
      const isRead = (sha: string, at: number): boolean => {
        const isKnown = known.has(sha)
        const isNoted = isKnown ? notes !== before?.notes && renoted.has(sha) : noted.has(sha)
        return isNoted || isAfter(at, isKnown ? firstNew : first)
      }
      const shas = [...commits].flatMap(([sha, at]) => (isRead(sha, at) ? sha : []))
      const again = new Set(shas)
      const storedCommits = [...commits.keys()].flatMap((sha) => {
        const commit = again.has(sha) ? undefined : memory.get('attributed', commitKey({ project, sha }))
        return commit === undefined ? [] : { ...commit, ...countsOf(commit), sha }
      })
      const pool = createPool(storedCommits.map(({ used }) => used))
      const blobs = openBlobs(git)
      const { main: tip } = await branchHeads(git)
      const survive = createSurvival({
        ...{ git, blobs, shas: [...again, ...storedCommits.map(({ sha }) => sha)] },
        ...{ tip, lastTip: before?.tip ?? null, now: startedMs },
      })
      const surviving = new Map<string, Attributed>()
      for (const { sha, ...commit } of storedCommits) {
        const sent = survivalOf(commit)
        if (commit.ai.lines === 0 || !(await survive({ ...commit, sha }))) continue
        const key = commitKey({ project, sha })
        const counted = survivalOf(commit)
        if (Bun.deepEquals(counted, sent)) {
          memory.set('attributed', key, commit)
          continue
        }
        pending.set(key, commit)
        surviving.set(sha, { ai: commit.ai, ...counted })
      }
      const readable = await readNotes(blobs, new Map([...noted].filter(([sha]) => again.has(sha))))
      blobs.close()
      const isInTime = ({ sha, authoredMs }: LoggedCommit) => {
        const at = commits.get(sha) ?? 0
        const from = Math.min(at, authoredMs) - WRITTEN_BEFORE_MS
        return (edit: WrittenEdit) => edit.at >= from && isAfter(at, edit.at)
      }
      const editsOf = (commit: LoggedCommit, file: LoggedFile) => {
        const keys = new Set(file.lines.map(({ key }) => key))
        return written.editsOf(repository, pathsOf(file), keys, isInTime(commit))
      }
      const add = async (read: ReadCommit, edited: EditedCommit) => {
        const { sha } = edited.commit
        const at = commits.get(sha) ?? 0
        const result = whoWrote(edited, at, written, readable.get(sha))
        const key = commitKey({ project, sha })
        const isEmpty = result.ai.lines === 0 && result.ai.sessions.length === 0
        const last = memory.get('attributed', key)
        // the counts are of the lines that it had
        const isSame = last !== undefined && Bun.deepEquals(last.lines, result.lines)
        const next = { ...result, ...(isSame ? countsOf(last) : { survival: {}, counted: {} }) }
        pending.set(key, isEmpty ? undefined : next)
        if (isEmpty && last === undefined && known.has(sha)) return
        if (result.ai.lines > 0) await survive({ ...next, sha })
        read.attributed = { ai: result.ai, ...(result.ai.lines > 0 ? survivalOf(next) : {}) }
      }
      // An edit after a commit's author date is an amend's, or after a rebase that of a later commit: it waits for the commits
      // that were authored before this one was committed.
      const waiting = new Map<ReadCommit, EditedCommit>()
      const finishUntil = async (ms: number) => {
        for (const [read, edited] of waiting) {
          if ((commits.get(edited.commit.sha) ?? 0) > ms) continue
          waiting.delete(read)
          await matchFiles(edited, () => true, written, pool)
          await add(read, edited)
        }
      }
      const addTo = async (read: ReadCommit) => {
        const { commit } = read
        read.attributed = surviving.get(commit.sha)
        if (commit.kind === 'unreadable' || !commit.hasLines || !again.has(commit.sha)) return
        const { authoredMs } = commit
        await finishUntil(authoredMs)
        const edited = withEdits(blobs, commit, (file) => editsOf(commit, file))
        const isEarly = ({ at }: WrittenEdit) => isAfter(authoredMs, at)
        await matchFiles(edited, isEarly, written, pool)
        if (edited.files.every(({ edits }) => edits.every(isEarly))) await add(read, edited)
        else waiting.set(read, edited)
      }
      return {
        needs: (sha) => again.has(sha) || surviving.has(sha),
        wants: (commit, file) =>
          again.has(commit.sha) &&
          (readable.has(commit.sha) ||
            pathsOf(file).some((path) => written.has(repository, path, isInTime(commit)))),
        async *read(log) {
          /** Commits that wait, and those after them: they keep their order. */
          const open: ReadCommit[] = []
          try {
            for await (const commit of log) {
              const read = { commit, attributed: undefined }
              open.push(read)
              await addTo(read)
              const first = open.findIndex((each) => waiting.has(each))
              yield* open.splice(0, first === -1 ? open.length : first)
            }
            await finishUntil(Number.POSITIVE_INFINITY)
            yield* open
            // the next run reads again what git was stopped at
            read.set(project, { added: startedMs, notes, tip })
          } finally {
            blobs.close()
          }
        },
      }
    },
    accept(record) {
      const key = commitKey(record)
      if (pending.has(key)) memory.set('attributed', key, pending.get(key))
      pending.delete(key)
    },
    finish() {
      for (const [project, repository] of read) memory.set('repositories', project, repository)
    },
  }
}

/** Git's times are whole seconds. */
const isAfter = (at: number, first: number | undefined): boolean => first !== undefined && at + 1_000 > first

/** The names under which sessions may have edited the file. */
const pathsOf = ({ path, previousPath }: LoggedFile): string[] =>
  previousPath === null ? [path] : [path, previousPath]

const makersOf = ({ commit }: EditedCommit, written: Written): Set<string> =>
  new Set(written.makersOf(commit.sha).map(({ session }) => session))

/** Finds lines of a commit in some of the edits of its files. */
async function matchFiles(
  edited: EditedCommit,
  isWanted: (edit: WrittenEdit) => boolean,
  written: Written,
  pool: Pool,
): Promise<void> {
  const makers = makersOf(edited, written)
  const isSure = ({ session }: WrittenEdit) => makers.has(session)
  for (const { file, edits, before, matches } of edited.files) {
    const agentEdits = edits.filter(isWanted)
    // people and agents alike write a line such as `return null`, and copy or move one that the file has
    const weightOf = ({ key, size }: AddedLine) => size / written.filesWith(key)
    if (agentEdits.length > 0)
      await matchLines(file.lines, agentEdits, matches, pool, { isSure, weightOf, before })
  }
}

/** `at`: when it was committed, in ms since 1970. */
function whoWrote(
  edited: EditedCommit,
  at: number,
  written: Written,
  note: NotedLines[] | undefined,
): Omit<StoredCommit, 'survival' | 'counted'> {
  const { commit, files } = edited
  const makers = makersOf(edited, written)
  const used: Used = {}
  const byContent = newCount()
  const byNote = newCount()
  for (const { file, matches } of files) {
    for (const [index, { number }] of file.lines.entries()) {
      const match = matches[index]
      if (match !== undefined) {
        const lines = used[match.edit.id] ?? []
        used[match.edit.id] = lines
        lines.push(match.line)
        count(byContent, file.path, number, match.edit)
      }
      const noted = note?.find(
        ({ path, ranges }) => path === file.path && countIn(ranges, number, number) > 0,
      )
      if (noted !== undefined) count(byNote, file.path, number, noted)
    }
  }
  const byTrailers = aiOf(commit)
  const best = byNote.total > 0 ? byNote : byContent
  const sessions = [...new Set([...best.sessions, ...makers])].sort().slice(0, MAX_SESSIONS)
  const provenance = byNote.total > 0 ? 'note' : sessions.length > 0 ? 'transcript' : byTrailers.provenance
  return {
    at,
    lines: Object.fromEntries([...best.lines].map(([path, numbers]) => [path, rangesOf(numbers)])),
    used,
    ai: {
      ...byTrailers,
      lines: best.total,
      by_agent: Object.fromEntries([...best.agents].sort(([a], [b]) => (a < b ? -1 : 1))),
      provenance,
      sessions,
    },
  }
}

interface Count {
  total: number
  lines: Map<string, number[]>
  agents: Map<string, number>
  sessions: Set<string>
}

const newCount = (): Count => ({ total: 0, lines: new Map(), agents: new Map(), sessions: new Set() })

function count(to: Count, path: string, number: number, by: { agent: string; session: string }): void {
  to.total += 1
  to.lines.getOrInsertComputed(path, () => []).push(number)
  to.agents.set(by.agent, (to.agents.get(by.agent) ?? 0) + 1)
  to.sessions.add(by.session)
}
