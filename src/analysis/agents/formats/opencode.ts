// Reads OpenCode's sessions, messages and parts: from a sequence of JSON objects, from documents of `opencode export`, from the
// storage folder, or from the database. A part may come before its message. The secret of a share object is never read.

import { notesFrom, vendorNotes } from '../../records/call-notes.ts'
import { isTool } from '../../scoring/tool-names.ts'
import { objectsIn, type Time, timeOf } from '../transcript/contents.ts'
import { countOf, isObject, type Json, listOf, objectOf, textOf, valueAt } from '../transcript/json.ts'
import {
  addTokens,
  noTokens,
  reportedCost,
  type SourceFile,
  tokensOfCall,
} from '../transcript/source-file.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { MessageTokens } from '../transcript/transcript-model.ts'
import { addedKeys } from '../transcript/written-lines.ts'
import { readObjects } from './json-objects.ts'

/** Parts that came before their message. */
const MAX_WAITING = 200_000

export const newOpencodeState = (file: SourceFile) => ({
  file,
  /** The time of creation by session id. */
  createdAt: new Map<string, string>(),
  /** The transcript by message id: parts contain only the id of their message. Null for a copy. */
  transcriptOfMessage: new Map<string, Transcript | null>(),
  callIds: new Map<string, string[]>(),
  /** Parts that came before their message, by message id. */
  waiting: new Map<string, Json[]>(),
  waitingCount: 0,
  /** The repository's folder by project id: a session may run in another git worktree of it. */
  worktrees: new Map<string, string>(),
  /** The messages of users, by id: one of which a person wrote no part is no prompt. */
  users: new Map<string, { at: Time; isPerson: boolean }>(),
  steps: new Map<string, MessageTokens>(),
  /** Messages that a fork copied, by session and id. */
  copies: new Map<string, Map<string, Json>>(),
})

export type OpencodeState = ReturnType<typeof newOpencodeState>

/** Reads a file of JSON objects over any number of lines. */
export async function readOpencode(file: SourceFile): Promise<void> {
  const state = newOpencodeState(file)
  const problem = (line: number, reason: string) => file.noteUnreadable(line, reason)
  for await (const value of readObjects(file.path, file.onBytes, problem)) {
    // arrays contain the diffs of a session
    if (isObject(value)) readObject(state, value)
    await file.group.scan.flushIfFull()
  }
}

/** Reads a session, message, part, project, or an exported document of these; ignores other objects (share, diff). */
export function readObject(state: OpencodeState, value: Json): void {
  const info = objectOf(value.info)
  if (Array.isArray(value.messages) && textOf(info.id) !== null) {
    readSession(state, info)
    for (const message of objectsIn(value.messages)) {
      readMessage(state, objectOf(message.info))
      for (const part of objectsIn(message.parts)) readPart(state, part)
    }
  } else if (textOf(value.messageID) !== null) readPart(state, value)
  else if (textOf(value.sessionID) !== null && textOf(value.role) !== null) readMessage(state, value)
  else if (textOf(value.directory) !== null && textOf(value.id) !== null) readSession(state, value)
  else if (textOf(value.worktree) !== null && value.worktree !== '/')
    state.worktrees.set(textOf(value.id) ?? '', textOf(value.worktree) ?? '')
}

function readSession({ file, createdAt, worktrees }: OpencodeState, info: Json): void {
  const transcript = file.transcriptOf(textOf(info.id) ?? '')
  transcript.parentId ??= textOf(info.parentID) ?? textOf(info.parent_id)
  transcript.title ??= textOf(info.title)
  Object.assign(transcript.notes, notesFrom({ version: info.version }))
  transcript.repository ??= worktrees.get(textOf(info.projectID) ?? textOf(info.project_id) ?? '') ?? null
  const time = objectOf(info.time)
  const created = timeOf(time.created)
  if (created !== null) createdAt.set(transcript.id, created)
  transcript.noteContext(created, textOf(info.directory))
  transcript.noteContext(timeOf(time.updated))
}

function readMessage(state: OpencodeState, message: Json): void {
  const id = textOf(message.id)
  const sessionId = textOf(message.sessionID)
  if (id === null || sessionId === null) return
  const transcript = state.file.transcriptOf(sessionId)
  const time = objectOf(message.time)
  const at = timeOf(time.created)
  // a fork begins with copies of its parent's messages, under new ids and with their old times
  const isCopy = message.isCopy === true || (at !== null && at < (state.createdAt.get(sessionId) ?? ''))
  state.transcriptOfMessage.set(id, isCopy ? null : transcript)
  if (isCopy && message.role === 'assistant')
    state.copies.getOrInsertComputed(sessionId, () => new Map()).set(id, message)
  if (!isCopy) {
    transcript.noteContext(at, textOf(valueAt(message, 'path', 'cwd')))
    transcript.noteContext(timeOf(time.completed))
    if (message.role === 'user') {
      state.users.set(id, { at, isPerson: false })
      transcript.addPrompt(id, at, '')
    } else if (message.role === 'assistant') readAssistantMessage(transcript, message, id, at)
    else if (message.role === 'compaction') transcript.addEvent('compaction', id, at)
  }
  const parts = state.waiting.get(id) ?? []
  state.waiting.delete(id)
  state.waitingCount -= parts.length
  for (const part of parts) readPart(state, part)
}

