// Reads Qwen Code's `projects/<folder>/chats/<session>.jsonl`, and those of sub-agents in `subagents/<session>/`. An answer of the
// API is written as a `qwen-code.api_response` of `ui_telemetry` with its id, and as a line of the model: in the session's
// file, or in that of the sub-agent, which may be read without it: those are told to be one where all parts are known.
// Calls that nobody sees (titles, memory) have the first only.

import { join } from 'node:path'
import { notesFrom } from '../../../records/call-notes.ts'
import { isTool } from '../../../scoring/tool-names.ts'
import { objectsIn, type Time, textsIn, timeOf } from '../../transcript/contents.ts'
import { countOf, isObject, type Json, objectOf, textOf, valueAt } from '../../transcript/json.ts'
import { readJsonLines } from '../../transcript/json-lines.ts'
import { type SourceFile, tokensOfCall } from '../../transcript/source-file.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import type { MessageTokens, Turn } from '../../transcript/transcript-model.ts'
import { type Format, SESSION_KEYS } from '../format.ts'
import { hasFailed, isPrompt } from '../gemini.ts'

/** Kinds of a user's lines that a person wrote; notifications, goals and timers write others. */
const PERSONS = new Set([undefined, 'mid_turn_user_message', 'realtime_message'])

/** The ids of answers whose other line was not read yet, by their usage. */
type Unpaired = Map<string, string[]>
const newState = () => ({
  answers: new Map() as Unpaired,
  lines: new Map() as Unpaired,
  /** The turn of the last line of the model. */
  turn: null as Turn | null,
})
const states = new WeakMap<Transcript, ReturnType<typeof newState>>()
const stateOf = (transcript: Transcript) => states.getOrInsertComputed(transcript, newState)

/** Reads a file of either kind. `sessionId`: from its lines, or one derived from them. */
async function readQwen(file: SourceFile, sessionId: string): Promise<void> {
  await readJsonLines(file, (value) => {
    const lineSession = textOf(value.sessionId) ?? sessionId
    // a fork begins with a copy of the lines of another session, and names it in each
    const from = textOf(valueAt(value, 'forkedFrom', 'sessionId'))
    if (from !== null) file.transcriptOf(lineSession).isFork = true
    const transcript = file.transcriptOf(from ?? lineSession)
    const key = `qwen ${value.uuid} ${value.timestamp}`
    const isNew = !transcript.isCopied(key) && transcript.isFirst(key)
    return isNew || textOf(value.uuid) === null ? readLine(transcript, value) : undefined
  })
}

function readLine(transcript: Transcript, line: Json): undefined {
  const at = timeOf(line.timestamp)
  const parts = objectsIn(valueAt(line, 'message', 'parts'))
  const id = textOf(line.uuid) ?? `${at} ${Bun.hash(JSON.stringify(line))}`
  transcript.noteContext(at, textOf(line.cwd), textOf(line.gitBranch))
  if (line.type === 'user') {
    const texts = parts.filter(({ text }) => typeof text !== 'string' || isPrompt(text))
    if (line.isSidechain !== true && PERSONS.has(line.subtype as string | undefined) && texts.length > 0)
      transcript.addPrompt(id, at, texts.flatMap(({ text }) => textOf(text) ?? []).join('\n'))
  } else if (line.type === 'assistant') readAnswer(transcript, line, parts, id, at)
  else if (line.type === 'tool_result') {
    for (const { functionResponse } of parts) readResult(transcript, objectOf(functionResponse), line)
  } else if (line.type === 'system') readSystem(transcript, line, id, at)
}

function readSystem(transcript: Transcript, line: Json, id: string, at: Time): void {
  const { version } = line
  const payload = objectOf(line.systemPayload)
  const event = objectOf(payload.uiEvent)
  const name = textOf(event['event.name'])
  if (line.subtype === 'custom_title') transcript.title = textOf(payload.customTitle) ?? transcript.title
  else if (line.subtype === 'chat_compression') transcript.addEvent('compaction', id, at)
  else if (name === 'qwen-code.api_error') transcript.addEvent('api_error', id, at)
  else if (name === 'qwen-code.api_response') {
    const tokens = tokensOf((kind) => event[`${EVENT_COUNTS[kind]}_token_count`])
    const key = tokensKey(tokens)
    const messageId = textOf(event.response_id) ?? id
    const { answers, lines } = stateOf(transcript)
    const line = take(lines, key)
    if (line === undefined) put(answers, key, messageId)
    const request = textOf(event.response_id)
    const notes = notesFrom({ version })
    transcript.addMessage({ id: line ?? messageId, model: textOf(event.model), tokens, request, notes }, at)
  }
}

