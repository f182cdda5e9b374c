import type { CommitAi, CommitRecord } from '../../records/commit.ts'
import { type Attributed, aiOf, type History } from '../git/git.ts'
import { logCommits } from '../git/git-log.ts'
import type { AddedLine, LoggedCommit, LoggedFile } from '../git/parse-log.ts'
import { type EditedCommit, withEdits } from './edited-files.ts'
import { createPool, matchLines, type Pool, type Used } from './match.ts'
import { type NotedLines, notedCommits, noteState, readNotes } from './notes.ts'
import { countIn, rangesOf } from './ranges.ts'
import { addSurvival, type FollowedCommit } from './survival.ts'
import { createWritten, KEPT_MS, type Written } from './written.ts'
import type { WrittenEdit } from './written-edits.ts'

// Finds the lines of commits that agents wrote. docs/outcomes.md has the definitions.

/** A commit with lines that agents wrote, as it is kept while it is needed. */
export interface KeptCommit extends Omit<FollowedCommit, 'sha'> {
  ai: CommitAi
  used: Used
}

/** The state of a project's repository between runs. */
export interface KeptRepository {
  /** The deeds that were added later than this, in ms since 1970, are new. */
  added: number
  notes: string | null
}

/** A memory that ends with the run. */
export function memoryOfRun(now: () => number) {
  const commits: Record<string, KeptCommit | undefined> = {}
  const repositories: Record<string, KeptRepository | undefined> = {}
  return {
    written: createWritten('', now),
    /** The commits by project and hash: see `commitKey`. */
    commits,
    /** The state of each repository, by project. */
    repositories,
    setCommit: (key: string, commit: KeptCommit | undefined) => {
      commits[key] = commit
    },
    setRepository: (project: string, repository: KeptRepository) => {
      repositories[project] = repository
    },
  }
}

export type AttributionMemory = ReturnType<typeof memoryOfRun>

export interface Attribution {
  /** Says what agents wrote of commits: of all that are new and may have their lines, and of known ones of which that changed. */
  attribute(history: History): Promise<Map<string, Attributed>>
  /** The server has answered for a record. */
  accept(record: CommitRecord): void
  /** Keeps what the next run must know, after all records were answered for. */
  finish(): void
}

const DAY_MS = 86_400_000
const WRITTEN_BEFORE_MS = 21 * DAY_MS
const MAX_SESSIONS = 1_000

const commitKey = ({ project, sha }: Pick<CommitRecord, 'project' | 'sha'>): string => `${project} ${sha}`

