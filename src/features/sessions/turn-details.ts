import { type Coverage, coverageOf, originOf } from '../../analysis/fragments/telemetry.ts'
import { type SessionFragments, unpackFragments } from '../../analysis/records/fragments.ts'
import type {
  KnownTokens,
  SessionRecord,
  Tokens,
  ToolUse,
  TurnRecord,
} from '../../analysis/records/session.ts'
import { normalizeTimestamp } from '../../base/dates.ts'
import { MONEY_DECIMALS, scaled, unscaled } from '../../base/decimals.ts'
import type { TurnDetail } from './model.ts'

export const allTokens = (tokens: Partial<Tokens>): Tokens => ({
  input: tokens.input ?? 0,
  output: tokens.output ?? 0,
  cache_read: tokens.cache_read ?? 0,
  cache_creation: tokens.cache_creation ?? 0,
})

export function sumTokens(turns: readonly TurnDetail[]): Tokens {
  const sum: Tokens = { input: 0, output: 0, cache_read: 0, cache_creation: 0 }
  for (const { tokens } of turns) {
    if (tokens === null) continue
    sum.input += tokens.input
    sum.output += tokens.output
    sum.cache_read += tokens.cache_read
    sum.cache_creation += tokens.cache_creation
  }
  return sum
}

export function countTools(turns: readonly TurnDetail[]): ToolUse[] {
  const byName = new Map<string, ToolUse>()
  for (const call of turns.flatMap((turn) => turn.tool_calls)) {
    const use = byName.get(call.name) ?? { name: call.name, calls: 0, errors: 0 }
    use.calls += 1
    if (call.ok === false) use.errors += 1
    byName.set(call.name, use)
  }
  return [...byName.values()].sort((a, b) => b.calls - a.calls || (a.name < b.name ? -1 : 1))
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
