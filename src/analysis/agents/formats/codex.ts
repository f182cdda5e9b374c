// Reads rollout files of Codex CLI: one `{timestamp, type, payload}` per line. The texts and tool calls of an API call are written
// before its usage: a `token_usage_record`, which comes at once and names the response, or in older versions running totals
// (`token_count`), which come after the outputs of its calls, mostly twice. A thread whose history was reverted goes on in a
// second file, which names the first (`history_base`).

import { notesFrom, vendorNotes } from '../../records/call-notes.ts'
import type { CallNotes } from '../../records/session.ts'
import { tierOf } from '../../scoring/price-tiers.ts'
import { blockText, objectsIn, type Time, timeOf } from '../transcript/contents.ts'
import { unsandboxedMode } from '../transcript/dangerous-calls.ts'
import { isObject, type Json, listOf, objectOf, textOf, valueAt } from '../transcript/json.ts'
import { readJsonLines } from '../transcript/json-lines.ts'
import type { SourceFile } from '../transcript/source-file.ts'
import type { StatedLimit } from '../transcript/stated-limits.ts'
import type { Transcript } from '../transcript/transcript.ts'
import {
  defer,
  drop,
  endScripts,
  isFirstInFile,
  newCodexCalls,
  readCall,
  readItem,
  readOutput,
  settle,
} from './codex-calls.ts'
import { noteThreadTotal, ownStartOf, turnIdOf } from './codex-forks.ts'
import {
  type Counter,
  codexTokens,
  noteRecorded,
  type Totals,
  totalsKey,
  totalsOf,
  usageIn,
} from './codex-totals.ts'
import { noteExceeded, noteLimits } from './limits/codex.ts'

/** Texts of a user message that the program wrote. */
const NOT_A_PROMPT = new RegExp(
  `^\\s*(?:# AGENTS\\.md|Warning: (?:The maximum number of unified exec|apply_patch was requested via|Your account was flagged)|<(?:${[
    'environment_context|user_instructions|permissions instructions|turn_aborted|INSTRUCTIONS|skill|skills_instructions',
    'EXTERNAL SESSION IMPORTED|subagent_notification|hook_prompt|codex_internal_context|user_shell_command|goal_context',
    'recommended_plugins|plugins_instructions|apps_instructions|app-context|collaboration_mode|model_switch|personality_spec',
    'multi_agent_mode|agent_message_board_notification|token_budget|realtime_conversation|external_\\w+',
  ].join('|')})[\\s>])`,
)
/** Ids of turns that Codex copied from another agent's session. */
const IMPORTED = /^external-import-turn-/

const newState = (file: SourceFile, transcript: Transcript, ownStart: number) => ({
  file,
  transcript,
  model: null as string | null,
  /** The tier of the service, which the thread keeps until it is changed. */
  tier: null as string | null,
  /** Version of the program, vendor and effort of the next calls. */
  notes: {} as CallNotes,
  /** The model and notes of the answer that waits for its usage, where another turn has begun meanwhile. */
  pendingModel: null as string | null,
  pendingNotes: null as CallNotes | null,
  counter: { total: null, recorded: [] } as Counter,
  calls: newCodexCalls(transcript),
  /** Prompts from response items, by number of the line: used if the file has no prompts of their own, which come next. */
  itemPrompts: [] as { key: string; at: Time; text: string; number: number }[],
  /** The number of the last line. */
  lines: 0,
  /** The source of prompts: `user_message` events, or completed items, which count alone where there are any. */
  promptsFrom: null as 'events' | 'items' | null,
  /** The texts of events in this turn, whose items may follow. */
  eventTexts: new Set<string>(),
  /** A compaction was read, and its event not yet. */
  isCompacted: false,
  /** The lines before this one are copies of the parent's. */
  ownStart,
  /** The thread began in another file. */
  isContinued: ownStart > 1,
  /** The first total of a file that continues a thread, until it is known whether it only repeats the thread's last one. */
  held: null as (() => void) | null,
  /** Ids of the responses whose usage was recorded. */
  responses: new Set<string>(),
  isImported: false,
  /** The windows that were stated last. */
  limits: [] as StatedLimit[],
})

type State = ReturnType<typeof newState>