export function createAttribution(memory: AttributionMemory, now: () => number): Attribution {
  const { written } = memory
  const pending = new Map<string, KeptCommit | undefined>()
  const read = new Map<string, KeptRepository>()
  return {
    async attribute(history) {
      const { root, repository, project, commits, known } = history
      const before = memory.repositories[project]
      const startedMs = now()
      const notes = await noteState(root)
      const noted = notes === null ? new Map<string, string>() : await notedCommits(root, null)
      const renoted =
        notes === (before?.notes ?? null) ? noted : await notedCommits(root, before?.notes ?? null)
      const first = written.firstSince(repository)
      const firstNew = written.firstSince(repository, before?.added ?? 0)
      const isRead = (sha: string, at: number): boolean => {
        const isKnown = known.has(sha)
        const isNoted = isKnown ? notes !== before?.notes && renoted.has(sha) : noted.has(sha)
        return isNoted || isAfter(at, isKnown ? firstNew : first)
      }
      const shas = [...commits].flatMap(([sha, at]) => (isRead(sha, at) ? sha : []))
      const again = new Set(shas)
      const kept = new Map<string, KeptCommit>()
      for (const sha of commits.keys()) {
        const commit = memory.commits[commitKey({ project, sha })]
        if (commit !== undefined && !again.has(sha)) kept.set(sha, commit)
      }
      const pool = createPool([...kept.values()].map(({ used }) => used))
      const found = new Map<string, Attributed>()
      const ofShas = new Map([...noted].filter(([sha]) => again.has(sha)))
      const readable = await readNotes(root, ofShas)
      const wants = (sha: string, file: LoggedFile) =>
        readable.has(sha) || namesOf(file).some((path) => written.has(repository, path))
      const generated = shas.length === 0 ? new Set<string>() : await history.generated()
      const editsOf = ({ sha, authoredMs }: LoggedCommit, file: LoggedFile) => {
        const at = commits.get(sha) ?? 0
        const from = Math.min(at, authoredMs) - WRITTEN_BEFORE_MS
        const keys = new Set(file.lines.map(({ key }) => key))
        const edits = written.editsOf(repository, namesOf(file), keys)
        return edits.filter((edit) => edit.at >= from && isAfter(at, edit.at))
      }
      const log = logCommits(root, shas, { generated, wants })
      const add = (edited: EditedCommit) => {
        const { commit } = edited
        const at = commits.get(commit.sha) ?? 0
        const result = whoWrote(edited, at, written, readable.get(commit.sha))
        const key = commitKey({ project, sha: commit.sha })
        const isEmpty = result.ai.lines === 0 && result.ai.sessions.length === 0
        const last = memory.commits[key]
        pending.set(key, isEmpty ? undefined : { ...result, survival: { ...last?.survival } })
        if (isEmpty && last === undefined && known.has(commit.sha)) return
        found.set(commit.sha, { ai: result.ai })
        const next = pending.get(key)
        if (next !== undefined) kept.set(commit.sha, next)
      }
      // An edit after a commit's author date is an amend's, or after a rebase that of a later commit: it waits for the commits
      // that were authored before this one was committed.
      const waiting = new Set<EditedCommit>()
      const finishUntil = (ms: number) => {
        for (const edited of waiting) {
          if ((commits.get(edited.commit.sha) ?? 0) > ms) continue
          waiting.delete(edited)
          matchFiles(edited, () => true, written, pool)
          add(edited)
        }
      }
      for await (const edited of withEdits(root, log, editsOf)) {
        const { authoredMs } = edited.commit
        finishUntil(authoredMs)
        const isEarly = ({ at }: WrittenEdit) => isAfter(authoredMs, at)
        matchFiles(edited, isEarly, written, pool)
        if (edited.files.every(({ edits }) => edits.every(isEarly))) add(edited)
        else waiting.add(edited)
      }
      finishUntil(Number.POSITIVE_INFINITY)
      const followed = [...commits.keys()].flatMap((sha) => {
        const commit = kept.get(sha)
        return commit === undefined || commit.ai.lines === 0
          ? []
          : { ...commit, survival: { ...commit.survival }, sha }
      })
      const surviving = new Set([...(await addSurvival(root, followed, startedMs))].map(({ sha }) => sha))
      for (const { sha, ...commit } of followed) {
        if (!found.has(sha) && !surviving.has(sha)) continue
        pending.set(commitKey({ project, sha }), commit)
        found.set(sha, { ai: commit.ai, ...survivalOf(commit) })
      }
      read.set(project, { added: startedMs, notes })
      return found
    },
    accept(record) {
      const key = commitKey(record)
      if (pending.has(key)) memory.setCommit(key, pending.get(key))
      pending.delete(key)
    },
    finish() {
      for (const [project, repository] of read) memory.setRepository(project, repository)
      for (const [key, commit] of Object.entries(memory.commits))
        if (commit !== undefined && commit.at < now() - KEPT_MS) memory.setCommit(key, undefined)
    },
  }
}

/** Git's times are whole seconds. */
const isAfter = (at: number, first: number | undefined): boolean => first !== undefined && at + 1_000 > first

const survivalOf = ({ survival }: KeptCommit): Pick<Attributed, 'survival'> => {
  const known = Object.entries(survival).map(
    ([days, lines]) => ({ days: days === '14' ? 14 : 30, lines }) as const,
  )
  return known.length === 0 ? {} : { survival: known }
}

/** The names under which sessions may have edited the file. */
const namesOf = ({ path, previousPath }: LoggedFile): string[] =>
  previousPath === null ? [path] : [path, previousPath]

const makersOf = ({ commit }: EditedCommit, written: Written): Set<string> =>
  new Set(written.makersOf(commit.sha).map(({ session }) => session))

/** Finds lines of a commit in some of the edits of its files. */
function matchFiles(
  edited: EditedCommit,
  isWanted: (edit: WrittenEdit) => boolean,
  written: Written,
  pool: Pool,
): void {
  const makers = makersOf(edited, written)
  const isSure = ({ session }: WrittenEdit) => makers.has(session)
  for (const { file, edits, before, matches } of edited.files) {
    // people and agents alike write a line such as `return null`, and copy or move one that the file has
    const weightOf = ({ key, size }: AddedLine) => (before.has(key) ? 0 : size / written.filesWith(key))
    matchLines(file.lines, edits.filter(isWanted), matches, pool, { isSure, weightOf })
  }
}

/** `at`: when it was committed, in ms since 1970. */
function whoWrote(
  edited: EditedCommit,
  at: number,
  written: Written,
  note: NotedLines[] | undefined,
): Omit<KeptCommit, 'survival'> {
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
  const own = aiOf(commit)
  const best = byNote.total > 0 ? byNote : byContent
  const sessions = [...new Set([...best.sessions, ...makers])].sort().slice(0, MAX_SESSIONS)
  const provenance = byNote.total > 0 ? 'note' : sessions.length > 0 ? 'transcript' : own.provenance
  return {
    at,
    lines: Object.fromEntries([...best.lines].map(([path, numbers]) => [path, rangesOf(numbers)])),
    used,
    ai: {
      ...own,
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
  const numbers = to.lines.get(path) ?? []
  to.lines.set(path, numbers)
  numbers.push(number)
  to.agents.set(by.agent, (to.agents.get(by.agent) ?? 0) + 1)
  to.sessions.add(by.session)
}
