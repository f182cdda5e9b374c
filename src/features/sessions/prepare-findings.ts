// Computes the findings, sums of tokens, turns and coverage of a session that is sent.

import { type Coverage, coverageOf, originOf } from '../../analysis/fragments/telemetry-and-transcripts.ts'
import type { FindingRecord } from '../../analysis/records/finding.ts'
import { type SessionFragments, unpackFragments } from '../../analysis/records/fragments.ts'
import {
  allTokens,
  type KnownTokens,
  notesOf,
  type SessionRecord,
  TOKEN_KINDS,
  type Tokens,
  type TurnRecord,
} from '../../analysis/records/session.ts'
import { normalizeTimestamp } from '../../base/dates.ts'
import { MONEY_DECIMALS, scaled, unscaled } from '../../base/decimals.ts'
import { derivedId } from '../../base/ids.ts'
import type { StoredFinding, TurnDetail } from './model.ts'

/** Fills in what the findings of a session leave out. */
export function findingsOf(
  sessionId: string,
  findings: readonly FindingRecord[],
  createdAt: string,
): StoredFinding[] {
  /** Equal findings are counted: each gets an id of its own, and the same id when the session is sent again. */
  const counts = new Map<string, number>()
  return findings.map((finding) => {
    const { title, file, line, turn_number } = finding
    const ruleId = finding.rule_id ?? 'unknown'
    const place = [ruleId, title ?? '', file ?? '', line ?? 0, turn_number ?? 0]
    const fingerprint =
      finding.fingerprint ?? derivedId('finding', ...place, finding.severity).slice('finding_'.length)
    const key = JSON.stringify([fingerprint, ...place])
    const nth = counts.get(key) ?? 0
    counts.set(key, nth + 1)
    return {
      id: finding.id ?? derivedId('finding', sessionId, fingerprint, ...place, ...(nth === 0 ? [] : [nth])),
      rule_id: ruleId,
      category: finding.category ?? 'other',
      severity: finding.severity,
      title: title ?? ruleId,
      description: finding.description ?? null,
      file: file ?? null,
      line: line ?? null,
      turn_number: turn_number ?? null,
      fingerprint,
      status: finding.status ?? 'open',
      ...(finding.assignee == null ? {} : { assignee: finding.assignee }),
      ...(finding.note === undefined ? {} : { note: finding.note }),
      created_at: finding.created_at ? normalizeTimestamp(finding.created_at) : createdAt,
    }
  })
}

export function sumTokens(turns: readonly TurnDetail[]): Tokens {
  const sum = allTokens()
  let hour = 0
  for (const { tokens } of turns) {
    for (const kind of TOKEN_KINDS) sum[kind] += tokens?.[kind] ?? 0
    hour += tokens?.cache_creation_1h ?? 0
  }
  return hour === 0 ? sum : { ...sum, cache_creation_1h: hour }
}

export function turnDetail(
  turn: TurnRecord,
  index: number,
  cost: number | null,
  storeContent: boolean,
): TurnDetail {
  return {
    turn_number: turn.turn_number ?? index + 1,
    role: turn.role ?? 'assistant',
    model: turn.model ?? null,
    ...(turn.tier == null ? {} : { tier: turn.tier }),
    ...notesOf(turn),
    started_at: turn.started_at ? normalizeTimestamp(turn.started_at) : null,
    tokens: turn.tokens ? allTokens(turn.tokens) : null,
    cost: cost === null ? null : unscaled(scaled(cost, MONEY_DECIMALS), MONEY_DECIMALS),
    tool_calls: (turn.tool_calls ?? []).map(({ name, ok }) => ({ name, ok: ok ?? null })),
    ...(storeContent && turn.content != null ? { content: turn.content } : {}),
  }
}

/** The parts of a session without telemetry need not be unpacked. */
export function coverageOfRecord(
  { origin, parts }: SessionRecord,
  tokens: KnownTokens | null,
  unpacked?: SessionFragments,
): Coverage {
  const total = TOKEN_KINDS.reduce((sum, kind) => sum + (tokens?.[kind] ?? 0), 0)
  const isTranscript = (origin ?? 'transcript') === 'transcript'
  const fragments = isTranscript || !parts ? undefined : (unpacked ?? unpackFragments(parts))
  if (fragments === undefined) return { transcript: total, telemetry: 0 }
  return coverageOf(fragments, total, origin === 'both' && originOf(fragments) === 'telemetry')
}