export async function readCodex(file: SourceFile, sessionId: string): Promise<void> {
  const transcript = file.transcriptOf(sessionId)
  const state = newState(file, transcript, await ownStartOf(file, sessionId))
  const { calls } = state
  let metaSeen = false
  await readJsonLines(file, (value, lineNumber) => {
    if (textOf(value.type) === null) return 'not a rollout line'
    state.lines = lineNumber
    const isMeta = value.type === 'session_meta'
    // a forked session repeats the head of its parent after its own
    if (!isMeta || !metaSeen) readRolloutLine(state, value, objectOf(value.payload), lineNumber)
    metaSeen ||= isMeta
    return undefined
  })
  endScripts(calls)
  countHeld(state)
  if (calls.pendingId !== null) endApiCall(state, calls.pendingId, calls.pendingAt, null)
  if (state.promptsFrom !== null) return
  for (const { key, at, text, number } of state.itemPrompts)
    if (number < state.lines) state.transcript.addPrompt(key, at, text)
}

function readRolloutLine(state: State, line: Json, payload: Json, number: number): void {
  const at = timeOf(line.timestamp)
  const { transcript } = state
  if (payload.type === 'thread_settings_applied') {
    const settings = objectOf(payload.thread_settings)
    state.tier = tierOf(settings.service_tier)
    state.notes = { ...state.notes, ...vendorNotes(settings.model_provider_id) }
  }
  if (number < state.ownStart && line.type !== 'session_meta') {
    noteTotalOf(state, totalsOf(valueAt(payload, 'info', 'total_token_usage')))
    if (line.type === 'turn_context') readContext(state, payload)
    return
  }
  const turn = turnIdOf(line, payload)
  if (turn !== null) {
    state.isImported = IMPORTED.test(turn)
    state.eventTexts.clear()
  }
  if (state.isImported) return
  transcript.noteContext(at, textOf(payload.cwd))
  const { type } = line
  if (type === 'session_meta') readMeta(state, payload)
  else if (type === 'turn_context') {
    if (state.calls.pendingId !== null) {
      state.pendingModel ??= state.model
      state.pendingNotes ??= state.notes
    }
    readContext(state, payload)
    transcript.addMode(unsandboxedMode(payload), at)
  } else if (type === 'response_item') readResponseItem(state, payload, at)
  else if (type === 'compacted') {
    state.isCompacted = true
    transcript.addEvent('compaction', `${at}`, at)
  } else if (type === 'event_msg') readEvent(state, payload, at)
  else if (type === 'token_usage_record') readUsageRecord(state, payload, at)
}

/** A turn without an effort has that of its model. */
function readContext(state: State, payload: Json): void {
  const { effort: _before, ...notes } = state.notes
  state.model = textOf(payload.model) ?? state.model
  state.notes = { ...notes, ...notesFrom({ effort: payload.effort }) }
}

function readMeta(state: State, payload: Json): void {
  const git = objectOf(payload.git)
  const subagent = valueAt(payload, 'source', 'subagent', 'thread_spawn', 'agent_role')
  const version = payload.cli_version
  state.notes = notesFrom({ version, subagent, ...vendorNotes(payload.model_provider) })
  state.isContinued ||= isObject(payload.history_base)
  state.transcript.repository ??= textOf(git.repository_url)
  state.transcript.noteContext(null, null, textOf(git.branch))
}

function readResponseItem(state: State, payload: Json, at: Time): void {
  const { transcript, calls } = state
  const id = textOf(payload.call_id) ?? textOf(payload.id) ?? `${at} ${Bun.hash(JSON.stringify(payload))}`
  const type = String(payload.type)
  if (type === 'message') {
    const text = blockText(payload.content)
    const key = `${at} ${Bun.hash(text)}`
    if (payload.role === 'assistant' && text !== '' && isFirstInFile(calls, key))
      defer(calls, at, id, (turn) => {
        if (transcript.isFirst(key)) transcript.scanTurn(turn, text)
      })
    else if (payload.role === 'user') {
      const prompt = blockText(listOf(payload.content).filter((part) => isPrompt(blockText([part]))))
      const more = { key: `${at} ${Bun.hash(prompt)}`, at, text: prompt, number: state.lines }
      if (prompt !== '') state.itemPrompts.push(more)
    }
  } else if (CALLS.has(type)) readCall(calls, id, payload, at)
  else if (type === 'function_call_output' || type === 'custom_tool_call_output')
    readOutput(calls, id, payload.output, at)
}

