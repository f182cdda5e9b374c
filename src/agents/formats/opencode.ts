import { picoOf } from '../../scoring/prices.ts'
import { countOf, isObject, type Json, listOf, objectOf, textOf, timeOf } from '../session/json.ts'
import { type FileReading, noTokens, noteMessage, noteUnreadable, sessionOf } from '../session/reading.ts'
import { addCall, addEvent, addPrompt, addResult, noteEnvelope } from '../session/session.ts'
import type { MessageTokens, Session } from '../session/session-model.ts'
import { readObjects } from './objects.ts'

// OpenCode's sessions, messages and parts: as exported JSON objects one after another, `opencode export` documents, the
// storage folder, or the database. Parts may stand before or after their message; a share object's secret is never read.

/** Parts waiting for their message, by message id. */
const MAX_WAITING = 200_000

export interface OpencodeState {
  file: FileReading
  /** Sessions by message, for parts that name only their message. */
  sessionOfMessage: Map<string, Session>
  waiting: Map<string, Json[]>
  waitingCount: number
  /** The repository of a project, by its id: sessions may run in copies of it elsewhere. */
  worktrees: Map<string, string>
}

export function newOpencodeState(file: FileReading): OpencodeState {
  return { file, sessionOfMessage: new Map(), waiting: new Map(), waitingCount: 0, worktrees: new Map() }
}

/** Reads a file of objects, however they are divided into lines. */
export async function readOpencode(file: FileReading): Promise<void> {
  const state = newOpencodeState(file)
  const problem = ({ line, reason }: { line: number; reason: string }) => noteUnreadable(file, line, reason)
  for await (const { line, value } of readObjects(file.path, file.onBytes, problem)) {
    // lists are the diffs of a session
    if (isObject(value)) readObject(state, value)
    else if (!Array.isArray(value)) problem({ line, reason: 'not a JSON object' })
    await file.reading.scan.flushIfFull()
  }
}

/** Takes a session, message, part, or an exported document of them; other objects (project, share, diff) say nothing. */
export function readObject(state: OpencodeState, value: Json): void {
  const info = objectOf(value.info)
  if (Array.isArray(value.messages) && textOf(info.id) !== null) {
    readSession(state, info)
    for (const message of value.messages) {
      if (!isObject(message)) continue
      readMessage(state, objectOf(message.info))
      for (const part of listOf(message.parts)) if (isObject(part)) readPart(state, part)
    }
  } else if (textOf(value.messageID) !== null) readPart(state, value)
  else if (textOf(value.sessionID) !== null && textOf(value.role) !== null) readMessage(state, value)
  else if (textOf(value.directory) !== null && textOf(value.id) !== null) readSession(state, value)
  else if (textOf(value.worktree) !== null && value.worktree !== '/')
    state.worktrees.set(textOf(value.id) ?? '', textOf(value.worktree) ?? '')
}

function readSession({ file, worktrees }: OpencodeState, info: Json): void {
  const session = sessionOf(file.reading, 'opencode', textOf(info.id) ?? '')
  session.title ??= textOf(info.title)
  session.repository ??= worktrees.get(textOf(info.projectID) ?? textOf(info.project_id) ?? '') ?? null
  const time = objectOf(info.time)
  noteEnvelope(session, { at: timeOf(time.created), folder: textOf(info.directory) })
  noteEnvelope(session, { at: timeOf(time.updated), folder: null })
}

function readMessage(state: OpencodeState, message: Json): void {
  const id = textOf(message.id)
  const sessionId = textOf(message.sessionID)
  if (id === null || sessionId === null) return
  const session = sessionOf(state.file.reading, 'opencode', sessionId)
  const time = objectOf(message.time)
  const at = timeOf(time.created)
  noteEnvelope(session, { at, folder: textOf(objectOf(message.path).cwd) })
  noteEnvelope(session, { at: timeOf(time.completed), folder: null })
  state.sessionOfMessage.set(id, session)
  if (message.role === 'user') addPrompt(session, id, at, '', state.file.reading.scan)
  else if (message.role === 'assistant') readAnswer(state, session, message, id, at)
  const parts = state.waiting.get(id) ?? []
  state.waiting.delete(id)
  state.waitingCount -= parts.length
  for (const part of parts) readPart(state, part)
}

function readAnswer(
  { file }: OpencodeState,
  session: Session,
  message: Json,
  id: string,
  at: string | null,
): void {
  const model = textOf(message.modelID) ?? textOf(objectOf(message.model).modelID)
  const cost =
    typeof message.cost === 'number' && message.cost > 0 && message.cost < 1e6 ? picoOf(message.cost) : null
  noteMessage(
    file,
    session,
    { id, requestId: null, sidechain: false, model, tokens: tokensOf(message.tokens), cost },
    at,
  )
  const error = textOf(objectOf(message.error).name)
  if (error === 'MessageAbortedError') addEvent(session, 'interruption', id, at)
  else if (error !== null) addEvent(session, 'api_error', id, at)
  if (message.summary === true) addEvent(session, 'compaction', id, at)
}

// input excludes what was cached, output excludes reasoning: the only agent that counts so
function tokensOf(tokens: unknown): MessageTokens | null {
  if (!isObject(tokens)) return null
  const cache = objectOf(tokens.cache)
  const reasoning = countOf(tokens.reasoning)
  return {
    ...noTokens(),
    input: countOf(tokens.input),
    output: countOf(tokens.output) + reasoning,
    cache_read: countOf(cache.read),
    cache_creation: countOf(cache.write),
    reasoning,
  }
}

function readPart(state: OpencodeState, part: Json): void {
  const messageId = textOf(part.messageID)
  if (messageId === null) return
  const session = state.sessionOfMessage.get(messageId)
  if (session === undefined) {
    if (state.waitingCount >= MAX_WAITING) return
    state.waitingCount += 1
    const waiting = state.waiting.get(messageId)
    if (waiting === undefined) state.waiting.set(messageId, [part])
    else waiting.push(part)
    return
  }
  const { scan } = state.file.reading
  const prompt = session.prompts.get(messageId)
  const turn = prompt ?? session.messages.get(messageId)?.[0]?.turn
  const id = textOf(part.id)
  if (turn === undefined || (id !== null && session.seen.has(id))) return
  if (id !== null) session.seen.add(id)
  const text = textOf(part.text)
  if ((part.type === 'text' || part.type === 'reasoning') && text !== null) {
    scan.add(text, {
      session,
      turn,
      call: null,
      where: prompt === undefined ? 'an answer' : 'a prompt',
      outward: false,
    })
  } else if (part.type === 'tool') {
    const call = objectOf(part.state)
    const callId = textOf(part.callID) ?? id ?? messageId
    addCall(
      session,
      turn,
      { id: callId, name: textOf(part.tool) ?? 'unknown', input: objectOf(call.input) },
      scan,
    )
    readToolState(state, session, callId, call)
  } else if (part.type === 'compaction') addEvent(session, 'compaction', id ?? messageId, turn.at, turn)
}

function readToolState({ file }: OpencodeState, session: Session, callId: string, call: Json): void {
  if (call.status !== 'completed' && call.status !== 'error' && call.status !== 'success') return
  const exit = objectOf(call.metadata).exit
  const ok = call.status !== 'error' && (typeof exit !== 'number' || exit === 0)
  const text = textOf(call.output) ?? textOf(call.error) ?? ''
  addResult(session, callId, ok, text, file.reading.scan)
  const rejected = call.status === 'error' && /rejected permission|user rejected/i.test(text)
  if (rejected) addEvent(session, 'rejection', callId, null, session.calls.get(callId)?.turn ?? null)
}