function readAssistantMessage(transcript: Transcript, message: Json, id: string, at: Time): void {
  const model = textOf(message.modelID) ?? textOf(valueAt(message, 'model', 'modelID'))
  const tokens = opencodeTokens(message.tokens)
  const provider = textOf(message.providerID) ?? valueAt(message, 'model', 'providerID')
  const subagent = transcript.parentId === null ? null : message.agent
  const notes = notesFrom({ subagent, ...vendorNotes(provider) })
  transcript.addMessage({ id, model, tokens, cost: reportedCost(message.cost), notes }, at)
  const error = textOf(valueAt(message, 'error', 'name'))
  if (error === 'MessageAbortedError') transcript.addEvent('interruption', id, at)
  else if (error !== null) transcript.addEvent('api_error', id, at)
  if (message.summary === true) transcript.addEvent('compaction', textOf(message.parentID) ?? id, at)
}

// unlike other agents, `input` excludes cached tokens and `output` excludes `reasoning`
export function opencodeTokens(tokens: unknown): MessageTokens | null {
  if (!isObject(tokens)) return null
  const { read, write: written } = objectOf(tokens.cache)
  const { input, reasoning } = tokens
  const output = countOf(tokens.output) + countOf(reasoning)
  return tokensOfCall({ input, output, read, written }, false)
}

function readPart(state: OpencodeState, part: Json): void {
  const messageId = textOf(part.messageID)
  if (messageId === null) return
  const transcript = state.transcriptOfMessage.get(messageId)
  if (transcript === undefined) {
    if (state.waitingCount >= MAX_WAITING) return
    state.waitingCount += 1
    state.waiting.getOrInsertComputed(messageId, () => []).push(part)
    return
  }
  if (transcript === null) return
  noteWriter(state, transcript, messageId, part)
  const prompt = transcript.prompts.get(messageId)
  const turn = prompt ?? transcript.messages.get(messageId)
  const id = textOf(part.id)
  if (turn === undefined || (id !== null && !transcript.isFirst(id))) return
  const text = textOf(part.text)
  if ((part.type === 'text' || part.type === 'reasoning') && text !== null) transcript.scanTurn(turn, text)
  else if (part.type === 'tool') {
    const call = objectOf(part.state)
    const callId = textOf(part.callID) ?? id ?? messageId
    transcript.addCall(turn, callId, part.tool, call.input)
    state.callIds.getOrInsertComputed(messageId, () => []).push(callId)
    readToolState(transcript, callId, call, part.tool === 'invalid')
  } else if (part.type === 'patch') {
    notePatch(transcript, state.callIds.get(messageId) ?? [], listOf(part.files))
  } else if (part.type === 'step-finish') readStep(state, transcript, messageId, part)
}

/** A request to compact, and texts that the program adds, are no prompts. */
function noteWriter({ users }: OpencodeState, transcript: Transcript, messageId: string, part: Json): void {
  const user = users.get(messageId)
  if (user === undefined) return
  user.isPerson ||= part.type !== 'compaction' && part.synthetic !== true
  if (user.isPerson) transcript.addPrompt(messageId, user.at, '')
  else transcript.prompts.delete(messageId)
}

/** A message with several steps has the tokens of the last one only; their costs are added up. */
function readStep({ steps }: OpencodeState, transcript: Transcript, id: string, part: Json): void {
  const tokens = opencodeTokens(part.tokens)
  if (tokens === null) return
  const sum = addTokens(steps.getOrInsertComputed(id, noTokens), tokens)
  transcript.addMessage({ id, model: null, tokens: { ...sum } }, null)
}

/** `isInvalid`: the model called no tool that there is, which OpenCode answers as a completed call. */
function readToolState(transcript: Transcript, callId: string, call: Json, isInvalid: boolean): void {
  if (call.status !== 'completed' && call.status !== 'error' && call.status !== 'success') return
  const metadata = objectOf(call.metadata)
  const { exit } = metadata
  const ok = !isInvalid && call.status !== 'error' && (typeof exit !== 'number' || exit === 0)
  const text = textOf(call.output) ?? textOf(call.error) ?? ''
  transcript.addResult(callId, ok, text)
  transcript.noteChangedFiles(callId, changedFiles(metadata))
  const diff = textOf(metadata.diff) ?? textOf(valueAt(listOf(metadata.files)[0], 'patch'))
  if (diff !== null && transcript.calls.get(callId)?.effects.edits.length === 1)
    transcript.noteWritten(callId, addedKeys(diff), null)
  if (call.status === 'error' && /rejected permission|user rejected/i.test(text))
    transcript.rejected.add(callId)
}

/** The files that a tool changed: `filediff` of one edit, `results` of several, `files` of a patch, `filepath` of a new text. */
function changedFiles(metadata: Json): string[] {
  const edits = [metadata, ...listOf(metadata.results).map(objectOf)].map((edit) =>
    valueAt(edit, 'filediff', 'file'),
  )
  const patched = listOf(metadata.files)
    .map(objectOf)
    .flatMap(({ file, filePath, movePath }) => [file, filePath, movePath])
  const written = metadata.exists === undefined ? [] : [metadata.filepath]
  return [...new Set([...edits, ...patched, ...written].flatMap((path) => textOf(path) ?? []))]
}

// A patch part lists the files that changed while the tools of a message ran: one that no tool names was changed by a
// command.
function notePatch(transcript: Transcript, callIds: readonly string[], files: unknown[]): void {
  const { calls, results } = transcript
  const called = callIds.flatMap((id) => calls.get(id) ?? [])
  const editPaths = called.flatMap(({ effects }) => effects.edits)
  const isNamed = (file: string) =>
    editPaths.some((edit) => file === edit || file.endsWith(`/${edit}`) || edit.endsWith(`/${file}`))
  const others = files.flatMap((file) => textOf(file) ?? []).filter((file) => !isNamed(file))
  const id = callIds.findLast((each) => results.get(each)?.ok && isTool('shell', calls.get(each)?.name ?? ''))
  const edits = calls.get(id ?? '')?.effects.edits ?? []
  if (others.length > 0) transcript.noteChangedFiles(id, [...edits, ...others])
}
