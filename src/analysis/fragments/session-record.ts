// Composes the record of a session from its parts.

import { compareText, cut, makeStorable } from '../../base/text.ts'
import type { CallFragment, SessionFragments, TurnFragment } from '../records/fragments.ts'
import {
  notesOf,
  type Origin,
  SESSION_NOTE_NAMES,
  type SessionRecord,
  TOKEN_KINDS,
  type ToolUse,
  type TurnRecord,
} from '../records/session.ts'
import { firstIndex } from '../scoring/binary-search.ts'
import { asDollars, type Pricer } from '../scoring/prices.ts'
import { type QualitySignals, scoreQuality } from '../scoring/quality.ts'
import { securityMetadataOf } from './findings.ts'
import { classificationOf, issuesOf, observationsOf, type SessionEvent, summaryOf } from './observations.ts'
import { originOf, withEachCallOnce } from './telemetry-and-transcripts.ts'
import { MAX_TURNS, type PricedTurns, priceTurns, tokensByKind } from './turn-prices.ts'

/** A record has these fields beside its parts. */
export interface RecordHead {
  id: string
  /** Null where nothing says so. */
  project_name: string | null
  user_id?: string | null
  user_email?: string | null
  includes?: string[]
}

interface RecordOptions {
  pricer: Pricer
  /** Texts of turns by their ids, where they are kept. */
  contents?: ReadonlyMap<string, string> | undefined
}

interface ComposedRecord {
  record: SessionRecord
  /** Models without a known price; their tokens add no cost. */
  unpriced: string[]
}

const MAX_CALLS = 10_000
const MAX_TOOLS = 1_000
const MAX_FILES = 20_000
const MAX_COST = 1e6
const MAX_SUMMARY = 10_000

/** The record of these parts; null for parts without turns or without any time. Equal parts give equal records. */
export function composeRecord(
  merged: SessionFragments,
  head: RecordHead,
  { pricer, contents }: RecordOptions,
): ComposedRecord | null {
  const origin = originOf(merged)
  const once = withEachCallOnce(merged)
  const parts = { ...once, calls: once.calls.map(withoutPlans) }
  const turns = turnsOf(parts)
  const from = parts.times.from ?? parts.fileTimes.from ?? parts.telemetry?.from ?? null
  const to = parts.times.to ?? parts.fileTimes.to ?? parts.telemetry?.to ?? null
  const isEmpty = turns.length + parts.runs.length + (parts.whole?.length ?? 0) === 0
  if ((isEmpty && origin !== 'telemetry') || from === null) return null
  const calls = callsOf(parts, turns)
  const model = mainModelOf(turns, parts)
  const priced = priceTurns(parts, turns, pricer, model)
  // calls that telemetry tells of belong to no turn
  const all = [
    ...[...calls.values()].flat(),
    ...parts.calls.filter(({ turn, name }) => turn === null && name !== null),
  ]
  const tools = toolsOf(all)
  const files = filesOf(all)
  const events = eventsOf(parts, turns)
  const signals = signalsOf(parts, events, turns, all, files)
  const summary = summaryOf(
    signals,
    turns.filter(({ role }) => role === 'assistant').length,
    all.length,
    model,
  )
  const numbers = new Map(turns.slice(0, MAX_TURNS).map(({ id }, index) => [id, index + 1]))
  const numberOf = (turn: string | null, at: string | null) => numberAt(turn, at, turns, numbers)
  const turnRecords = turnRecordsOf(turns, calls, priced, [from, to], contents)
  const quality = scoreQuality(signals)
  const record: SessionRecord = {
    type: 'session',
    ...head,
    created_at: from,
    source: parts.agent,
    branch: parts.branch?.name ?? null,
    ...(parts.pullRequests.length === 0 ? {} : { pull_requests: parts.pullRequests }),
    model,
    models: modelsOf([...turns, ...priced.summed]),
    started_at: from,
    ended_at: to,
    duration_seconds: to === null ? 0 : Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000),
    turns: turnRecords.filter(({ role }) => role !== 'unattributed').length,
    estimated_cost: Math.min(MAX_COST, asDollars(priced.total)),
    cost_source: priced.isReported ? 'reported' : 'estimated',
    ...(priced.stated === null ? {} : { stated_cost: Math.min(MAX_COST, asDollars(priced.stated)) }),
    ...notesOf(parts, SESSION_NOTE_NAMES),
    ...(priced.unpricedTokens > 0 ? { unpriced_tokens: priced.unpricedTokens } : {}),
    quality_score: quality.score,
    tokens: sessionTokensOf(turns, priced, origin),
    ...(origin === 'transcript' ? {} : { origin }),
    tools_used: tools.slice(0, MAX_TOOLS),
    files_touched: origin === 'telemetry' ? null : [...files.keys()].sort().slice(0, MAX_FILES),
    summary: cut(parts.title ?? summary, MAX_SUMMARY),
    turn_records: turnRecords,
    observations: observationsOf(events, turns, calls, tools, numberOf),
    analysis: {
      summary,
      issues: issuesOf(signals, tools),
      classification: classificationOf(signals, all.length),
    },
    quality_metadata: quality,
    security_metadata: securityMetadataOf(parts, numberOf),
  }
  // agents' files may contain NUL and unpaired surrogates, which PostgreSQL rejects
  makeStorable(record)
  return { unpriced: priced.unpriced, record }
}

