import { unsandboxedMode } from '../transcript/dangerous-calls.ts'
import {
  blockText,
  isObject,
  type Json,
  listOf,
  objectOf,
  parseJson,
  textOf,
  timeOf,
} from '../transcript/json-fields.ts'
import { readJsonLines } from '../transcript/json-lines.ts'
import { noteMessage, type SourceFile, transcriptOf } from '../transcript/source-file.ts'
import {
  addCall,
  addEvent,
  addMode,
  addPrompt,
  addResult,
  isFirst,
  noteContext,
  scanResponse,
} from '../transcript/transcript.ts'
import type { Transcript, Turn } from '../transcript/transcript-model.ts'
import { noteTotal, ownStartOf } from './codex-forks.ts'
import { growth, type Totals, tokensOf, totalsKey, totalsOf } from './codex-totals.ts'

// Rollout files of Codex CLI: one `{timestamp, type, payload}` per line. Running token totals are written after each API
// call, mostly twice; the texts and tool calls of an API call are written before its totals.

/** Texts of a user message that the program wrote. */
const NOT_A_PROMPT =
  /^\s*(?:<(?:environment_context|user_instructions|permissions instructions|turn_aborted|INSTRUCTIONS|skill)|# AGENTS\.md)/
const EXIT_CODE = /(?:Process exited with code|^Exit code:?) (\d+)/m
/** Characters of an output that are searched for the exit code. */
const EXIT_HEAD = 400

interface State {
  file: SourceFile
  transcript: Transcript
  model: string | null
  total: Totals | null
  /** Adds the texts and tool calls since the last totals to the turn of their API call, once its totals are read. */
  pending: ((turn: Turn) => void)[]
  /** The time of the first of them. */
  pendingAt: string | null
  /** Prompts from response items, used if the file has no `user_message` events. */
  itemPrompts: { key: string; at: string | null; text: string }[]
  hasUserMessages: boolean
  hasCompactedEvents: boolean
  /** The lines before this one are copies of the parent's. */
  ownStart: number
  /** An API call of its own was read. */
  hasOwnCalls: boolean
}

/** Reads one rollout; `sessionId` is the id in its head. */
export async function readCodex(file: SourceFile, sessionId: string): Promise<void> {
  const state: State = {
    file,
    transcript: transcriptOf(file.group, 'codex', sessionId),
    model: null,
    total: null,
    pending: [],
    pendingAt: null,
    itemPrompts: [],
    hasUserMessages: false,
    hasCompactedEvents: false,
    ownStart: await ownStartOf(file, sessionId),
    hasOwnCalls: false,
  }
  let metaSeen = false
  await readJsonLines(file, (value, lineNumber) => {
    if (!isObject(value) || textOf(value.type) === null) return 'not a rollout line'
    const isMeta = value.type === 'session_meta'
    // a forked session repeats the head of its parent after its own
    if (!isMeta || !metaSeen) readRolloutLine(state, value, objectOf(value.payload), lineNumber)
    metaSeen ||= isMeta
    return undefined
  })
  if (state.pending.length > 0) endApiCall(state, `end ${state.pendingAt}`, state.pendingAt, null)
  if (!state.hasUserMessages)
    for (const { key, at, text } of state.itemPrompts) addPrompt(state.transcript, key, at, text)
}

function readRolloutLine(state: State, line: Json, payload: Json, number: number): void {
  const at = timeOf(line.timestamp)
  const { transcript } = state
  if (number < state.ownStart && line.type !== 'session_meta') {
    if (payload.type === 'token_count') {
      state.total = totalsOf(objectOf(payload.info).total_token_usage) ?? state.total
      noteTotalOf(state)
    }
    if (line.type === 'turn_context') state.model = textOf(payload.model) ?? state.model
    return
  }
  noteContext(transcript, at, textOf(payload.cwd))
  switch (line.type) {
    case 'session_meta':
      readMeta(state, payload)
      return
    case 'turn_context':
      state.model = textOf(payload.model) ?? state.model
      addMode(transcript, unsandboxedMode(payload), at)
      return
    case 'response_item':
      readItem(state, payload, at, number)
      return
    case 'compacted':
      if (!state.hasCompactedEvents) addEvent(transcript, 'compaction', `${at}`, at)
      return
    case 'event_msg':
      readEvent(state, payload, at)
      return
    default:
      return
  }
}

function readMeta(state: State, payload: Json): void {
  const git = objectOf(payload.git)
  state.transcript.repository ??= textOf(git.repository_url)
  noteContext(state.transcript, null, null, textOf(git.branch))
}

function readItem(state: State, payload: Json, at: string | null, number: number): void {
  const { transcript } = state
  const id = textOf(payload.call_id) ?? textOf(payload.id) ?? `${at} ${number}`
  switch (payload.type) {
    case 'message': {
      const text = blockText(payload.content)
      if (payload.role === 'assistant' && text !== '') {
        if (isFirst(transcript, `${at} ${Bun.hash(text)}`))
          defer(state, at, (turn) => scanResponse(transcript, turn, text))
      } else if (payload.role === 'user' && text !== '' && !NOT_A_PROMPT.test(text)) {
        state.itemPrompts.push({ key: `${at} ${Bun.hash(text)}`, at, text })
      }
      return
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
    case 'web_search_call': {
      const name = textOf(payload.name) ?? String(payload.type)
      const input = inputOf(payload)
      if (isFirst(transcript, `call ${id}`))
        defer(state, at, (turn) => addCall(transcript, turn, id, name, input))
      if (payload.type === 'web_search_call') addResult(transcript, id, payload.status !== 'failed', '')
      return
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const text = outputText(payload.output)
      addResult(transcript, id, isSuccess(payload.output, text), text)
      return
    }
    default:
      return
  }
}

function defer(state: State, at: string | null, add: (turn: Turn) => void): void {
  state.pending.push(add)
  state.pendingAt ??= at
}

function inputOf(payload: Json): Json {
  if (typeof payload.arguments === 'string')
    return objectOf(parseJson(payload.arguments) ?? { text: payload.arguments })
  if (typeof payload.input === 'string') return { input: payload.input }
  return objectOf(payload.action ?? payload.arguments ?? payload.input)
}

function outputText(output: unknown): string {
  if (typeof output !== 'string') return textOf(objectOf(output).content) ?? blockText(output)
  const parsed = output.startsWith('{') ? parseJson(output) : undefined
  return isObject(parsed) ? (textOf(parsed.output) ?? output) : output
}

// Depends on the version: `success`, `metadata.exit_code` inside JSON, or a phrase in the head of the output.
function isSuccess(output: unknown, text: string): boolean {
  const success = objectOf(output).success
  if (typeof success === 'boolean') return success
  const parsed = typeof output === 'string' && output.startsWith('{') ? parseJson(output) : output
  const exitCode = objectOf(objectOf(parsed).metadata).exit_code
  if (typeof exitCode === 'number') return exitCode === 0
  const head = text.slice(0, EXIT_HEAD)
  const match = EXIT_CODE.exec(head)
  return match === null
    ? !/^(?:apply_patch verification failed|failed to parse|execution error)/i.test(head)
    : match[1] === '0'
}

function readEvent(state: State, payload: Json, at: string | null): void {
  const { transcript } = state
  switch (payload.type) {
    case 'user_message': {
      state.hasUserMessages = true
      const text = textOf(payload.message) ?? ''
      if (text !== '' || listOf(payload.images).length > 0)
        addPrompt(transcript, `${at} ${Bun.hash(text)}`, at, text)
      return
    }
    case 'token_count':
      readTokenCount(state, objectOf(payload.info), at)
      return
    case 'turn_aborted':
      addEvent(transcript, 'interruption', `${at}`, at)
      return
    case 'context_compacted':
      state.hasCompactedEvents = true
      addEvent(transcript, 'compaction', `${at}`, at)
      return
    case 'error':
    case 'stream_error':
      addEvent(transcript, 'api_error', `${at}`, at)
      return
    default:
      return
  }
}

function readTokenCount(state: State, info: Json, at: string | null): void {
  const total = totalsOf(info.total_token_usage)
  const last = totalsOf(info.last_token_usage)
  // the second line of a call has another timestamp but the same total
  if (total !== null && state.total !== null && totalsKey(total) === totalsKey(state.total)) return
  // a fork may begin with the total of its parent, or at 0
  const isFirstOfFork = state.ownStart > 1 && !state.hasOwnCalls
  const grown = (isFirstOfFork ? last : null) ?? growth(state.total, total) ?? last
  if (grown === null) return
  state.hasOwnCalls = true
  state.model = textOf(info.model) ?? state.model
  if (total !== null) state.total = total
  noteTotalOf(state)
  endApiCall(state, `${at} ${totalsKey(total ?? grown)}`, at, grown)
}

function noteTotalOf({ file, transcript, total }: State): void {
  if (total !== null) noteTotal(file.group, transcript.id, total)
}

function endApiCall(state: State, id: string, at: string | null, counted: Totals | null): void {
  const message = { id, model: state.model, tokens: counted === null ? null : tokensOf(counted) }
  const turn = noteMessage(state.file, state.transcript, message, state.pendingAt ?? at)
  for (const add of state.pending) add(turn)
  state.pending = []
  state.pendingAt = null
}
