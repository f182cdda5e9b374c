// Reads the output of `claude -p --output-format stream-json`, or of `json`, which prints an array of the same messages
// (`--verbose`) or the last one only. This last one, `result`, has the exact tokens and cost of the run by model; the usage
// of a message is that at the start of its response.

import { statSync } from 'node:fs'
import { dangerousAction } from '../../detection/dangerous-actions.ts'
import { KINDS, tokensOfKind } from '../../fragments/totals.ts'
import { notesFrom } from '../../records/call-notes.ts'
import type { ModelTotal } from '../../records/fragments.ts'
import { timeOf } from '../transcript/contents.ts'
import { noteTotal, totalKey } from '../transcript/earlier-totals.ts'
import { countOf, type Json, objectOf, textOf } from '../transcript/json.ts'
import { readJsonDocument, readJsonLines } from '../transcript/json-lines.ts'
import { asCounts, type SourceFile } from '../transcript/source-file.ts'
import { noteWhole, type Transcript } from '../transcript/transcript.ts'
import type { MessageTokens, Turn } from '../transcript/transcript-model.ts'
import { readResponse, readUserContent } from './claude-content.ts'
import { claudeTokens, claudeTotals, messageOf, otherCalls, SYNTHETIC, statedCost } from './claude-usage.ts'
import { noteEvent } from './limits/claude.ts'

const newRun = (transcript: Transcript) => ({
  transcript,
  turns: new Set<Turn>(),
  /** The last result that stated the totals of its run, and those before it that it includes. */
  last: null as { key: string; totals: ModelTotal[]; over: string[] } | null,
  /** Tokens of prompts, cached ones too, by message since the last `result`. */
  prompts: new Map<string, number>(),
  hasResult: false,
  durationMs: 0,
  /** A line had a timestamp. */
  hasTimestamps: false,
})

type Run = ReturnType<typeof newRun>

/** Reads a log of lines or, if `isDocument`, one JSON value. A run without timestamps ended when the file was last modified. */
export async function readClaudeStream(file: SourceFile, isDocument: boolean): Promise<void> {
  const runs = new Map<Transcript, Run>()
  if (isDocument)
    await readJsonDocument(
      file,
      (document) => [document].flat(),
      (message, index) => readLine(file, runs, message, index + 1),
    )
  else await readJsonLines(file, (value, lineNumber) => readLine(file, runs, value, lineNumber))
  for (const run of runs.values()) finishRun(run, modifiedMs(file))
}

const modifiedMs = ({ path }: SourceFile): number => statSync(path).mtimeMs

function readLine(file: SourceFile, runs: Map<Transcript, Run>, value: Json, number: number) {
  const id = textOf(value.session_id)
  if (id === null) return value.type === undefined ? 'no type' : undefined
  const transcript = file.transcriptOf(id)
  const run = runs.getOrInsertComputed(transcript, newRun)
  // Claude Cowork's audit log, which repeats what its transcripts have
  const audited = timeOf(value._audit_timestamp)
  const at = timeOf(value.timestamp) ?? audited
  if (at !== null) run.hasTimestamps = true
  transcript.noteContext(at, textOf(value.cwd))
  if (value.permissionMode === 'bypassPermissions')
    transcript.addMode(dangerousAction('claude-bypass-permissions', 'medium'), at)
  const message = objectOf(value.message)
  if (value.type === 'assistant') {
    if (message.model === SYNTHETIC) return undefined
    const stated = messageOf(value, message, number)
    const noted = { ...stated, notes: { ...transcript.notes, ...stated.notes } }
    if (noted.tokens !== null) run.prompts.set(noted.id, promptOf(noted.tokens))
    const turn = transcript.addMessage(noted, at)
    run.turns.add(turn)
    for (const other of otherCalls(noted, message.usage)) run.turns.add(transcript.addMessage(other, at))
    readResponse(transcript, turn, message.content)
  } else if (value.type === 'user') {
    const id = textOf(value.uuid) ?? `${number} ${at ?? ''}`
    const key = textOf(value.uuid) === null ? id : `${id} ${at ?? ''}`
    const isGenerated =
      textOf(value.parent_tool_use_id) !== null || value.isSynthetic === true || audited !== null
    readUserContent(transcript, message.content, { key, id, at, isGenerated, done: value.tool_use_result })
  } else if (value.type === 'result') {
    readResult(file, run, value)
    // the result repeats a message before it, unless there are none
    const text = run.turns.size === 0 ? textOf(value.result) : null
    if (text !== null) transcript.scan(text, { where: 'an answer' })
  } else if (value.type === 'rate_limit_event') {
    noteEvent(file.limits, transcript, objectOf(value.rate_limit_info), at ?? timeOf(modifiedMs(file)) ?? '')
  } else if (value.type === 'system' && value.subtype === 'compact_boundary') {
    transcript.addEvent('compaction', textOf(value.uuid) ?? `${number}`, at)
  } else if (value.type === 'system' && value.subtype === 'init') {
    // without a key it may be an account's, a cloud vendor's or a gateway's
    const paid_by = /^(?:none|oauth)?$/.test(textOf(value.apiKeySource) ?? '') ? null : 'api'
    Object.assign(transcript.notes, notesFrom({ version: value.claude_code_version, paid_by }))
  }
  return undefined
}

