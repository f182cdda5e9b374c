// Computes the quality score of a session, with its factors, from counts of a record.

import type { QualityFactor, SessionRecord, TurnRecord } from '../records/session.ts'
import { isTool } from './tool-names.ts'

export interface QualitySignals {
  toolResults: number
  toolErrors: number
  prompts: number
  rejections: number
  interruptions: number
  edits: number
  filesEdited: number
  apiErrors: number
  compactions: number
  /** The last commit or test run succeeded, and no file was edited after it. */
  endedWell: boolean
}

interface ScoredQuality {
  score: number
  base: number
  factors: QualityFactor[]
  breakdown: Record<string, number>
}

export const QUALITY_BASE = 75
/** Points are scaled by n / (n + 5), n being the number of tool results: with five they count half. */
const HALF_EVIDENCE = 5
/** The error rate of the full penalty: the 90th percentile of 268 measured sessions. */
const ERROR_RATE_FULL = 0.122
/** The error rate without a bonus for clean tool use: the median of these sessions. */
const ERROR_RATE_CLEAN = 0.037
/** Edits per edited file above one of the full penalty: the 90th percentile of these sessions is 6.5. */
const REWORK_FULL = 5.5

const upToOne = (value: number): number => Math.max(0, Math.min(1, value))
const hundredths = (value: number): number => Math.round(value * 100)

/** A measure of a session: its points at full strength, what is counted, and the strength, from 0 to 1. */
type Measure = readonly [name: string, category: string, weight: number, count: number, strength: number]

function measuresOf(signals: QualitySignals): Measure[] {
  const { toolErrors, toolResults, rejections, interruptions, apiErrors, compactions } = signals
  const errorRate = toolErrors / Math.max(1, toolResults)
  const rejectionsPerTen = (10 * rejections) / Math.max(1, signals.prompts)
  const editsPerFile = signals.filesEdited === 0 ? 0 : signals.edits / signals.filesEdited
  const edits = hundredths(editsPerFile) / 100
  const clean = Math.max(0, toolResults - toolErrors)
  const ended = signals.endedWell ? 1 : 0
  return [
    ['tool_errors', 'reliability', -22.5, toolErrors, errorRate / ERROR_RATE_FULL],
    ['rejections', 'collaboration', -15, rejections, rejectionsPerTen],
    ['interruptions', 'collaboration', -11.25, interruptions, interruptions / 2],
    ['rework', 'efficiency', -15, edits, (editsPerFile - 1) / REWORK_FULL],
    ['api_errors', 'reliability', -7.5, apiErrors, apiErrors],
    ['compactions', 'efficiency', -3.75, compactions, compactions / 2],
    ['outcome', 'outcome', 10, ended, ended],
    ['clean_tool_use', 'reliability', 15, clean, 1 - upToOne(errorRate / ERROR_RATE_CLEAN)],
  ]
}

/**
 * The quality of a session, 0 to 100: base 75, six penalties (together -75) and two bonuses (together +25), each scaled
 * by n / (n + 5) with n the tool results. Returns all eight factors, also those with 0 points. `base` plus the points
 * equals `score` exactly: all sums are integers of hundredths. Thresholds and weights: see docs/scoring.md.
 */
export function scoreQuality(signals: QualitySignals): ScoredQuality {
  const evidence = signals.toolResults / (signals.toolResults + HALF_EVIDENCE)
  const factors: QualityFactor[] = []
  const byCategory = new Map<string, number>()
  let total = hundredths(QUALITY_BASE)
  for (const [name, category, weight, count, strength] of measuresOf(signals)) {
    // `|| 0` turns the -0 of a penalty without strength into 0
    const points = hundredths(weight * upToOne(strength) * evidence) || 0
    total += points
    byCategory.set(category, (byCategory.get(category) ?? 0) + points)
    factors.push({ name, category, count, weight, points: points / 100 })
  }
  const breakdown = Object.fromEntries([...byCategory].map(([category, points]) => [category, points / 100]))
  return { score: Math.max(0, Math.min(10_000, total)) / 100, base: QUALITY_BASE, factors, breakdown }
}

/** A score (at most 2 decimals) that was sent without factors: base 75 and one factor for the difference. */
export function reportedQuality(score: number): ScoredQuality {
  const points = (hundredths(score) - hundredths(QUALITY_BASE)) / 100
  const factor = { name: 'reported', category: 'reported', count: 1, weight: points, points }
  return { score, base: QUALITY_BASE, factors: [factor], breakdown: { reported: points } }
}

/** The signals of a session record without a score, of its calls or `tools_used`, and its observations. */
export function signalsOfRecord(record: SessionRecord): QualitySignals {
  const turns = record.turn_records ?? []
  const calls = turns.flatMap((turn) => turn.tool_calls ?? [])
  const counted = calls.length > 0 ? countCalls(calls) : countUses(record.tools_used ?? [])
  const files = record.files_touched?.length ?? 0
  const observed = (type: string) =>
    (record.observations ?? []).filter((observation) => observation.type === type).length
  return {
    ...counted,
    prompts: turns.filter((turn) => turn.role === 'user').length,
    rejections: observed('rejection'),
    interruptions: observed('interruption'),
    filesEdited: Math.min(counted.edits, files),
    apiErrors: observed('api_error'),
    compactions: observed('compaction'),
    endedWell: false,
  }
}

type CallCounts = Pick<QualitySignals, 'toolResults' | 'toolErrors' | 'edits'>

function countCalls(
  calls: readonly NonNullable<NonNullable<TurnRecord['tool_calls']>[number]>[],
): CallCounts {
  // a call with `ok: null` has no result
  const results = calls.filter((call) => call.ok !== null)
  return {
    toolResults: results.length,
    toolErrors: results.filter((call) => call.ok === false).length,
    edits: results.filter((call) => call.ok && isTool('edit', call.name)).length,
  }
}

function countUses(sent: NonNullable<SessionRecord['tools_used']>): CallCounts {
  const uses = sent.map(({ name, calls = 0, errors = 0 }) => ({ name, calls, errors }))
  const sum = (of: (use: (typeof uses)[number]) => number) => uses.reduce((total, use) => total + of(use), 0)
  return {
    toolResults: sum((use) => use.calls),
    toolErrors: sum((use) => Math.min(use.calls, use.errors)),
    edits: sum((use) => (isTool('edit', use.name) ? Math.max(0, use.calls - use.errors) : 0)),
  }
}
