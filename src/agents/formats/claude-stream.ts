import { stat } from 'node:fs/promises'
import { dangerousAction } from '../../detection/dangerous-actions.ts'
import { readDocument } from '../transcript/file-bytes.ts'
import { countOf, isObject, type Json, objectOf, textOf, timeOf } from '../transcript/json-fields.ts'
import { readJsonLines } from '../transcript/json-lines.ts'
import {
  addTokens,
  noTokens,
  noteMessage,
  noteUnreadable,
  reportedCost,
  type SourceFile,
  transcriptOf,
} from '../transcript/source-file.ts'
import { addEvent, addMode, noteContext } from '../transcript/transcript.ts'
import type { MessageTokens, ReportedTotals, Transcript, Turn } from '../transcript/transcript-model.ts'
import { claudeTokens, readResponse, readUserContent, SYNTHETIC, searchesOf } from './claude-code.ts'

// The output of `claude -p --output-format stream-json`, or of `json`, which prints an array of the same messages
// (`--verbose`) or the last one only. This last one, `result`, has the exact tokens and cost of the run by model; the usage
// of a message is that at the start of its response.

interface Run {
  transcript: Transcript
  turns: Set<Turn>
  /** By model, from its `result` lines. */
  totals: Map<string, Omit<ReportedTotals, 'model'>>
  /** Tokens of prompts, cached ones too, by message since the last `result`. */
  prompts: Map<string, number>
  durationMs: number
  /** A line had a timestamp. */
  hasTimestamps: boolean
}

/**
 * Reads one log, of lines or, if `isDocument`, of one JSON value: an array of messages or a message. A run without
 * timestamps is assumed to have ended when the file was last modified.
 */
export async function readClaudeStream(file: SourceFile, isDocument: boolean): Promise<void> {
  const runs: Run[] = []
  if (isDocument) await readMessages(file, runs)
  else await readJsonLines(file, (value, lineNumber) => readLine(file, runs, value, lineNumber))
  const { mtimeMs } = await stat(file.path)
  for (const run of runs) finishRun(file, run, mtimeMs)
}

async function readMessages(file: SourceFile, runs: Run[]): Promise<void> {
  const read = await readDocument(file.path, file.onBytes)
  if ('reason' in read) return noteUnreadable(file, 1, read.reason)
  for (const [index, message] of [read.value].flat().entries()) {
    const problem = readLine(file, runs, message, index + 1)
    if (problem !== undefined) noteUnreadable(file, 1, `message ${index + 1}: ${problem}`)
    await file.group.scan.flushIfFull()
  }
}

function readLine(file: SourceFile, runs: Run[], value: unknown, number: number): string | undefined {
  if (!isObject(value)) return 'not a JSON object'
  const id = textOf(value.session_id)
  if (id === null) return value.type === undefined ? 'no type' : undefined
  const transcript = transcriptOf(file.group, 'claude-stream-json', id)
  const run = runOf(runs, transcript)
  const at = timeOf(value.timestamp)
  if (at !== null) run.hasTimestamps = true
  noteContext(transcript, at, textOf(value.cwd))
  if (value.permissionMode === 'bypassPermissions')
    addMode(transcript, dangerousAction('claude-bypass-permissions', 'medium'), at)
  const message = objectOf(value.message)
  if (value.type === 'assistant') {
    if (message.model === SYNTHETIC) return undefined
    const found = {
      id: textOf(message.id) ?? `line ${number}`,
      requestId: textOf(value.request_id),
      sidechain: textOf(value.parent_tool_use_id) !== null,
      model: textOf(message.model),
      tokens: claudeTokens(message.usage),
      searches: searchesOf(message.usage),
    }
    if (found.tokens !== null) run.prompts.set(found.id, promptOf(found.tokens))
    const turn = noteMessage(file, transcript, found, at)
    run.turns.add(turn)
    readResponse(transcript, turn, message.content)
  } else if (value.type === 'user') {
    const key = `${textOf(value.uuid) ?? number} ${at ?? ''}`
    const isGenerated = textOf(value.parent_tool_use_id) !== null || value.isSynthetic === true
    readUserContent(transcript, message.content, { key, at, isGenerated })
  } else if (value.type === 'result') {
    readResult(run, value)
    // what it says is a message before it, unless there are none
    const text = run.turns.size === 0 ? textOf(value.result) : null
    if (text !== null)
      transcript.scan.add(text, { transcript, turn: null, call: null, where: 'an answer', exposed: false })
  } else if (value.type === 'system' && value.subtype === 'compact_boundary') {
    addEvent(transcript, 'compaction', textOf(value.uuid) ?? `${number}`, at)
  }
  return undefined
}

