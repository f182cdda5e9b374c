import { unsandboxedMode } from '../transcript/dangerous-calls.ts'
import { blockText, type Json, listOf, objectOf, textOf, timeOf } from '../transcript/json-fields.ts'
import { readJsonLines } from '../transcript/json-lines.ts'
import type { SourceFile } from '../transcript/source-file.ts'
import type { Transcript } from '../transcript/transcript.ts'
import {
  type CodexCalls,
  defer,
  drop,
  endScripts,
  newCodexCalls,
  readCall,
  readItem,
  readOutput,
  settle,
} from './codex-calls.ts'
import { noteTotal, ownStartOf } from './codex-forks.ts'
import { growth, type Totals, tokensOf, totalsKey, totalsOf } from './codex-totals.ts'

// Rollout files of Codex CLI: one `{timestamp, type, payload}` per line. The texts and tool calls of an API call are written
// before its usage: a `token_usage_record`, which comes at once and names the response, or in older versions running totals
// (`token_count`), which come after the outputs of its calls, mostly twice.

/** Texts of a user message that the program wrote. */
const NOT_A_PROMPT =
  /^\s*(?:<(?:environment_context|user_instructions|permissions instructions|turn_aborted|INSTRUCTIONS|skill)|# AGENTS\.md)/

interface State {
  file: SourceFile
  transcript: Transcript
  model: string | null
  total: Totals | null
  calls: CodexCalls
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
  const transcript = file.transcriptOf('codex', sessionId)
  const calls = newCodexCalls(transcript)
  const state: State = {
    file,
    transcript,
    model: null,
    total: null,
    calls,
    itemPrompts: [],
    hasUserMessages: false,
    hasCompactedEvents: false,
    ownStart: await ownStartOf(file, sessionId),
    hasOwnCalls: false,
  }
  let metaSeen = false
  await readJsonLines(file, (value, lineNumber) => {
    if (textOf(value.type) === null) return 'not a rollout line'
    const isMeta = value.type === 'session_meta'
    // a forked session repeats the head of its parent after its own
    if (!isMeta || !metaSeen) readRolloutLine(state, value, objectOf(value.payload), lineNumber)
    metaSeen ||= isMeta
    return undefined
  })
  endScripts(calls)
  if (calls.pendingId !== null) endApiCall(state, calls.pendingId, calls.pendingAt, null)
  if (!state.hasUserMessages)
    for (const { key, at, text } of state.itemPrompts) state.transcript.addPrompt(key, at, text)
}

function readRolloutLine(state: State, line: Json, payload: Json, number: number): void {
  const at = timeOf(line.timestamp)
  const { transcript } = state
  if (number < state.ownStart && line.type !== 'session_meta') {
    const total = payload.type === 'token_count' ? objectOf(payload.info).total_token_usage : undefined
    state.total = totalsOf(total ?? payload.thread_token_usage) ?? state.total
    noteTotalOf(state)
    if (line.type === 'turn_context') state.model = textOf(payload.model) ?? state.model
    return
  }
  transcript.noteContext(at, textOf(payload.cwd))
  switch (line.type) {
    case 'session_meta':
      readMeta(state, payload)
      return
    case 'turn_context':
      state.model = textOf(payload.model) ?? state.model
      transcript.addMode(unsandboxedMode(payload), at)
      return
    case 'response_item':
      readResponseItem(state, payload, at)
      return
    case 'compacted':
      if (!state.hasCompactedEvents) transcript.addEvent('compaction', `${at}`, at)
      return
    case 'event_msg':
      readEvent(state, payload, at)
      return
    case 'token_usage_record':
      readUsageRecord(state, payload, at)
      return
    default:
      return
  }
}

function readMeta(state: State, payload: Json): void {
  const git = objectOf(payload.git)
  state.transcript.repository ??= textOf(git.repository_url)
  state.transcript.noteContext(null, null, textOf(git.branch))
}

function readResponseItem(state: State, payload: Json, at: string | null): void {
  const { transcript, calls } = state
  const id = textOf(payload.call_id) ?? textOf(payload.id) ?? `${at} ${Bun.hash(JSON.stringify(payload))}`
  switch (payload.type) {
    case 'message': {
      const text = blockText(payload.content)
      if (payload.role === 'assistant' && text !== '') {
        if (transcript.isFirst(`${at} ${Bun.hash(text)}`))
          defer(calls, at, id, (turn) => transcript.scanResponse(turn, text))
      } else if (payload.role === 'user' && text !== '' && !NOT_A_PROMPT.test(text)) {
        state.itemPrompts.push({ key: `${at} ${Bun.hash(text)}`, at, text })
      }
      return
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
    case 'web_search_call':
      readCall(calls, id, payload, at)
      return
    case 'function_call_output':
    case 'custom_tool_call_output':
      readOutput(calls, id, payload.output, at)
      return
    default:
      return
  }
}

function readEvent(state: State, payload: Json, at: string | null): void {
  const { transcript } = state
  switch (payload.type) {
    case 'user_message': {
      state.hasUserMessages = true
      const text = textOf(payload.message) ?? ''
      if (text !== '' || listOf(payload.images).length > 0)
        transcript.addPrompt(`${at} ${Bun.hash(text)}`, at, text)
      return
    }
    case 'token_count':
      readTokenCount(state, objectOf(payload.info), at)
      return
    case 'item_completed':
      readItem(state.calls, objectOf(payload.item), at)
      return
    case 'turn_aborted':
      transcript.addEvent('interruption', `${at}`, at)
      return
    case 'context_compacted':
      state.hasCompactedEvents = true
      transcript.addEvent('compaction', `${at}`, at)
      return
    case 'error':
    case 'stream_error':
      transcript.addEvent('api_error', `${at}`, at)
      return
    default:
      return
  }
}

/** The usage of one API call. `thread_token_usage` is the total that the next `token_count` repeats. */
function readUsageRecord(state: State, payload: Json, at: string | null): void {
  const total = totalsOf(payload.thread_token_usage)
  const usage = totalsOf(payload.usage)
  if (total === null || usage === null) return
  const thread = textOf(payload.thread_id) ?? state.transcript.id
  state.total = total
  noteTotalOf(state)
  if (thread !== state.transcript.id) {
    drop(state.calls)
    return
  }
  state.hasOwnCalls = true
  endApiCall(state, textOf(payload.response_id) ?? `${at} ${totalsKey(total)}`, at, usage)
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
  const { calls, transcript } = state
  const message = {
    id: calls.pendingId ?? id,
    model: state.model,
    tokens: counted === null ? null : tokensOf(counted),
  }
  settle(calls, state.file.noteMessage(transcript, message, calls.pendingAt ?? at))
}
