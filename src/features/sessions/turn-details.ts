import { type Coverage, coverageOf, originOf } from '../../analysis/fragments/telemetry.ts'
import { type SessionFragments, unpackFragments } from '../../analysis/records/fragments.ts'
import {
  allTokens,
  type KnownTokens,
  type SessionRecord,
  TOKEN_KINDS,
  type Tokens,
  type TurnRecord,
} from '../../analysis/records/session.ts'
import { normalizeTimestamp } from '../../base/dates.ts'
import { MONEY_DECIMALS, scaled, unscaled } from '../../base/decimals.ts'
import type { TurnDetail } from './model.ts'

export function sumTokens(turns: readonly TurnDetail[]): Tokens {
  const sum = allTokens()
  for (const { tokens } of turns) for (const kind of TOKEN_KINDS) sum[kind] += tokens?.[kind] ?? 0
  return sum
}

/** The turn as it is stored; `cost` is its own or an estimate. */
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
  const total = Object.values(tokens ?? {}).reduce((sum: number, count) => sum + (count ?? 0), 0)
  const isTranscript = (origin ?? 'transcript') === 'transcript'
  const known = isTranscript || !parts ? undefined : (unpacked ?? unpackFragments(parts))
  if (known === undefined) return { transcript: total, telemetry: 0 }
  return coverageOf(known, total, origin === 'both' && originOf(known) === 'telemetry')
}
