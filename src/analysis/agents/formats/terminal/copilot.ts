// Reads Copilot CLI's `session-state/<id>/events.jsonl`. Newer versions write a `session.usage_record` for each call of the API,
// before its message; what older ones wrote of their calls is in the store (copilot-store.ts), and the sums of the session
// in `session.shutdown`.

import { join } from 'node:path'
import { addMonths } from '../../../../base/dates.ts'
import { sumTotals } from '../../../fragments/totals.ts'
import { notesFrom, vendorNotes } from '../../../records/call-notes.ts'
import type { ModelTotal } from '../../../records/fragments.ts'
import { objectsIn, type Time, timeOf } from '../../transcript/contents.ts'
import { isObject, type Json, objectOf, parseJson, textOf } from '../../transcript/json.ts'
import { readJsonLines } from '../../transcript/json-lines.ts'
import { type SourceFile, tokensBy, totalOf } from '../../transcript/source-file.ts'
import type { Limits } from '../../transcript/stated-limits.ts'
import { noteWhole, type Transcript } from '../../transcript/transcript.ts'
import type { Turn } from '../../transcript/transcript-model.ts'
import { type Format, idIn, textIn } from '../format.ts'
import { COPILOT_DATABASE, callsBeside, creditCost, type StoredCall } from './copilot-store.ts'

/** A call of the API and its message are at most this far apart. */
const PAIR_MS = 120_000
/** The store's time of a call is some milliseconds before or after that of its record. */
const WRITTEN_APART_MS = 10_000

const newState = ({ limits }: SourceFile, transcript: Transcript, stored: StoredCall[]) => ({
  limits,
  transcript,
  /** Calls of the store without a message yet. */
  stored,
  hasStored: stored.length > 0,
  /** Whether a usage record was read: from then on the store's calls are in the events too. */
  isRecorded: false,
  /** The sums of a process, and those of the processes and compactions before it. */
  sums: { current: [] as ModelTotal[], before: [] as ModelTotal[] },
  /** The turn of the last message. */
  turn: null as Turn | null,
})

type State = ReturnType<typeof newState>

async function readCopilot(file: SourceFile, sessionId: string): Promise<void> {
  const transcript = file.transcriptOf(sessionId)
  const state = newState(file, transcript, await callsBeside(file, sessionId))
  await readJsonLines(file, (value) => {
    const type = textOf(value.type)
    if (type === null) return 'no type'
    readEvent(state, type, value, objectOf(value.data))
    return undefined
  })
  for (const { at, ...call } of state.stored) {
    transcript.noteContext(at)
    transcript.addMessage(call, at)
  }
  if (!state.isRecorded && !state.hasStored)
    noteWhole(transcript, sumTotals([...state.sums.before, ...state.sums.current]))
}

/** Leaves the store's calls that are older than the first usage record, by more than the two are written apart. */
function keepOlder(state: State, recordedAt: Time): void {
  const endMs = Date.parse(recordedAt ?? '') - WRITTEN_APART_MS
  state.isRecorded = true
  state.stored = state.stored.filter(({ at }) => Date.parse(at ?? '') < endMs)
}

function readEvent(state: State, type: string, event: Json, data: Json): void {
  const { transcript } = state
  const at = timeOf(event.timestamp)
  const id = textOf(event.id) ?? `${type} ${at}`
  // a fork begins with a copy of another session's events
  if (type !== 'session.start' && at !== null && transcript.isCopied(`copilot ${id} ${at}`)) {
    transcript.isFork = true
    if (type === 'session.usage_record' && !state.isRecorded) keepOlder(state, at)
    return
  }
  transcript.noteContext(at)
  if (type === 'session.start' || type === 'session.resume' || type === 'session.context_changed') {
    const context = objectOf(type === 'session.context_changed' ? data : data.context)
    transcript.repository ??= textOf(context.repository)
    Object.assign(transcript.notes, notesFrom({ version: data.copilotVersion }))
    transcript.noteContext(timeOf(data.startTime) ?? at, textOf(context.cwd), textOf(context.branch))
  } else if (type === 'user.message') {
    // a sub-agent's prompt is the agent's
    if (event.agentId === undefined && textOf(data.source) === null)
      transcript.addPrompt(id, at, textOf(data.content) ?? '')
  } else if (type === 'session.usage_record') {
    if (!state.isRecorded) keepOlder(state, at)
    readUsage(state, objectOf(data.usage), id, at)
  } else if (type === 'assistant.message') readMessage(state, data, id, at)
  else if (type === 'tool.execution_start') {
    const call = textOf(data.toolCallId)
    if (call !== null && state.turn !== null)
      transcript.addCall(state.turn, call, data.toolName, data.arguments)
  } else if (type === 'tool.execution_complete') readResult(transcript, data)
  else if (type === 'session.compaction_complete') {
    if (data.success === true) {
      transcript.addEvent('compaction', id, at)
      state.sums.before.push(...state.sums.current)
      state.sums.current = []
    }
    const isStored = !state.isRecorded && state.hasStored
    if (isObject(data.compactionTokensUsed) && !isStored) readUsage(state, data.compactionTokensUsed, id, at)
  } else if (type === 'session.shutdown') readSums(state, data)
  else if (type === 'session.error') {
    transcript.addEvent('api_error', id, at)
    if (data.errorType === 'quota') transcript.notes.paid_by ??= 'plan'
    if (at !== null) noteRefusal(state.limits, data.errorType, at)
  } else if (type === 'abort') transcript.addEvent('interruption', id, at)
}

