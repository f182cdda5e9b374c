// Reads the files of all agents: groups them by session, and gives the record of each session.

import { stat } from 'node:fs/promises'
import { messageOf } from '../../base/errors.ts'
import { sessionIdOf } from '../../base/ids.ts'
import { cut } from '../../base/text.ts'
import { cleanRecords } from '../detection/record-secrets.ts'
import { isBetterName, mergeFragments } from '../fragments/merge.ts'
import { composeRecord } from '../fragments/session-record.ts'
import { withEstimates } from '../fragments/turn-prices.ts'
import { packFragments, type SessionFragments } from '../records/fragments.ts'
import type { LimitRecord } from '../records/plan.ts'
import type { SessionRecord } from '../records/session.ts'
import type { Pricer } from '../scoring/prices.ts'
import { type MadeCommit, type WrittenEdit, writtenBy } from './attribution/written-edits.ts'
import { discover, type FileMemory, type Source } from './discover.ts'
import { formatAgent } from './format-list.ts'
import { createRepositoryFinder, type FindRepository } from './git/project-name.ts'
import { useDatabase } from './transcript/database.ts'
import { settleTotals } from './transcript/earlier-totals.ts'
import { readHead } from './transcript/file-bytes.ts'
import { fragmentsOf } from './transcript/fragments.ts'
import { createLineOwners, type LineOwners } from './transcript/line-owners.ts'
import { newSecretScan, noScan } from './transcript/secret-scan.ts'
import { type FileGroup, newFileGroup, SourceFile } from './transcript/source-file.ts'
import { agentLimitRecords } from './transcript/stated-limits.ts'
import { type StartedSession, startedSessions } from './transcript/sub-agents.ts'
import type { Transcript } from './transcript/transcript.ts'
import type { Turn } from './transcript/transcript-model.ts'
import { type ProjectFrom, workspaceOf } from './transcript/workspace.ts'

export interface ReadOptions {
  project?: string | undefined
  projectFrom?: ProjectFrom | undefined
  userEmail?: string | undefined
  /** Agents for whose calls a subscription pays where they do not say who does. */
  onPlans?: readonly string[] | undefined
  /** Includes prompts, responses and tool outputs, with secrets masked. */
  content?: boolean | undefined
  pricer: Pricer
  /** Without records only `onWritten` is called: texts are not searched for secrets, which takes a third of the time. */
  withoutRecords?: boolean | undefined
  /** The knowledge of earlier runs about the files. */
  memory?: FileMemory | undefined
  /** The lines of earlier runs. */
  owners?: LineOwners | undefined
  /** Whether a group of files that share sessions is not read. */
  isLeftOut?: ((sources: readonly Source[]) => boolean) | undefined
  /** Called with the edits and commits of a session before its record is returned. */
  onWritten?: ((actions: readonly (WrittenEdit | MadeCommit)[]) => void) | undefined
  /** Bytes read so far, bytes of all files, and the path of the current file. */
  onProgress?: (bytesRead: number, bytesTotal: number, file: string) => void
  /** A file that looks like an agent's but cannot be read, and why. */
  onSkipped?: (path: string, reason: string) => void
  /** A file without sessions. */
  onIgnored?: (path: string) => void
}

/** The content of one file (or OpenCode storage folder). */
export interface SourceResult {
  path: string
  format: string
  /** A session that spans several files is returned once, with the last of them. */
  records: SessionRecord[]
  /** The limits that the files of its sessions state, with the last of them; the earliest first. */
  limits: LimitRecord[]
  unreadable: SourceFile['unreadable']
  /** All unreadable lines; `unreadable` lists the first 10,000. */
  unreadableCount: number
  /** Models in `records` without a known price. */
  unpricedModels: string[]
  /** All files that its records come from; empty unless this is the last of them. */
  sources: readonly Source[]
  /** A file that is read later may change the records. */
  isOpen: boolean
}

/**
 * Reads the sessions of all coding agents below the paths; the content of a file decides its format. Streams:
 * only one group of files that share sessions is in memory at a time, and of it counts, not texts. An
 * unreadable line is listed and skipped. The same files always give the same records. Throws OperatorError
 * for a path that does not exist.
 */
