// Writes a session record's texts (observations, summary, issues, class) from counts: no prompt or output is quoted.

import { compareText, cut, plural } from '../../base/text.ts'
import type { CallFragment, EventFragment, TurnFragment } from '../records/fragments.ts'
import type { ObservationRecord, ToolUse } from '../records/session.ts'
import type { QualitySignals } from '../scoring/quality.ts'

/** An event, or a call that the user rejected. */
export type SessionEvent = Omit<EventFragment, 'id' | 'type'> & { type: EventFragment['type'] | 'rejection' }

/** Failed calls of one tool that make an observation. */
const ERROR_CLUSTER = 3
const MAX_OBSERVATIONS = 200
/** Events that become observations; `issuesOf` counts all of them. */
const MAX_EVENTS = 1_000

const EVENT_TEXT: Readonly<Record<SessionEvent['type'], { title: string; importance: number }>> = {
  interruption: { title: 'The user interrupted the agent', importance: 6 },
  rejection: { title: 'The user rejected a tool call', importance: 6 },
  compaction: { title: 'The context was compacted', importance: 4 },
  api_error: { title: 'A request to the model failed', importance: 5 },
}

/** Observations in order of time, at most 200. `numberOf` returns a turn's number. */
export function observationsOf(
  all: readonly SessionEvent[],
  turns: readonly TurnFragment[],
  calls: ReadonlyMap<string, readonly CallFragment[]>,
  tools: readonly ToolUse[],
  numberOf: (turn: string | null, at: string | null) => number | null,
): ObservationRecord[] {
  const firstFailing = new Map<string, TurnFragment>()
  for (const turn of turns)
    for (const { name, ok } of calls.get(turn.id) ?? [])
      if (ok === false && name !== null && !firstFailing.has(name)) firstFailing.set(name, turn)
  const clusters = tools
    .filter((tool) => tool.errors >= ERROR_CLUSTER)
    .map((tool) => {
      const first = firstFailing.get(tool.name)
      return {
        type: 'tool_errors',
        title: cut(`${tool.name} failed in ${tool.errors} of ${tool.calls} calls`, 500),
        importance: tool.errors * 4 >= tool.calls ? 7 : 5,
        turn_number: numberOf(first?.id ?? null, null),
        created_at: first?.at ?? null,
      }
    })
  const events = all.slice(0, MAX_EVENTS).map(({ type, at, turn }) => ({
    type,
    ...EVENT_TEXT[type],
    turn_number: numberOf(turn, at),
    created_at: at,
  }))
  return [...clusters, ...events]
    .sort((a, b) => compareText(a.created_at ?? '', b.created_at ?? '') || compareText(a.type, b.type))
    .slice(0, MAX_OBSERVATIONS)
}

/** One sentence of counts. */
export function summaryOf(signals: QualitySignals, messages: number, calls: number, model: string | null) {
  const failed = signals.toolErrors > 0 ? ` (${signals.toolErrors} failed)` : ''
  const edited =
    signals.filesEdited > 0
      ? `; ${plural(signals.filesEdited, 'file')} edited in ${plural(signals.edits, 'edit')}`
      : ''
  const ended = signals.endedWell ? '; ended in a commit or a passing test' : ''
  const by = model === null ? '' : ` with ${model}`
  return `${plural(signals.prompts, 'prompt')}, ${plural(messages, 'model message')}${by} and ${plural(calls, 'tool call')}${failed}${edited}${ended}.`
}

/** One sentence per kind of problem. */
export function issuesOf(signals: QualitySignals, tools: readonly ToolUse[]): string[] {
  const issues = tools
    .filter((tool) => tool.errors >= ERROR_CLUSTER)
    .map((tool) => `${tool.name} failed in ${tool.errors} of ${tool.calls} calls`)
  if (signals.rejections > 0) issues.push(`The user rejected ${plural(signals.rejections, 'tool call')}`)
  if (signals.interruptions > 0)
    issues.push(`The user interrupted the agent ${plural(signals.interruptions, 'time')}`)
  if (signals.apiErrors > 0) issues.push(`${plural(signals.apiErrors, 'request')} to the model failed`)
  if (signals.compactions > 0) issues.push(`The context was compacted ${plural(signals.compactions, 'time')}`)
  return issues.slice(0, 1_000)
}

/** `conversation` without tools, `exploration` without edits, `verified_change` when it ended well, else `change`. */
export function classificationOf(signals: QualitySignals, calls: number): string {
  if (calls === 0) return 'conversation'
  if (signals.edits === 0) return 'exploration'
  return signals.endedWell ? 'verified_change' : 'change'
}
