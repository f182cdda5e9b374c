import { basename, isAbsolute, normalize, relative } from 'node:path'
import type { SessionRecord, Tokens, ToolUse, TurnRecord } from '../../records/session.ts'
import { dollarsOf, type Pricer } from '../../scoring/prices.ts'
import { type QualitySignals, scoreQuality } from '../../scoring/quality.ts'
import { compareText, cut, makeStorable } from '../../text.ts'
import { classificationOf, issuesOf, observationsOf, summaryOf } from './observations.ts'
import { securityMetadataOf } from './security-metadata.ts'
import { agentOf, type MessageTokens, type Transcript, type Turn } from './transcript-model.ts'
import { type PricedTurns, priceTurns } from './turn-prices.ts'

export interface RecordOptions {
  project?: string | undefined
  userEmail?: string | undefined
  /** Includes prompts, responses and tool outputs, with secrets masked. */
  content?: boolean | undefined
  pricer: Pricer
}

interface ComposedRecord {
  record: SessionRecord
  /** Models without a known price; their tokens add no cost. */
  unpriced: string[]
}

/** Later turns are summed by model into closing turns, up to the schema's limit of 50,000. */
const MAX_TURNS = 49_900
const MAX_CALLS = 10_000
const MAX_TOOLS = 1_000
const MAX_FILES = 20_000
const MAX_MODELS = 100
const MAX_COST = 1e6
const MAX_NAME = 200
const MAX_BRANCH = 500
const MAX_SUMMARY = 10_000
const ID_LENGTH = 64

/**
 * `sess_` and the agent's id with characters other than `[A-Za-z0-9_-]` replaced; the end of an id above 64 characters
 * becomes a hash of it.
 */
export function recordId(agentId: string): string {
  const plain = agentId.replace(/[^A-Za-z0-9_-]/g, '-') || 'unnamed'
  if (plain.length <= ID_LENGTH) return `sess_${plain}`
  const hash = new Bun.CryptoHasher('sha256').update(agentId).digest('hex').slice(0, 20)
  return `sess_${plain.slice(0, ID_LENGTH - 21)}-${hash}`
}

/** The record of a complete transcript; null for one without turns or without any time. */
export function composeRecord(transcript: Transcript, options: RecordOptions): ComposedRecord | null {
  const turns = turnsOf(transcript)
  const isEmpty = turns.length + transcript.withoutMessages.length === 0
  if (isEmpty || transcript.firstAt === null) return null
  const priced = priceTurns(transcript, turns, { pricer: options.pricer, maxTurns: MAX_TURNS })
  const tools = toolsOf(turns)
  const files = filesOf(transcript, turns)
  const signals = signalsOf(transcript, turns, files)
  const { models, model } = modelsOf(turns, transcript)
  const calls = turns.reduce((sum, turn) => sum + turn.calls.length, 0)
  const summary = summaryOf(signals, turns.filter((turn) => turn.role === 'assistant').length, calls, model)
  const numbers = new Map(turns.slice(0, MAX_TURNS).map((turn, index) => [turn, index + 1]))
  const turnRecords = turnRecordsOf(turns, priced, transcript.lastAt, options.content === true)
  const quality = scoreQuality(signals)
  const record: SessionRecord = {
    type: 'session',
    id: recordId(transcript.id),
    project_name: cut(options.project ?? projectOf(transcript), MAX_NAME),
    created_at: transcript.firstAt,
    ...(options.userEmail === undefined ? {} : { user_email: options.userEmail }),
    source: agentOf(transcript.format),
    branch: transcript.branch === null ? null : cut(transcript.branch, MAX_BRANCH),
    ...(transcript.pullRequests.size === 0 ? {} : { pull_requests: [...transcript.pullRequests.values()] }),
    model,
    models,
    started_at: transcript.firstAt,
    ended_at: transcript.lastAt,
    duration_seconds: durationOf(transcript),
    turns: turnRecords.length,
    estimated_cost: Math.min(MAX_COST, dollarsOf(priced.total)),
    cost_source: priced.isReported ? 'reported' : 'estimated',
    // an older server refuses the field
    ...(priced.unpricedTokens > 0 ? { unpriced_tokens: priced.unpricedTokens } : {}),
    quality_score: quality.score,
    tokens: tokensOf(priced.tokens),
    tools_used: tools.slice(0, MAX_TOOLS),
    files_touched: [...files.keys()].sort().slice(0, MAX_FILES),
    summary: cut((options.content === true ? transcript.title : null) ?? summary, MAX_SUMMARY),
    turn_records: turnRecords,
    observations: observationsOf(transcript, turns, tools, (turn, at) => numberOf(turn, at, turns, numbers)),
    analysis: {
      summary,
      issues: issuesOf(signals, tools),
      classification: classificationOf(signals, calls),
    },
    quality_metadata: quality,
    security_metadata: securityMetadataOf(transcript, {
      pathOf: (path) => pathIn(transcript.folders, path),
      numberOf: (turn, at) => numberOf(turn, at, turns, numbers),
    }),
  }
  // agents' files may contain NUL and unpaired surrogates, which PostgreSQL rejects
  makeStorable(record)
  return { unpriced: priced.unpriced, record }
}

function turnsOf(transcript: Transcript): Turn[] {
  const turns = [
    ...transcript.prompts.values(),
    ...[...transcript.messages.values()].flat().map((message) => message.turn),
  ]
  return turns.sort((a, b) => compareText(a.at ?? '', b.at ?? '') || a.order - b.order)
}

const nameOf = (model: string | null | undefined): string | null =>
  model == null ? null : cut(model, MAX_NAME)

const tokensOf = ({ input, output, cache_read, cache_creation }: MessageTokens): Tokens => ({
  input,
  output,
  cache_read,
  cache_creation,
})

