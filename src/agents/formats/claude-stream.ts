import { stat } from 'node:fs/promises'
import { dangerOf } from '../../detection/dangerous.ts'
import { picoOf } from '../../scoring/prices.ts'
import { countOf, isObject, type Json, objectOf, textOf, timeOf } from '../session/json.ts'
import { parseLine, readLines } from '../session/json-lines.ts'
import {
  addTokens,
  type FileReading,
  noTokens,
  noteMessage,
  noteUnreadable,
  sessionOf,
} from '../session/reading.ts'
import { addEvent, addMode, noteEnvelope } from '../session/session.ts'
import type { MessageTokens, Session, Turn } from '../session/session-model.ts'
import { claudeTokens, readAnswer, readUserContent } from './claude-code.ts'

// What `claude -p --output-format stream-json` prints. Its last line, `result`, has the exact tokens and cost of the run
// by model; the messages' own usage is what was known when each began.

interface Run {
  session: Session
  turns: Set<Turn>
  /** By model, as the last `result` gave them. */
  totals: Map<string, { tokens: MessageTokens; cost: bigint | null }>
  durationMs: number
  timed: boolean
}

/** Reads one log. Its lines carry no time: without any, the run is taken to have ended when the file was last written. */
export async function readClaudeStream(file: FileReading): Promise<void> {
  const runs: Run[] = []
  for await (const line of readLines(file.path, file.onBytes)) {
    const parsed = parseLine(line)
    const problem = 'reason' in parsed ? parsed.reason : readLine(file, runs, parsed.value, line.number)
    if (problem !== undefined) noteUnreadable(file, line.number, problem)
    await file.reading.scan.flushIfFull()
  }
  const writtenMs = (await stat(file.path)).mtimeMs
  for (const run of runs) settle(file, run, writtenMs)
}

function readLine(file: FileReading, runs: Run[], value: unknown, number: number): string | undefined {
  if (!isObject(value)) return 'not a JSON object'
  const id = textOf(value.session_id)
  if (id === null) return value.type === undefined ? 'no type' : undefined
  const session = sessionOf(file.reading, 'claude-stream-json', id)
  const run = runOf(runs, session)
  const at = timeOf(value.timestamp)
  if (at !== null) run.timed = true
  noteEnvelope(session, { at, folder: textOf(value.cwd) })
  if (value.permissionMode === 'bypassPermissions')
    addMode(session, dangerOf('claude-bypass-permissions', 'medium'), at)
  const message = objectOf(value.message)
  if (value.type === 'assistant') {
    const found = {
      id: textOf(message.id) ?? `line ${number}`,
      requestId: textOf(value.request_id),
      sidechain: textOf(value.parent_tool_use_id) !== null,
      model: textOf(message.model),
      tokens: claudeTokens(message.usage),
      cost: null,
    }
    const turn = noteMessage(file, session, found, at)
    run.turns.add(turn)
    readAnswer(file, session, turn, message.content, session.seen)
  } else if (value.type === 'user') {
    const key = `${textOf(value.uuid) ?? number} ${at ?? ''}`
    const written = textOf(value.parent_tool_use_id) !== null || value.isSynthetic === true
    readUserContent(file, session, message.content, { key, at, written })
  } else if (value.type === 'result') {
    readResult(run, value)
  } else if (value.type === 'system' && value.subtype === 'compact_boundary') {
    addEvent(session, 'compaction', textOf(value.uuid) ?? `${number}`, at)
  }
  return undefined
}

function runOf(runs: Run[], session: Session): Run {
  const known = runs.find((run) => run.session === session)
  if (known !== undefined) return known
  const run: Run = { session, turns: new Set(), totals: new Map(), durationMs: 0, timed: false }
  runs.push(run)
  return run
}

// One process may print several results (streaming input), each with the sums so far; a log may also hold the results
// of several processes, which begin at 0 again. Sums that never fall belong to one process.
function readResult(run: Run, value: Json): void {
  run.durationMs += countOf(value.duration_ms)
  const given = totalsOf(value)
  const grows = [...run.totals].every(([model, before]) => {
    const now = given.get(model)
    return (
      now !== undefined &&
      now.tokens.output >= before.tokens.output &&
      now.tokens.cache_read >= before.tokens.cache_read
    )
  })
  for (const [model, now] of given) {
    const before = run.totals.get(model)
    if (grows || before === undefined) {
      run.totals.set(model, now)
      continue
    }
    addTokens(before.tokens, now.tokens)
    before.cost = before.cost === null || now.cost === null ? null : before.cost + now.cost
  }
  if (value.is_error === true && value.subtype === 'error_during_execution')
    addEvent(run.session, 'api_error', 'result', null)
}

function totalsOf(value: Json): Run['totals'] {
  const totals: Run['totals'] = new Map()
  for (const [model, usage] of Object.entries(objectOf(value.modelUsage))) {
    if (!isObject(usage)) continue
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
  // older versions: one sum for all models
  if (totals.size === 0 && tokens !== null)
    totals.set(ONLY_MODEL, { tokens, cost: costOf(value.total_cost_usd) })
  return totals
}

const ONLY_MODEL = ''

const costOf = (value: unknown): bigint | null =>
  typeof value === 'number' && value >= 0 && value < 1e6 ? picoOf(value) : null

function settle(
  file: FileReading,
  { session, turns, totals, durationMs, timed }: Run,
  writtenMs: number,
): void {
  if (!timed && session.firstAt === null && turns.size > 0) {
    noteEnvelope(session, { at: timeOf(writtenMs), folder: null })
    noteEnvelope(session, { at: timeOf(writtenMs - durationMs), folder: null })
    for (const turn of [...turns, ...session.prompts.values()]) turn.at ??= session.firstAt
  }
  if (totals.size === 0) return
  const covered = new Set([...turns].flatMap((turn) => turn.message?.id ?? []))
  const first = [...turns].find((turn) => turn.message?.model)?.message?.model ?? 'unknown'
  for (const turn of turns) session.covered.add(turn)
  for (const [model, { tokens, cost }] of totals) {
    const report = { model: model === ONLY_MODEL ? first : model, tokens, cost }
    session.reported.push(report)
    file.reported.push({ ...report, covered })
  }
}