/** Null where nothing states tokens; a kind is null where telemetry, which is all there is, never states it. */
function sessionTokensOf(turns: readonly TurnFragment[], { tokens, summed }: PricedTurns, origin: Origin) {
  const counted = turns.filter((turn) => turn.tokens !== null)
  if (counted.length + summed.length === 0) return null
  if (origin !== 'telemetry') return tokens
  const isKnown = (index: number) => counted.some(({ lacks }) => lacks?.includes(index) !== true)
  return Object.fromEntries(TOKEN_KINDS.map((kind, index) => [kind, isKnown(index) ? tokens[kind] : null]))
}

/** A plan that the user rejects is not a failed call. */
const withoutPlans = (call: CallFragment): CallFragment =>
  call.name === 'ExitPlanMode' && call.ok === false ? { ...call, ok: true, rejected: false } : call

function eventsOf({ events, calls }: SessionFragments, turns: readonly TurnFragment[]): SessionEvent[] {
  const times = new Map(turns.map(({ id, at }) => [id, at]))
  const rejections = calls.flatMap(({ rejected, turn }): SessionEvent[] =>
    rejected ? [{ type: 'rejection', at: times.get(turn ?? '') ?? null, turn }] : [],
  )
  return [...events, ...rejections]
}

/** Sorts turns by time; turns of the same time as in their file, prompts first. */
function turnsOf({ turns }: SessionFragments): TurnFragment[] {
  return turns.toSorted(
    (a, b) =>
      compareText(a.at ?? '', b.at ?? '') ||
      a.position - b.position ||
      compareText(b.role, a.role) ||
      compareText(a.id, b.id),
  )
}

/** The ids of the turns, in the order of the record's `turn_records`. */
export const turnIds = (parts: SessionFragments): string[] =>
  turnsOf(withEachCallOnce(parts)).map(({ id }) => id)

/** The calls of each turn, by its id, in the order of the turns. Calls of which only the result is known are left out. */
function callsOf({ calls }: SessionFragments, turns: readonly TurnFragment[]): Map<string, CallFragment[]> {
  const byTurn = new Map<string, CallFragment[]>(turns.map(({ id }) => [id, []]))
  for (const call of calls.toSorted((a, b) => a.position - b.position || compareText(a.id, b.id)))
    if (call.turn !== null) byTurn.get(call.turn)?.push(call)
  return byTurn
}

function turnRecordsOf(
  turns: readonly TurnFragment[],
  calls: ReadonlyMap<string, readonly CallFragment[]>,
  priced: PricedTurns,
  [from, to]: readonly [string, string | null],
  contents: ReadonlyMap<string, string> | undefined,
): TurnRecord[] {
  const records = turns.slice(0, MAX_TURNS).map((turn, index): TurnRecord => {
    const { id, role, model, tier, at, tokens } = turn
    const cost = priced.costs.get(id)
    const content = contents?.get(id)
    return {
      turn_number: index + 1,
      role,
      model: modelName(model),
      ...(tier === undefined ? {} : { tier }),
      ...notesOf(turn),
      started_at: at ?? from,
      tokens: tokens === null ? null : tokensByKind(tokens),
      cost: cost === undefined ? null : Math.min(MAX_COST, asDollars(cost)),
      tool_calls: (calls.get(id) ?? [])
        .slice(0, MAX_CALLS)
        .map((call) => ({ name: call.name ?? 'unknown', ok: call.ok })),
      ...(content === undefined ? {} : { content }),
    }
  })
  for (const { role, model, tokens, cost } of priced.summed) {
    records.push({
      turn_number: records.length + 1,
      role,
      model: modelName(model),
      started_at: turns.at(-1)?.at ?? to,
      tokens,
      cost: cost === null ? null : Math.min(MAX_COST, asDollars(cost)),
      tool_calls: [],
    })
  }
  return records
}

