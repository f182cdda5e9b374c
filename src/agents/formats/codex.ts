import { unsandboxedMode } from '../transcript/dangerous-calls.ts'
import {
  blockText,
  countOf,
  isObject,
  type Json,
  listOf,
  objectOf,
  parseJson,
  textOf,
  timeOf,
} from '../transcript/json-fields.ts'
import { readJsonLines } from '../transcript/json-lines.ts'
import { noTokens, noteMessage, type SourceFile, transcriptOf } from '../transcript/source-file.ts'
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
import type { MessageTokens, Transcript, Turn } from '../transcript/transcript-model.ts'

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
  /**
   * `YYYY-MM-DDTHH:MM:SS` while the head of a sub-agent's file repeats its parent's events, all in this second; null
   * after.
   */
  replaySecond: string | null
}

interface Totals {
  input: number
  cached: number
  output: number
  reasoning: number
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
    replaySecond: null,
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
  if (state.replaySecond !== null && line.type !== 'session_meta') {
    if (at?.slice(0, 19) === state.replaySecond) {
      if (payload.type === 'token_count')
        state.total = totalsOf(objectOf(payload.info).total_token_usage) ?? state.total
      if (line.type === 'turn_context') state.model = textOf(payload.model) ?? state.model
      return
    }
    state.replaySecond = null
  }
  const { transcript } = state
  noteContext(transcript, at, textOf(payload.cwd))
  switch (line.type) {
    case 'session_meta':
      readMeta(state, payload, at)
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

function readMeta(state: State, payload: Json, at: string | null): void {
  const git = objectOf(payload.git)
  state.transcript.repository ??= textOf(git.repository_url)
  state.transcript.branch ??= textOf(git.branch)
  const source = objectOf(payload.source)
  // `source.subagent.thread_spawn`, in other versions `source.thread_spawn` or `thread_spawn`
  const spawned =
    source.subagent !== undefined || source.thread_spawn !== undefined || payload.thread_spawn !== undefined
  if (spawned || textOf(payload.forked_from_id) !== null) state.replaySecond = at?.slice(0, 19) ?? null
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

function totalsOf(usage: unknown): Totals | null {
  if (!isObject(usage)) return null
  return {
    input: countOf(usage.input_tokens),
    cached: countOf(usage.cached_input_tokens),
    output: countOf(usage.output_tokens),
    reasoning: countOf(usage.reasoning_output_tokens),
  }
}

const totalsKey = (totals: Totals): string => Object.values(totals).join(' ')

function readTokenCount(state: State, info: Json, at: string | null): void {
  const total = totalsOf(info.total_token_usage)
  const last = totalsOf(info.last_token_usage)
  // the second line of a call has another timestamp but the same total
  if (total !== null && state.total !== null && totalsKey(total) === totalsKey(state.total)) return
  const grown = growth(state.total, total) ?? last
  if (grown === null) return
  state.model = textOf(info.model) ?? state.model
  if (total !== null) state.total = total
  endApiCall(state, `${at} ${totalsKey(total ?? grown)}`, at, grown)
}

// The differences of consecutive totals sum up to the agent's total. Null where a total falls: it started again.
function growth(before: Totals | null, now: Totals | null): Totals | null {
  if (now === null) return null
  if (before === null) return now
  const grown = {
    input: now.input - before.input,
    cached: now.cached - before.cached,
    output: now.output - before.output,
    reasoning: now.reasoning - before.reasoning,
  }
  return Object.values(grown).some((count) => count < 0) ? null : grown
}

function endApiCall(state: State, id: string, at: string | null, counted: Totals | null): void {
  const tokens: MessageTokens | null =
    counted === null
      ? null
      : {
          ...noTokens(),
          input: Math.max(0, counted.input - counted.cached),
          output: counted.output,
          cache_read: Math.min(counted.input, counted.cached),
          reasoning: counted.reasoning,
        }
  const message = { id, model: state.model, tokens }
  const turn = noteMessage(state.file, state.transcript, message, state.pendingAt ?? at)
  for (const add of state.pending) add(turn)
  state.pending = []
  state.pendingAt = null
}