// Totals by model cover the run in some versions, in others the whole session. Those of a run are equal to its usage.
function readResult(file: SourceFile, run: Run, value: Json): void {
  const { transcript } = run
  run.durationMs += countOf(value.duration_ms)
  run.hasResult = true
  if (value.is_error === true && value.subtype === 'error_during_execution')
    transcript.addEvent('api_error', 'result', null)
  const usage = claudeTokens(value.usage)
  const byModel = claudeTotals(value.modelUsage)
  // older versions print one sum for all models
  const totals =
    byModel.length > 0 || usage === null
      ? byModel
      : [{ model: null, tokens: asCounts(usage), cost: statedCost(value.total_cost_usd) }]
  if (totals.length === 0) return
  const used = usage === null ? [] : asCounts(usage)
  const isRun = usage !== null && KINDS.every((kind) => used[kind] === tokensOfKind(totals, kind))
  const key = textOf(value.uuid) ?? JSON.stringify([totals, value.duration_ms, value.total_cost_usd])
  noteTotal(file.group, transcript, totals)
  if (!isRun) {
    noteWhole(transcript, totals)
    const sums = ownTotals(value, usage, totals)
    const before = totalKey(totals, sums)
    const isOfRun = totals.some(({ tokens }) => KINDS.every((kind) => used[kind] === tokens[kind]))
    if (before !== null)
      file.group.laterRuns.push({ transcript, key, all: totals, own: sums, before, isOfRun })
    return
  }
  const over =
    includesLast(run, totals) && run.last !== null && run.last.key !== key
      ? [...run.last.over, run.last.key]
      : []
  transcript.runs.set(key, { totals, over })
  run.last = { key, totals, over }
  run.prompts.clear()
}

/** The totals of the run alone: newer versions state them by model. */
function ownTotals(value: Json, usage: MessageTokens | null, totals: readonly ModelTotal[]): ModelTotal[] {
  const since = claudeTotals(value.model_usage_since_last_result)
  if (since.length > 0 || usage === null) return since
  const model = totals.length === 1 ? (totals[0]?.model ?? null) : null
  return [{ model, tokens: asCounts(usage), cost: null }]
}

// A process with streaming input prints several results, each with the sums so far; a log may also contain the results of
// several processes of one session, each starting at 0. The messages since the last result tell which it is: they are what
// the sums grew by, or the sums.
function includesLast({ last, prompts, turns }: Run, totals: readonly ModelTotal[]): boolean {
  if (last === null || turns.size === 0) return false
  const grown = [...prompts.values()].reduce((sum, count) => sum + count, 0)
  const hasRisen = last.totals.every(({ model, tokens: before }) => {
    const now = totals.find((each) => each.model === model)?.tokens
    return now !== undefined && now[1] >= before[1] && now[2] >= before[2]
  })
  return hasRisen && promptsOf(totals) >= grown + promptsOf(last.totals) / 2
}

const promptsOf = (totals: readonly ModelTotal[]): number =>
  totals.reduce((sum, { tokens }) => sum + tokens[0] + tokens[2] + tokens[3], 0)

const promptOf = ({ input, cache_read, cache_creation }: MessageTokens): number =>
  input + cache_read + cache_creation

function finishRun({ transcript, turns, hasResult, durationMs, hasTimestamps }: Run, endMs: number): void {
  if (hasTimestamps || turns.size + Number(hasResult) === 0) return
  transcript.noteFileTimes(timeOf(endMs - durationMs), timeOf(endMs))
}