export async function* readSessions(
  paths: readonly string[],
  options: ReadOptions,
): AsyncGenerator<SourceResult> {
  const { groups, ignored, skipped } = await discover(paths, options.memory)
  const skippedPaths = new Set<string>()
  // a file that is found may also be asked for as one beside another
  const onSkipped = (path: string, reason: string) => {
    const { size } = skippedPaths
    if (skippedPaths.add(path).size > size) options.onSkipped?.(path, reason)
  }
  for (const { path, reason } of skipped) onSkipped(path, reason)
  for (const path of ignored) options.onIgnored?.(path)
  const toRead = groups.filter((sources) => options.isLeftOut?.(sources) !== true)
  const total = toRead.flat().reduce((sum, source) => sum + source.bytes, 0)
  const { owners = createLineOwners() } = options
  const run: Run = { ...options, onSkipped, findRepository: createRepositoryFinder(onSkipped) }
  let read = 0
  const readGroup = async (sources: readonly Source[]) => {
    const scan = options.withoutRecords === true ? noScan : newSecretScan(options.content === true)
    const isShared = new Set(sources.flatMap(({ ids }) => ids)).size > 1
    const group = newFileGroup({ owners, scan, sources, isShared, onSkipped })
    const files: { source: Source; file: SourceFile }[] = []
    for (const source of sources) {
      const file = new SourceFile(source.path, formatAgent(source.format), group, (count) => {
        read += count
        options.onProgress?.(Math.min(read, total), total, source.path)
      })
      if (await readSource(source, file)) files.push({ source, file })
    }
    await group.scan.flush()
    return { group, files, isSettled: settleTotals(group) }
  }
  const later: Source[][] = []
  for (const sources of toRead) {
    const { group, files, isSettled } = await readGroup(sources)
    if (isSettled) yield* resultsOf(group, files, run)
    else later.push(sources)
  }
  for (const sources of later) {
    const { group, files, isSettled } = await readGroup(sources)
    yield* resultsOf(group, files, run, !isSettled)
  }
}

/** The options, and what a run looks up once. */
interface Run extends ReadOptions {
  findRepository: FindRepository
}

/** A session with more messages is large: its transcript takes some megabytes. */
const MANY_MESSAGES = 5_000

/** The reason why a file of a known format gives no session: it is empty, or a copy of another file's. */
const NOTHING_OF_ITS_OWN = 'it has no prompts and no messages of its own'

const MAX_NAME = 200

function recordOf({ id, transcripts }: StartedSession, options: Run) {
  const { project, projectFrom, userEmail, content, pricer } = options
  const isNamed = project !== undefined || projectFrom !== undefined
  const all = transcripts.map((transcript) => {
    const workspace = workspaceOf(transcript, options.findRepository, projectFrom)
    return { workspace, parts: fragmentsOf(transcript, { workspace, isNamed, withTitle: content === true }) }
  })
  const named = all.reduce((best, each) =>
    isBetterName(each.parts.project, best.parts.project) ? each : best,
  )
  const merged = all.map((each) => each.parts).reduce(mergeFragments)
  if (options.onPlans?.includes(merged.agent) === true) merged.paid_by ??= 'plan'
  const parts = withEstimates(merged, pricer)
  const head = {
    id: sessionIdOf(id),
    project_name: project ?? cut(named.workspace.project, MAX_NAME),
    ...(userEmail === undefined ? {} : { user_email: userEmail }),
    ...includesOf(id, transcripts),
  }
  const contents = content === true ? contentsOf(transcripts) : undefined
  return { parts, composed: composeRecord(parts, head, { pricer, contents }) }
}

/** The sessions of its sub-agents, as their telemetry names them. */
function includesOf(id: string, transcripts: readonly Transcript[]): { includes?: string[] } {
  const others = new Set(transcripts.map((transcript) => sessionIdOf(transcript.id)))
  others.delete(sessionIdOf(id))
  return others.size === 0 ? {} : { includes: [...others].sort().slice(0, MAX_INCLUDED) }
}

const MAX_INCLUDED = 1_000

/** The records with their parts, without secrets: names of branches, files and tools may contain some too. */
async function cleaned(
  composed: readonly { record: SessionRecord; parts: SessionFragments }[],
): Promise<SessionRecord[]> {
  const clean = await cleanRecords(composed.map(({ record, parts }) => ({ ...record, unpacked: parts })))
  return clean.map(({ record: { unpacked, ...record } }) => {
    const packed = packFragments(unpacked)
    return packed === undefined ? record : { ...record, parts: packed }
  })
}

