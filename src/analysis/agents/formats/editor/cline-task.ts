// Reads tasks of Cline, Roo Code and Kilo Code: `ui_messages.json` has what was shown, with the usage of each call of the API;
// the conversation beside it names the model, the folder and the exit codes of commands.

import { dirname, join } from 'node:path'
import { blockText, objectsIn, type Time, timeOf } from '../../transcript/contents.ts'
import { countOf, type Json, listOf, objectOf, parseJson, textOf, valueAt } from '../../transcript/json.ts'
import { jsonAt, readJsonDocument } from '../../transcript/json-lines.ts'
import { noTokens, reportedCost, type SourceFile, tokensBy } from '../../transcript/source-file.ts'
import type { Turn } from '../../transcript/transcript-model.ts'

/** Tools that change a file, as they are shown. */
const EDITS = new Set([
  'editedExistingFile',
  'newFileCreated',
  'appliedDiff',
  'insertContent',
  'searchAndReplace',
  'fileDeleted',
])

type State = ReturnType<typeof newTask>

export async function readClineTask(file: SourceFile, sessionId: string): Promise<void> {
  let state: State | undefined
  const messagesOf = (document: unknown) => {
    if (!Array.isArray(document)) return 'not a JSON array'
    const messages = objectsIn(document).filter(({ partial }) => partial !== true)
    state = newTask(file, sessionId, messages)
    return messages
  }
  await readJsonDocument(file, messagesOf, (message) => state && readMessage(state, message))
  if (state !== undefined) endCall(state)
}