const CALLS = new Set(['function_call', 'custom_tool_call', 'local_shell_call', 'web_search_call'])

function readEvent(state: State, payload: Json, at: Time): void {
  const { transcript } = state
  const { type } = payload
  const item = type === 'item_completed' ? objectOf(payload.item) : {}
  if (type === 'user_message' && state.promptsFrom !== 'items') {
    state.promptsFrom = 'events'
    const text = textOf(payload.message) ?? ''
    state.eventTexts.add(text)
    readPrompt(state, text, payload.images, at)
  } else if (item.type === 'UserMessage') {
    state.promptsFrom = 'items'
    const text = blockText(item.content)
    const pictures = objectsIn(item.content).filter((part) => part.type !== 'text')
    if (!state.eventTexts.delete(text)) readPrompt(state, text, pictures, at)
  } else if (type === 'token_count') {
    // an API key has none
    if (textOf(valueAt(payload, 'rate_limits', 'plan_type')) !== null) transcript.notes.paid_by = 'plan'
    if (at !== null) state.limits = noteLimits(state.file.limits, objectOf(payload.rate_limits), at)
    readTokenCount(state, objectOf(payload.info), at)
  } else if (type === 'item_completed') readItem(state.calls, item, at)
  else if (type === 'turn_aborted') transcript.addEvent('interruption', `${at}`, at)
  else if (type === 'context_compacted') {
    // newer versions write a line of its own before
    if (!state.isCompacted) transcript.addEvent('compaction', `${at}`, at)
    state.isCompacted = false
  } else if (type === 'error' || type === 'stream_error') transcript.addEvent('api_error', `${at}`, at)
  const refused = payload.codex_error_info ?? valueAt(payload, 'error', 'codex_error_info')
  if (at !== null && refused === 'usage_limit_exceeded') noteExceeded(state.file.limits, state.limits, at)
}

const isPrompt = (text: string): boolean => text !== '' && !NOT_A_PROMPT.test(text)

/** Adds a prompt: a text that a person wrote, or `more` without a text. */
function readPrompt({ transcript }: State, text: string, more: unknown, at: Time): void {
  if (text === '' ? listOf(more).length > 0 : isPrompt(text))
    transcript.addPrompt(`${at} ${Bun.hash(text)}`, at, text)
}

function readUsageRecord(state: State, payload: Json, at: Time): void {
  const usage = totalsOf(payload.usage)
  if (usage === null) return
  if ((textOf(payload.thread_id) ?? state.transcript.id) !== state.transcript.id) {
    drop(state.calls)
    return
  }
  const response = textOf(payload.response_id) ?? `${at} ${totalsKey(usage)}`
  const { size } = state.responses
  if (state.responses.add(response).size === size) return
  state.held = null
  noteRecorded(state.counter, usage)
  endApiCall(state, response, at, usage)
}

function readTokenCount(state: State, info: Json, at: Time): void {
  const { counter, calls } = state
  const total = totalsOf(info.total_token_usage)
  const last = totalsOf(info.last_token_usage)
  const isContinued = state.isContinued && counter.total === null
  const usage = usageIn(counter, { total, last, isContinued })
  noteTotalOf(state, total)
  if (usage === null) return
  countHeld(state)
  const modelName = textOf(info.model)
  if (modelName !== null) Object.assign(state, { model: modelName, pendingModel: null })
  const end = () => endApiCall(state, `${at} ${totalsKey(total ?? usage)}`, at, usage)
  if (isContinued && calls.pendingId === null) state.held = end
  else end()
}

/** Counts the total that was held, unless it came before the first answer: then it is of the file before. */
function countHeld(state: State): void {
  const { held, calls } = state
  state.held = null
  if (calls.pendingId === null) held?.()
}

function noteTotalOf({ file, transcript }: State, total: Totals | null): void {
  if (total !== null) noteThreadTotal(file.group, transcript.id, total)
}

function endApiCall(state: State, id: string, at: Time, counted: Totals | null): void {
  const { calls, transcript } = state
  const message = {
    id: calls.pendingId ?? id,
    model: state.pendingModel ?? state.model,
    tokens: counted === null ? null : codexTokens(counted),
    tier: state.tier,
    notes: state.pendingNotes ?? state.notes,
  }
  state.pendingModel = null
  state.pendingNotes = null
  settle(calls, transcript.addMessage(message, calls.pendingAt ?? at))
}