function contentsOf(transcripts: readonly Transcript[]): Map<string, string> {
  const turns = transcripts.flatMap(({ prompts, messages }) => [...prompts.values(), ...messages.values()])
  return new Map(turns.flatMap((turn) => (turn.content === '' ? [] : [[turn.id, contentOf(turn)]])))
}

const contentOf = ({ content, contentCut }: Turn): string =>
  contentCut > 0 ? `${content}\n[… ${contentCut} characters cut]` : content

async function* resultsOf(
  group: FileGroup,
  files: readonly { source: Source; file: SourceFile }[],
  options: Run,
  isOpen = false,
): AsyncGenerator<SourceResult> {
  const composedRecords: { record: SessionRecord; parts: SessionFragments }[] = []
  const unpriced = new Set<string>()
  const last = files.at(-1)?.file
  const isLarge = [...group.transcripts.values()].some(({ messages }) => messages.size > MANY_MESSAGES)
  // the heap would grow by the garbage of a large session before it is collected
  if (isLarge) Bun.gc(true)
  for (const session of options.withoutRecords === true ? [] : startedSessions(group)) {
    const { parts, composed } = recordOf(session, options)
    if (composed === null && parts.turns.length > 0 && last !== undefined)
      last.noteUnreadable(1, `session ${session.id}: no line says when it was`)
    if (composed === null) continue
    composedRecords.push({ record: composed.record, parts })
    for (const model of composed.unpriced) unpriced.add(model)
  }
  if (options.onWritten !== undefined)
    for (const session of startedSessions(group))
      options.onWritten(writtenBy(session, options.findRepository))
  // the next steps need memory of their own
  group.transcripts.clear()
  if (isLarge) Bun.gc(true)
  const records = await cleaned(composedRecords)
  if (records.length === 0 && files.every(({ file }) => file.unreadableCount === 0))
    for (const { source } of files) options.onSkipped?.(source.path, NOTHING_OF_ITS_OWN)
  const stated = files.flatMap(({ file }) => file.limits.list())
  const limits = agentLimitRecords(stated, last?.agent ?? '', options)
  for (const { source, file } of files) {
    const isLast = file === last
    yield {
      path: source.path,
      format: source.format.name,
      records: isLast ? records : [],
      limits: isLast ? limits : [],
      unreadable: file.unreadable,
      unreadableCount: file.unreadableCount,
      unpricedModels: isLast ? [...unpriced].sort() : [],
      sources: isLast ? files.map(({ source: each }) => each) : [],
      isOpen,
    }
  }
}

/** Prompts, messages and calls of a file of text, four times as many as a record has turns: each takes up to 2 KB. */
const MAX_ITEMS = 200_000

/** Reads a file by its format. False when it contains no sessions after all. */
async function readSource(source: Source, file: SourceFile): Promise<boolean> {
  const { format, layout, path, startedBy } = source
  if (layout !== 'database' && layout !== 'folder') file.group.cursor.left = MAX_ITEMS
  try {
    if (layout === 'database') {
      await useDatabase(path, (database) => format.database?.read(file, database))
      file.onBytes((await stat(path)).size)
    } else if (layout === 'folder') await format.folder?.read(file)
    else if (source.sessionId === null && format.withoutId !== undefined) {
      file.group.onSkipped(path, format.withoutId)
      return false
    } else {
      const sessionId = source.sessionId ?? (await derivedSessionId(path))
      if (startedBy !== null) file.transcriptOf(sessionId).parentId = startedBy
      await format.read?.(file, sessionId, source)
    }
  } catch (error) {
    // the file changed or was removed during the read; the other files are still read
    file.noteUnreadable(1, `reading stopped: ${messageOf(error)}`)
  }
  return true
}

// A session without an id gets a hash of its first line (at most 1 KiB), which stays the same when the file grows or
// is moved.
async function derivedSessionId(path: string): Promise<string> {
  const { head } = await readHead(path, 1024)
  const firstLine = head.toString('utf8').split('\n')[0] ?? ''
  return `unnamed-${new Bun.CryptoHasher('sha256').update(firstLine).digest('hex').slice(0, 24)}`
}
