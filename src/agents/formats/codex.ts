import { blockText } from '../session/commands.ts'
import { sandboxDanger } from '../session/dangers.ts'
import { countOf, isObject, type Json, listOf, objectOf, parseJson, textOf, timeOf } from '../session/json.ts'
import { parseLine, readLines } from '../session/json-lines.ts'
import { type FileReading, noTokens, noteMessage, noteUnreadable, sessionOf } from '../session/reading.ts'
import { addCall, addEvent, addMode, addPrompt, addResult, noteEnvelope } from '../session/session.ts'
import type { MessageTokens, Session, Turn } from '../session/session-model.ts'

// Codex CLI rollouts: `{timestamp, type, payload}` a line. Tokens come as running totals after each API call, written
// twice; the tools and texts of a call stand before its totals.

/** Texts in a user message that the program wrote. */
const NOT_A_PROMPT =
  /^\s*(?:<(?:environment_context|user_instructions|permissions instructions|turn_aborted|INSTRUCTIONS|skill)|# AGENTS\.md)/
const EXIT_CODE = /(?:Process exited with code|^Exit code:?) (\d+)/m
/** Output carries its exit code in its head. */
const EXIT_HEAD = 400

interface State {
  file: FileReading
  session: Session
  model: string | null
  total: Totals | null
  /** What happened since the last totals: it belongs to the call they end. */
  pending: ((turn: Turn) => void)[]
  pendingAt: string | null
  /** Prompts as response items; kept only if the file has no `user_message` events. */
  itemPrompts: { key: string; at: string | null; text: string }[]
  hasUserMessages: boolean
  hasCompactedEvents: boolean
  calls: number
  /** The second in which a sub-agent's file repeats its parent's events; null outside. */
  replaySecond: string | null
}

interface Totals {
  input: number
  cached: number
  output: number
  reasoning: number
}

/** Reads one rollout; `sessionId` is the id in its head. */
export async function readCodex(file: FileReading, sessionId: string): Promise<void> {
  const state: State = {
    file,
    session: sessionOf(file.reading, 'codex', sessionId),
    model: null,
    total: null,
    pending: [],
    pendingAt: null,
    itemPrompts: [],
    hasUserMessages: false,
    hasCompactedEvents: false,
    calls: 0,
    replaySecond: null,
  }
  let metaSeen = false
  for await (const line of readLines(file.path, file.onBytes)) {
    const parsed = parseLine(line)
    const value = 'value' in parsed ? parsed.value : undefined
    if ('reason' in parsed) noteUnreadable(file, line.number, parsed.reason)
    else if (!isObject(value) || textOf(value.type) === null)
      noteUnreadable(file, line.number, 'not a rollout line')
    else if (value.type === 'session_meta' && metaSeen) continue
    else {
      metaSeen ||= value.type === 'session_meta'
      readRolloutLine(state, value, objectOf(value.payload), line.number)
    }
    await file.reading.scan.flushIfFull()
  }
  if (state.pending.length > 0) endCall(state, `end ${state.pendingAt}`, state.pendingAt, null)
  if (!state.hasUserMessages)
    for (const { key, at, text } of state.itemPrompts)
      addPrompt(state.session, key, at, text, file.reading.scan)
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
  const { session } = state
  noteEnvelope(session, { at, folder: textOf(payload.cwd) })
  switch (line.type) {
    case 'session_meta':
      readMeta(state, payload, at)
      return
    case 'turn_context':
      state.model = textOf(payload.model) ?? state.model
      addMode(session, sandboxDanger(payload), at)
      return
    case 'response_item':
      readItem(state, payload, at, number)
      return
    case 'compacted':
      if (!state.hasCompactedEvents) addEvent(session, 'compaction', `${at}`, at)
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
  state.session.repository ??= textOf(git.repository_url)
  state.session.branch ??= textOf(git.branch)
  const source = objectOf(payload.source)
  // {"source":{"subagent":{"thread_spawn":…}}}, in other versions straight in the head
  const spawned =
    source.subagent !== undefined || source.thread_spawn !== undefined || payload.thread_spawn !== undefined
  if (spawned || textOf(payload.forked_from_id) !== null) state.replaySecond = at?.slice(0, 19) ?? null
}

function readItem(state: State, payload: Json, at: string | null, number: number): void {
  const { session, file } = state
  const { scan } = file.reading
  const id = textOf(payload.call_id) ?? textOf(payload.id) ?? `${at} ${number}`
  switch (payload.type) {
    case 'message': {
      const text = blockText(payload.content)
      if (payload.role === 'assistant' && text !== '') {
        if (isNew(session, `${at} ${Bun.hash(text)}`))
          later(state, at, (turn) =>
            scan.add(text, { session, turn, call: null, where: 'an answer', outward: false }),
          )
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
      if (isNew(session, `call ${id}`))
        later(state, at, (turn) => addCall(session, turn, { id, name, input }, scan))
      if (payload.type === 'web_search_call') addResult(session, id, payload.status !== 'failed', '', scan)
      return
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const text = outputText(payload.output)
      addResult(session, id, isSuccess(payload.output, text), text, scan)
      return
    }
    default:
      return
  }
}

function isNew(session: Session, key: string): boolean {
  if (session.seen.has(key)) return false
  session.seen.add(key)
  return true
}

function later(state: State, at: string | null, add: (turn: Turn) => void): void {
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

// A failure is told by `success`, by `metadata.exit_code` inside JSON, or by words in the head of the output.
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
  const { session, file } = state
  switch (payload.type) {
    case 'user_message': {
      state.hasUserMessages = true
      const text = textOf(payload.message) ?? ''
      if (text !== '' || listOf(payload.images).length > 0)
        addPrompt(session, `${at} ${Bun.hash(text)}`, at, text, file.reading.scan)
      return
    }
    case 'token_count':
      readTokenCount(state, objectOf(payload.info), at)
      return
    case 'turn_aborted':
      addEvent(session, 'interruption', `${at}`, at)
      return
    case 'context_compacted':
      state.hasCompactedEvents = true
      addEvent(session, 'compaction', `${at}`, at)
      return
    case 'error':
    case 'stream_error':
      addEvent(session, 'api_error', `${at}`, at)
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
  // written twice per call, the second time with another timestamp but the same total
  if (total !== null && state.total !== null && totalsKey(total) === totalsKey(state.total)) return
  const grown = growth(state.total, total) ?? last
  if (grown === null) return
  state.model = textOf(info.model) ?? state.model
  if (total !== null) state.total = total
  endCall(state, `${at} ${totalsKey(total ?? grown)}`, at, grown)
}

// The difference of two totals sums up to the agent's own; where a total falls, its last call is all that is known.
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

function endCall(state: State, id: string, at: string | null, counted: Totals | null): void {
  state.calls += 1
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
  const message = { id, requestId: null, sidechain: false, model: state.model, tokens, cost: null }
  const turn = noteMessage(state.file, state.session, message, state.pendingAt ?? at)
  for (const add of state.pending) add(turn)
  state.pending = []
  state.pendingAt = null
}