/** A quota is of the calendar month (UTC); of other limits no end is stated. */
function noteRefusal(limits: Limits, type: unknown, at: string): void {
  const isQuota = type === 'quota'
  if (!isQuota && type !== 'rate_limit') return
  const resets_at = isQuota ? `${addMonths(at.slice(0, 10), 1)}T00:00:00.000Z` : null
  limits.note({ at, limit: isQuota ? 'credits' : 'rate_limit', used_percent: 100, resets_at, hit: true })
}

function readUsage({ transcript }: State, usage: Json, id: string, at: Time): void {
  const request = textOf(usage.apiCallId)
  const cost = creditCost(objectOf(usage.copilotUsage).totalNanoAiu)
  const paid = usage.isByok === true ? { ...vendorNotes(usage.modelProvider), paid_by: 'api' } : {}
  const notes = notesFrom({ ...transcript.notes, effort: usage.reasoningEffort, ...paid })
  const [model, tokens] = [textOf(usage.model), tokensOf(usage)]
  transcript.addMessage({ id: request ?? id, model, tokens, cost, request, notes }, at)
}

/** Copilot counts the cache in the input. */
const tokensOf = tokensBy('inputTokens outputTokens cacheReadTokens cacheWriteTokens', true)

function readMessage(state: State, data: Json, id: string, at: Time): void {
  const { transcript } = state
  const callId = textOf(data.apiCallId)
  const message = { id: callId ?? textOf(data.messageId) ?? id, model: textOf(data.model), tokens: null }
  const ownTurn = transcript.messages.get(callId ?? '') ?? pairedTurn(state, data, at)
  const turn = ownTurn ?? transcript.addMessage(message, at)
  state.turn = turn
  const texts = [data.reasoningText, data.content].flatMap((text) => textOf(text) ?? [])
  transcript.scanTurn(turn, texts.join('\n'))
  for (const { toolCallId, name, arguments: input } of objectsIn(data.toolRequests)) {
    const call = textOf(toolCallId)
    // older versions write the arguments as text
    if (call !== null)
      transcript.addCall(turn, call, name, typeof input === 'string' ? parseJson(input) : input)
  }
}

/** The turn of the store's call that the message is of: the first one near its time. */
function pairedTurn(state: State, data: Json, at: Time): Turn | null {
  const isAside = textOf(data.parentToolCallId) !== null
  const index = state.stored.findIndex(
    (call) =>
      call.isAside === isAside && Math.abs(Date.parse(call.at ?? '') - Date.parse(at ?? '')) <= PAIR_MS,
  )
  const call = state.stored[index]
  if (call === undefined) return null
  state.stored.splice(index, 1)
  return state.transcript.addMessage(call, call.at)
}

function readResult(transcript: Transcript, data: Json): void {
  const id = textOf(data.toolCallId)
  if (id === null) return
  const result = objectOf(data.result)
  const error = objectOf(data.error)
  const exit = objectOf(data.shellExecution).exitCode ?? exitIn(textOf(result.content) ?? '')
  const ok = data.success !== false && !isObject(data.error) && (exit === null || exit === 0)
  const text = textOf(result.content) ?? textOf(result.text_result_for_llm) ?? textOf(error.message) ?? ''
  if (!transcript.addResult(id, ok, text)) return
  transcript.noteChangedFiles(
    id,
    objectsIn(data.fileEdits).flatMap(({ path }) => textOf(path) ?? []),
  )
  if (error.code === 'rejected' || error.code === 'denied') transcript.rejected.add(id)
}

/** The exit code that ends the output of a command; null for none. */
function exitIn(output: string): number | null {
  const code = /<(?:exited with|shellId: \d+ completed with) exit code (-?\d+)>\s*$/.exec(
    output.slice(-100),
  )?.[1]
  return code === undefined ? null : Number(code)
}

// The sums of a process go on from those of the one before, unless one of them is smaller, or a model is not in them.
function readSums({ sums }: State, data: Json): void {
  const metrics = objectOf(data.modelMetrics ?? objectOf(data.accountingSnapshot).modelMetrics)
  const totals = Object.entries(metrics).flatMap(([model, metric]) => {
    const { usage } = objectOf(metric)
    const tokens = tokensOf(usage)
    return tokens === null ? [] : totalOf(model, tokens)
  })
  if (totals.length === 0) return
  const isIn = ({ model, tokens }: ModelTotal) => {
    const now = totals.find((total) => total.model === model)?.tokens
    return now !== undefined && tokens.every((count, kind) => count <= (now[kind] ?? 0))
  }
  if (!sums.current.every(isIn)) sums.before.push(...sums.current)
  sums.current = totals
}

const TYPE = /^(?:session|user|assistant|tool|subagent|hook|system)\.[a-z_]+$/

export const COPILOT: Format = {
  name: 'copilot',
  folders: ({ env, home }) => [join(env.COPILOT_HOME || join(home, '.copilot'), 'session-state')],
  variables: ['COPILOT_HOME'],
  detect: {
    line: ({ data, parentId }, type) =>
      type !== null && TYPE.test(type) && isObject(data) && parentId !== undefined,
  },
  read: readCopilot,
  database: COPILOT_DATABASE,
  facts: (head) => ({
    sessionId:
      idIn(head, ({ type, data }) => (type === 'session.start' ? textOf(objectOf(data).sessionId) : null)) ??
      textIn(head.path, /[/\\]session-state[/\\]([^/\\]+)[/\\]events\.jsonl/),
  }),
  isCompanion: (name) => name === 'session.db',
}