function newTask(file: SourceFile, sessionId: string, messages: readonly Json[]) {
  const transcript = file.transcriptOf(sessionId)
  const beside = (name: string) => jsonAt(join(dirname(file.path), name), file.group.onSkipped)
  const conversation = listOf(beside('api_conversation_history.json')).flatMap(textsOf)
  const item = objectOf(beside('history_item.json'))
  transcript.noteContext(
    null,
    textOf(item.workspace) ?? match(conversation, /# Current (?:Workspace|Working) Directory \(([^)]+)\)/),
  )
  const modelName = match(conversation, /<model>([^<]{1,200})<\/model>/)
  const uses = objectsIn(valueAt(beside('task_metadata.json'), 'model_usage'))
  const isInclusive = file.agent !== 'cline' && !messages.some(hasMoreCache)
  return {
    file,
    transcript,
    /** The model that a call at this time was of. */
    modelAt: (ms: number) =>
      textOf(uses.findLast(({ ts }) => typeof ts === 'number' && ts <= ms)?.model_id) ?? modelName,
    /** Exit codes of the commands in their order, undefined where the conversation has none. */
    exits: conversation.flatMap(exitsIn),
    tokensOf: tokensBy('tokensIn tokensOut cacheReads cacheWrites', isInclusive),
    turn: null as Turn | null,
    /** The id of the last call of a model. */
    callId: 'api',
    /** The last call of a tool: what follows is of it. */
    call: null as { id: string; exit: number | undefined; isCommand: boolean; output: string } | null,
    hasPrompt: false,
  }
}

/** The texts of a message, and those of the results of tools in it. */
function textsOf(message: unknown): string[] {
  const { content } = objectOf(message)
  const results = objectsIn(content).filter(({ type }) => type === 'tool_result')
  return [blockText(content), ...results.map((result) => blockText(result.content))]
}

const match = (texts: readonly string[], pattern: RegExp): string | null => {
  for (const text of texts) {
    const group = pattern.exec(text)?.[1]
    if (group !== undefined) return group
  }
  return null
}

/** Characters of a result before the output of its command. */
const RESULT_HEAD = 500

/** The exit codes of the commands whose results a text has; undefined for one of which it has none. */
const exitsIn = (text: string): (number | undefined)[] =>
  [...text.matchAll(/^Command (?:executed|is still running)/gm)].map(({ index }) => {
    const head = text.slice(index, index + RESULT_HEAD).split('\nOutput:')[0] ?? ''
    const code = /Exit code: (-?\d+)/.exec(head)?.[1]
    return code === undefined ? undefined : Number(code)
  })

/** Messages whose text has usage: of a call that begins, which older versions tell at its end; of others, added up. */
const USAGE = ['api_req_started', 'api_req_finished', 'subagent_usage', 'deleted_api_reqs']

const usageOf = (message: Json): Json =>
  USAGE.includes(textOf(message.say) ?? '') ? objectOf(parseJson(textOf(message.text) ?? '')) : {}

/** More of the cache than of input: the input cannot include it. */
function hasMoreCache(message: Json): boolean {
  const { tokensIn, cacheReads, cacheWrites } = usageOf(message)
  return countOf(cacheReads) + countOf(cacheWrites) > countOf(tokensIn)
}

function readMessage(state: State, message: Json): undefined {
  const { transcript } = state
  const kind = textOf(message.type === 'ask' ? message.ask : message.say)
  const at = timeOf(message.ts)
  const id = `${message.ts} ${kind}`
  const text = textOf(message.text) ?? ''
  transcript.noteContext(at)
  if (kind !== null && USAGE.includes(kind)) readCall(state, message, kind, at)
  else if (kind === 'task' || kind === 'user_feedback' || (kind === 'text' && !state.hasPrompt)) {
    if (kind === 'user_feedback') endCall(state)
    state.hasPrompt = true
    transcript.addPrompt(id, at, text)
  } else if (kind === 'text' || kind === 'reasoning' || kind === 'completion_result') {
    if (state.turn !== null) transcript.scanTurn(state.turn, text)
  } else if (kind === 'tool' || kind === 'command' || kind === 'use_mcp_server')
    addShown(state, kind, id, text)
  else if (kind === 'command_output' && state.call !== null) state.call.output += `${text}\n`
  else if ((kind === 'diff_error' || kind === 'error') && state.call !== null && !state.call.isCommand) {
    transcript.addResult(state.call.id, false, text)
    state.call = null
  } else if (kind === 'condense_context' || kind === 'sliding_window_truncation') {
    transcript.addEvent('compaction', id, at)
    // Roo Code and Kilo Code add it, without its tokens
    const cost = reportedCost(valueAt(message, 'contextCondense', 'cost'))
    if (cost !== null) transcript.addMessage({ id, model: null, tokens: noTokens(), cost }, at)
  } else if (kind === 'api_req_failed' || kind === 'api_req_retry_delayed')
    transcript.addEvent('api_error', id, at)
}

function readCall(state: State, message: Json, kind: string, at: Time): void {
  const { file, transcript } = state
  const usage = usageOf(message)
  if (kind === 'api_req_started') {
    endCall(state)
    state.callId = `api ${message.ts}`
  }
  const id = kind.startsWith('api_') ? state.callId : `${kind} ${message.ts}`
  const modelName = textOf(valueAt(message, 'modelInfo', 'modelId')) ?? state.modelAt(Number(message.ts))
  const model = modelName ?? state.turn?.message?.model ?? null
  // a call that was not answered has no counts
  const hasCounts = usage.tokensIn !== undefined || usage.tokensOut !== undefined
  const tokens = hasCounts ? state.tokensOf(usage) : null
  // the session of this id may have the call too
  const request = kind.startsWith('api_') && file.agent === 'cline' ? `${transcript.id} ${id}` : null
  const turn = transcript.addMessage({ id, model, tokens, cost: reportedCost(usage.cost), request }, at)
  if (kind === 'api_req_started') state.turn = turn
  if (usage.cancelReason === 'user_cancelled') transcript.addEvent('interruption', id, at)
  if (usage.cancelReason === 'streaming_failed') transcript.addEvent('api_error', id, at)
}

/** A tool or command that is shown; what asks for a permission may be shown again when it is given. */
function addShown(state: State, kind: string, id: string, text: string): void {
  const { transcript, turn } = state
  if (turn === null) return
  endCall(state)
  const shown = objectOf(kind === 'command' ? { command: text.replace(/REQ_APP$/, '') } : parseJson(text))
  const name = kind === 'command' ? 'execute_command' : (textOf(shown.tool) ?? textOf(shown.toolName) ?? kind)
  const path = EDITS.has(name) ? textOf(shown.path) : null
  transcript.addCall(turn, id, name, shown, path === null ? [] : [path])
  const isCommand = kind === 'command'
  state.call = { id, exit: isCommand ? state.exits.shift() : undefined, isCommand, output: '' }
}

/** A call is done when something follows it; without an exit code nothing says how a command ended. */
function endCall(state: State): void {
  const { call, transcript } = state
  state.call = null
  if (call === null) return
  if (!call.isCommand) transcript.addResult(call.id, true, '')
  else if (call.exit !== undefined) transcript.addResult(call.id, call.exit === 0, call.output)
  else if (state.turn !== null) transcript.scanTurn(state.turn, call.output)
}