function readAnswer(transcript: Transcript, line: Json, parts: readonly Json[], id: string, at: Time): void {
  const usage =
    isObject(line.usageMetadata) && Object.keys(line.usageMetadata).length > 0 ? line.usageMetadata : null
  const tokens = usage === null ? null : tokensOf((kind) => usage[`${kind}TokenCount`])
  const state = stateOf(transcript)
  const isSubAgent = textOf(line.agentId) !== null
  const answerId = tokens === null || isSubAgent ? undefined : take(state.answers, tokensKey(tokens))
  if (tokens !== null && answerId === undefined && !isSubAgent) put(state.lines, tokensKey(tokens), id)
  // the calls of a sub-agent's answer may be a line of their own, after that of its usage
  const before = usage === null && isSubAgent ? state.turn : null
  const notes = notesFrom({ version: line.version })
  const message = { id: answerId ?? id, model: textOf(line.model), tokens, notes }
  const turn = before ?? transcript.addMessage(message, at)
  transcript.scanTurn(turn, parts.flatMap(({ text }) => textOf(text) ?? []).join('\n'))
  for (const [index, { functionCall }] of parts.entries()) {
    if (!isObject(functionCall)) continue
    const { id: callId, name, args } = functionCall
    transcript.addCall(turn, textOf(callId) ?? `${id} ${index}`, name, args)
  }
  state.turn = turn
}

function readResult(transcript: Transcript, response: Json, line: Json): void {
  const result = objectOf(line.toolCallResult)
  const id = textOf(response.id) ?? textOf(result.callId)
  if (id === null) return
  const display = objectOf(result.resultDisplay)
  const text = textsIn(response.response)
  const { exitCode } = display
  const failed =
    result.status === 'error' ||
    result.status === 'cancelled' ||
    objectOf(response.response).error !== undefined ||
    (typeof exitCode === 'number' && exitCode !== 0) ||
    (isTool('shell', String(response.name)) && hasFailed(text))
  transcript.addResult(id, !failed, text)
  const changed = display.fileDiff === undefined ? null : textOf(display.filePath)
  if (changed !== null) transcript.noteChangedFiles(id, [changed])
  if (result.status === 'cancelled') transcript.rejected.add(id)
}

/** The counts as an answer's line names them, and as its event does. */
const EVENT_COUNTS = {
  prompt: 'input',
  candidates: 'output',
  cachedContent: 'cached_content',
  total: 'total',
} as const

// OpenAI's output includes reasoning, Gemini's does not: the total tells.
function tokensOf(count: (kind: keyof typeof EVENT_COUNTS) => unknown): MessageTokens {
  const input = countOf(count('prompt'))
  const output = Math.max(countOf(count('candidates')), countOf(count('total')) - input)
  const read = Math.min(input, countOf(count('cachedContent')))
  return tokensOfCall({ input, output, read }, true)
}

const tokensKey = ({ input, output, cache_read }: MessageTokens): string => `${input} ${output} ${cache_read}`

const put = (ids: Unpaired, key: string, id: string) => ids.getOrInsertComputed(key, () => []).push(id)
const take = (ids: Unpaired, key: string): string | undefined => ids.get(key)?.shift()

export const QWEN: Format = {
  name: 'qwen',
  folders: ({ env, home }) => [
    join(env.QWEN_RUNTIME_DIR || env.QWEN_HOME || join(home, '.qwen'), 'projects'),
  ],
  variables: ['QWEN_HOME', 'QWEN_RUNTIME_DIR'],
  detect: {
    line({ message, systemPayload, sessionId, uuid }, type) {
      const hasParts = Array.isArray(objectOf(message).parts) || isObject(systemPayload)
      return type !== null && hasParts && textOf(sessionId) !== null && textOf(uuid) !== null
    },
  },
  read: readQwen,
  keys: SESSION_KEYS,
}