function runOf(runs: Run[], transcript: Transcript): Run {
  const known = runs.find((run) => run.transcript === transcript)
  if (known !== undefined) return known
  const run: Run = {
    transcript,
    turns: new Set(),
    totals: new Map(),
    prompts: new Map(),
    durationMs: 0,
    hasTimestamps: false,
  }
  runs.push(run)
  return run
}

// A process with streaming input prints several results, each with the sums so far; a log may also contain the results of
// several processes of one session, each starting at 0. The messages since the last result tell which it is: they are what
// the sums grew by, or the sums.
function readResult(run: Run, value: Json): void {
  run.durationMs += countOf(value.duration_ms)
  const totals = totalsOf(value)
  const grown = [...run.prompts.values()].reduce((sum, count) => sum + count, 0)
  run.prompts.clear()
  const hasRisen = [...run.totals].every(([model, before]) => {
    const now = totals.get(model)
    return (
      now !== undefined &&
      now.tokens.output >= before.tokens.output &&
      now.tokens.cache_read >= before.tokens.cache_read
    )
  })
  const isSameProcess = hasRisen && run.turns.size > 0 && sumOf(totals) >= grown + sumOf(run.totals) / 2
  for (const [model, now] of totals) {
    const before = run.totals.get(model)
    if (isSameProcess || before === undefined) {
      run.totals.set(model, now)
      continue
    }
    addTokens(before.tokens, now.tokens)
    before.cost = before.cost === null || now.cost === null ? null : before.cost + now.cost
  }
  if (value.is_error === true && value.subtype === 'error_during_execution')
    addEvent(run.transcript, 'api_error', 'result', null)
}

function totalsOf(value: Json): Run['totals'] {
  const totals: Run['totals'] = new Map()
  for (const [model, usage] of Object.entries(objectOf(value.modelUsage))) {
    if (!isObject(usage) || model === SYNTHETIC) continue
    const tokens = {
      ...noTokens(),
      input: countOf(usage.inputTokens),
      output: countOf(usage.outputTokens),
      cache_read: countOf(usage.cacheReadInputTokens),
      cache_creation: countOf(usage.cacheCreationInputTokens),
    }
    totals.set(model, { tokens, cost: costOf(usage.costUSD) })
  }
  const tokens = claudeTokens(value.usage)
  // older versions print one sum for all models
  if (totals.size === 0 && tokens !== null)
    totals.set(ALL_MODELS, { tokens, cost: costOf(value.total_cost_usd) })
  return totals
}

const promptOf = ({ input, cache_read, cache_creation }: MessageTokens): number =>
  input + cache_read + cache_creation

const sumOf = (totals: Run['totals']): number =>
  [...totals.values()].reduce((sum, { tokens }) => sum + promptOf(tokens), 0)

/** The key of a sum over all models. */
const ALL_MODELS = ''

const costOf = (dollars: unknown): bigint | null => (dollars === 0 ? 0n : reportedCost(dollars))

function finishRun(
  file: SourceFile,
  { transcript, turns, totals, durationMs, hasTimestamps }: Run,
  endMs: number,
): void {
  if (!hasTimestamps && transcript.firstAt === null && turns.size + totals.size > 0) {
    noteContext(transcript, timeOf(endMs))
    noteContext(transcript, timeOf(endMs - durationMs))
    for (const turn of [...turns, ...transcript.prompts.values()]) turn.at ??= transcript.firstAt
  }
  if (totals.size === 0) return
  const covered = new Set([...turns].flatMap((turn) => turn.message?.id ?? []))
  const first = [...turns].find((turn) => turn.message?.model)?.message?.model ?? 'unknown'
  for (const turn of turns) transcript.covered.add(turn)
  const reports = [...totals].map(([model, total]) => ({
    model: model === ALL_MODELS ? first : model,
    ...total,
  }))
  if (turns.size === 0) transcript.withoutMessages.push(reports)
  else transcript.reported.push(...reports)
  for (const report of reports) file.reported.push({ ...report, covered })
}