/** The tools that were called, the most used ones first. */
export function toolsOf(calls: readonly Pick<CallFragment, 'name' | 'ok'>[]): ToolUse[] {
  const tools = new Map<string, ToolUse>()
  for (const { name, ok } of calls) {
    const tool = tools.getOrInsertComputed(name ?? 'unknown', (name) => ({ name, calls: 0, errors: 0 }))
    tool.calls += 1
    if (ok === false) tool.errors += 1
  }
  return [...tools.values()].sort((a, b) => b.calls - a.calls || compareText(a.name, b.name))
}

function filesOf(calls: readonly CallFragment[]): Map<string, number> {
  const files = new Map<string, number>()
  for (const { ok, edits } of calls)
    if (ok !== false) for (const path of edits) files.set(path, (files.get(path) ?? 0) + 1)
  return files
}

function signalsOf(
  parts: SessionFragments,
  events: readonly SessionEvent[],
  turns: readonly TurnFragment[],
  calls: readonly CallFragment[],
  files: ReadonlyMap<string, number>,
): QualitySignals {
  // results count even if their calls are not known
  const results = parts.calls.filter(({ ok }) => ok !== null)
  const count = (type: string) => events.filter((event) => event.type === type).length
  return {
    toolResults: results.length,
    toolErrors: results.filter(({ ok }) => ok === false).length,
    prompts: turns.filter(({ role }) => role === 'user').length,
    rejections: count('rejection'),
    interruptions: count('interruption'),
    edits: [...files.values()].reduce((sum, edits) => sum + edits, 0),
    filesEdited: files.size,
    apiErrors: count('api_error'),
    compactions: count('compaction'),
    endedWell: endedWell(calls),
  }
}

// True when the last commit or test run succeeded and no file was edited after it.
function endedWell(calls: readonly CallFragment[]): boolean {
  const last = calls.findLast(({ commits, tests, edits }) => commits || tests || edits.length > 0)
  return last !== undefined && (last.commits || last.tests) && last.ok === true
}

/** The number of a turn, else of the last turn at the time `at`. `turns` are in order of time. */
function numberAt(
  turn: string | null,
  at: string | null,
  turns: readonly TurnFragment[],
  numbers: ReadonlyMap<string, number>,
): number | null {
  if (turn !== null) return numbers.get(turn) ?? null
  if (at === null) return null
  const before = turns[firstIndex(turns.length, (index) => (turns[index]?.at ?? '') > at) - 1]
  return before === undefined || before.at === null ? null : (numbers.get(before.id) ?? null)
}

// Names of the models of a session.

const MAX_MODELS = 100
const MAX_NAME = 200

const modelName = (model: string | null | undefined): string | null =>
  model == null ? null : cut(model, MAX_NAME)

const modelsOf = (turns: readonly { model: string | null }[]): string[] =>
  [...new Set(turns.flatMap(({ model }) => modelName(model) ?? []))].slice(0, MAX_MODELS)

/** The model of most turns; without any, the first that a total is of. */
function mainModelOf(turns: readonly TurnFragment[], { runs, whole }: SessionFragments): string | null {
  const uses = new Map<string, number>()
  for (const { model } of turns) if (model !== null) uses.set(model, (uses.get(model) ?? 0) + 1)
  const most = [...uses].sort(([, a], [, b]) => b - a)[0]?.[0]
  const stated = [...runs.flatMap(({ totals }) => totals), ...(whole ?? [])]
  return modelName(most ?? stated.find(({ model }) => model !== null)?.model)
}
