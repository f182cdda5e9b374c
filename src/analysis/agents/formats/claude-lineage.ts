// Tells which session a line of Claude Code's files is of. The file of a fork begins with copies of its parent's lines, which have the
// fork's session id. From 2.1.328 on those of the model name the session that asked for them (`requestSessionId`). After
// `/branch` and `forkSession` of the SDK each names its parent's (`forkedFrom`); the SDK gives the lines new ids, and the last
// one the time of the fork. Other copies name nothing, but are older than the process that began the file.

import { timeOf } from '../transcript/contents.ts'
import { type Json, textOf, valueAt } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source-file.ts'
import type { Transcript } from '../transcript/transcript.ts'

export type Context = Parameters<Transcript['noteContext']>

/** `read` reads a line for its session. */
export const newLineage = (
  file: SourceFile,
  sessionId: string,
  sessionFromFolder: boolean,
  read: (owner: string, line: Json, number: number) => string | undefined,
) => ({
  file,
  sessionId,
  /** All lines belong to `sessionId`: see `Source` in discover.ts. */
  sessionFromFolder,
  read,
  /** Lines whose session the next message of the model tells. */
  waiting: [] as { line: Json; number: number }[],
  /** The session of the last message of the model; null for one that nothing names, undefined before the first message. */
  owner: undefined as string | null | undefined,
  /** The start of the process that began the file: before its first message it notes what it was given. */
  beganAt: null as string | null,
  /** The id of its first prompt, which is noted some milliseconds after its time. */
  firstPrompt: null as string | null,
  /** A line of its own was read. */
  hasOwn: false,
  /** The time of the last copy: of the SDK's it is that of the fork. */
  held: null as { transcript: Transcript; context: Context } | null,
})

/** A file while it is read. */
export type Lineage = ReturnType<typeof newLineage>

const parentOf = (line: Json): string | null => textOf(valueAt(line, 'forkedFrom', 'sessionId'))

/** Notes what the process that began the file wrote before its first message. */
export function noteBeginning(state: Lineage, line: Json): void {
  if (state.owner !== undefined) return
  if (line.type === 'queue-operation') state.beganAt ??= timeOf(line.timestamp)
  if (line.type !== 'file-history-snapshot' || state.beganAt !== null) return
  state.beganAt = timeOf(valueAt(line, 'snapshot', 'timestamp'))
  state.firstPrompt = textOf(line.messageId)
}

function isOlder(state: Lineage, line: Json): boolean {
  const at = timeOf(line.timestamp)
  state.hasOwn ||= state.firstPrompt !== null && line.uuid === state.firstPrompt
  return !state.hasOwn && state.beganAt !== null && at !== null && at < state.beganAt
}

/** Totals of a fork go on from its parent's; those after `/branch` and of the SDK's forks begin at 0. */
export function noteFork({ file, sessionId }: Lineage, transcript: Transcript): void {
  if (transcript.id === sessionId) file.transcriptOf(sessionId).isFork = true
}

/** The session that asked for a message of the model; null for one that nothing names. Reads the lines that wait for it. */
export function takeOwner(state: Lineage, line: Json): string | null {
  const owner = ownerOf(state, line)
  takeWaiting(state, owner)
  state.owner = owner
  state.hasOwn ||= owner === state.sessionId
  return owner
}

function ownerOf(state: Lineage, line: Json): string | null {
  const { file, sessionId } = state
  if (state.sessionFromFolder) return sessionId
  const { askedBy } = file.group
  const message = `${textOf(valueAt(line, 'message', 'id'))} ${textOf(line.requestId)} ${textOf(line.timestamp)}`
  const [requester, parent] = [textOf(line.requestSessionId), parentOf(line)]
  const isCopy = requester === null && parent === null && isOlder(state, line)
  // the parent may have copied it too, and be read before
  const owner =
    requester ?? (parent === null ? null : (askedBy.get(message) ?? parent)) ?? (isCopy ? null : sessionId)
  if (owner !== sessionId && parent === null) file.transcriptOf(sessionId).isFork = true
  if (owner !== null && file.group.isShared) askedBy.set(message, owner)
  return owner
}

/**
 * Reads the lines that wait, which are those of `next`. Copies before the first message of the file's session are those of
 * the message before; at the end of a file nothing tells yet whose such lines are.
 */
export function takeWaiting(state: Lineage, next: string | null, isEnd = false): void {
  const { owner, sessionId } = state
  const isAfterCopy = owner !== undefined && owner !== sessionId
  for (const { line, number } of state.waiting) {
    const parent = parentOf(line)
    const isOld = isOlder(state, line)
    if (parent === null && isEnd && (isAfterCopy ? state.beganAt === null : owner === undefined && isOld))
      continue
    const isLast = next === sessionId && (parent !== null || isOld)
    const session = isLast && isAfterCopy ? owner : isLast && parent !== null ? parent : next
    const read = session === null ? null : asCopied(state, line, session)
    if (session !== null && read !== null) state.read(session, read, number)
  }
  state.waiting = []
}

/** The line with the id that it has in its own session; null where that is not known. */
export function asCopied({ file }: Lineage, line: Json, owner: string): Json | null {
  const parent = parentOf(line)
  if (parent === null) return line
  const { origins } = file.group
  const copied = textOf(valueAt(line, 'forkedFrom', 'messageUuid'))
  const uuid = copied === null ? undefined : (origins.get(copied) ?? (owner === parent ? copied : undefined))
  if (uuid === undefined) return null
  const own = textOf(line.uuid)
  if (own !== null && own !== uuid) origins.set(own, uuid)
  return { ...line, uuid }
}

/** Notes the time of the copy before this one: that of the last one, and of copies of copies, may not be its own. */
export function holdTime(state: Lineage, line: Json, transcript: Transcript, context: Context): void {
  if (state.held !== null) state.held.transcript.noteContext(...state.held.context)
  state.held =
    parentOf(line) === transcript.id || transcript.firstAt === null ? { transcript, context } : null
}

/** Notes the time of the last copy where its session has none. */
export function takeTime({ held }: Lineage): void {
  if (held !== null && held.transcript.firstAt === null) held.transcript.noteContext(...held.context)
}