function turnRecordsOf(
  turns: readonly Turn[],
  priced: PricedTurns,
  endedAt: string | null,
  withContent: boolean,
): TurnRecord[] {
  const records = turns.slice(0, MAX_TURNS).map((turn, index): TurnRecord => {
    const tokens = turn.message?.tokens ?? null
    const cost = priced.costs.get(turn)
    return {
      turn_number: index + 1,
      role: turn.role,
      model: nameOf(turn.message?.model),
      started_at: turn.at,
      tokens: tokens === null || priced.countedInClosing.has(turn) ? null : tokensOf(tokens),
      cost: cost === undefined ? null : Math.min(MAX_COST, dollarsOf(cost)),
      tool_calls: turn.calls.slice(0, MAX_CALLS).map(({ name, ok }) => ({ name, ok })),
      ...(withContent && turn.content !== '' ? { content: contentOf(turn) } : {}),
    }
  })
  for (const { model, tokens, cost } of priced.closing) {
    records.push({
      turn_number: records.length + 1,
      role: 'assistant',
      model: nameOf(model),
      started_at: turns.at(-1)?.at ?? endedAt,
      tokens: tokensOf(tokens),
      cost: cost === null ? null : Math.min(MAX_COST, dollarsOf(cost)),
      tool_calls: [],
    })
  }
  return records
}

const contentOf = ({ content, contentCut }: Turn): string =>
  contentCut > 0 ? `${content}\n[… ${contentCut} characters cut]` : content

function toolsOf(turns: readonly Turn[]): ToolUse[] {
  const tools = new Map<string, ToolUse>()
  for (const { name, ok } of turns.flatMap((turn) => turn.calls)) {
    const tool = tools.get(name) ?? { name, calls: 0, errors: 0 }
    tool.calls += 1
    if (ok === false) tool.errors += 1
    tools.set(name, tool)
  }
  return [...tools.values()].sort((a, b) => b.calls - a.calls || compareText(a.name, b.name))
}

/** Number of edits by file, as a path relative to the working folder that contains it. */
function filesOf(transcript: Transcript, turns: readonly Turn[]): Map<string, number> {
  const files = new Map<string, number>()
  for (const call of turns.flatMap((turn) => turn.calls)) {
    if (call.ok === false) continue
    for (const edit of call.effects.edits) {
      const path = pathIn(transcript.folders, edit)
      files.set(path, (files.get(path) ?? 0) + 1)
    }
  }
  return files
}

function pathIn(folders: readonly string[], path: string): string {
  if (!isAbsolute(path)) return normalize(path)
  for (const folder of folders) {
    const inside = relative(folder, path)
    if (inside !== '' && !inside.startsWith('..') && !isAbsolute(inside)) return inside
  }
  return path
}

function signalsOf(
  transcript: Transcript,
  turns: readonly Turn[],
  files: ReadonlyMap<string, number>,
): QualitySignals {
  const results = [...transcript.results.values()]
  const events = [...transcript.events.values()]
  const count = (type: string) => events.filter((event) => event.type === type).length
  return {
    toolResults: results.length,
    toolErrors: results.filter((ok) => !ok).length,
    prompts: transcript.prompts.size,
    rejections: count('rejection'),
    interruptions: count('interruption'),
    edits: [...files.values()].reduce((sum, edits) => sum + edits, 0),
    filesEdited: files.size,
    apiErrors: count('api_error'),
    compactions: count('compaction'),
    endedWell: endedWell(turns),
  }
}

// True when the last commit or test run succeeded and no file was edited after it.
function endedWell(turns: readonly Turn[]): boolean {
  const calls = turns.flatMap((turn) => turn.calls)
  const last = calls.findLast(
    ({ effects }) => effects.runsCommit || effects.runsTests || effects.edits.length > 0,
  )
  return last !== undefined && (last.effects.runsCommit || last.effects.runsTests) && last.ok === true
}

function modelsOf(
  turns: readonly Turn[],
  transcript: Transcript,
): { models: string[]; model: string | null } {
  const uses = new Map<string, number>()
  for (const turn of turns)
    if (turn.message?.model) uses.set(turn.message.model, (uses.get(turn.message.model) ?? 0) + 1)
  for (const { model } of [...transcript.reported, ...transcript.withoutMessages.flat()])
    if (!uses.has(model)) uses.set(model, 0)
  const models = [...uses.keys()].map((name) => cut(name, MAX_NAME)).slice(0, MAX_MODELS)
  const most = [...uses].sort(([, a], [, b]) => b - a)[0]?.[0]
  return { models, model: nameOf(most) }
}

/** The repository's name, else that of the first working folder; for a git worktree, that of its repository. */
function projectOf(transcript: Transcript): string {
  const repository = transcript.repository
    ?.replace(/\/+$|\.git\/?$/g, '')
    .split(/[/:]/)
    .at(-1)
  const folder = transcript.folders[0]?.replace(/[/\\](?:\.claude[/\\])?\.?worktrees[/\\].*$/, '')
  return repository || (folder && basename(folder.replaceAll('\\', '/'))) || 'unknown'
}

function durationOf({ firstAt, lastAt }: Transcript): number {
  return firstAt === null || lastAt === null
    ? 0
    : Math.max(0, (Date.parse(lastAt) - Date.parse(firstAt)) / 1000)
}

function numberOf(
  turn: Turn | null,
  at: string | null,
  turns: readonly Turn[],
  numbers: ReadonlyMap<Turn, number>,
): number | null {
  if (turn !== null) return numbers.get(turn) ?? null
  const before =
    at === null ? undefined : turns.findLast((candidate) => candidate.at !== null && candidate.at <= at)
  return before === undefined ? null : (numbers.get(before) ?? null)
}
