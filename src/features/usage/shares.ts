import type { Coverage } from '../../analysis/fragments/telemetry.ts'
import { allTokens, type KnownTokens, TOKEN_KINDS, type Tokens } from '../../analysis/records/session.ts'
import { MONEY_DECIMALS, scaled } from '../../base/decimals.ts'

/** The usage of one model in a session. */
export interface CostShare extends Tokens {
  /** '' where the session has no model. */
  model: string
  /** Whether it is the session's `model`: each session has one such share. */
  is_main: boolean
  /** micro-dollars */
  cost: bigint
  unpriced_tokens: number
}

interface Turn {
  model: string | null
  tokens: Tokens | null
  cost: number | null
}

/** A session as its usage is computed from it. */
export interface UsedSession {
  id: string
  project: string
  created_at: string
  turns: number
  /** micro-dollars */
  cost: bigint
  unpriced_tokens: number
  /** hundredths */
  quality: bigint
  user_id: string | null
  user_email: string | null
  coverage: Coverage
  detail: {
    model: string | null
    models: readonly string[]
    tokens: KnownTokens | null
    turn_records: readonly Turn[]
    source: string | null
    branch: string | null
    ended_at: string | null
    pull_requests?: readonly { repo: string; number: number }[]
    security_metadata: { findings: readonly { status: string }[] }
  }
}

interface Weights extends Tokens {
  /** micro-dollars */
  cost: bigint
  unpriced: number
}

const noWeights = (): Weights => ({ ...allTokens(), cost: 0n, unpriced: 0 })
const sumOf = (tokens: Tokens): number =>
  tokens.input + tokens.output + tokens.cache_read + tokens.cache_creation

/** Compares like PostgreSQL's collation "C", by the bytes of UTF-8. */
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/**
 * Divides what a session used among its models: its `model`, `models` and those of its turns. Each kind of tokens is
 * divided in proportion to the tokens of the models' turns; the cost (micro-dollars) in proportion to the turns' costs,
 * else to their tokens; unpriced tokens in proportion to the tokens of turns without a cost. Where there is nothing to go
 * by, the whole is that of the session's `model`. The shares add up to the session.
 */
export function sharesOf({ cost, unpriced_tokens, detail }: UsedSession): CostShare[] {
  const main = detail.model ?? ''
  const tokens = allTokens(detail.tokens)
  const byModel = new Map<string, Weights>([[main, noWeights()]])
  const of = (model: string): Weights => byModel.getOrInsertComputed(model, noWeights)
  for (const model of detail.models) of(model)
  for (const { model } of detail.turn_records) of(model ?? main)
  if (byModel.size === 1) return [{ model: main, is_main: true, cost, ...tokens, unpriced_tokens }]
  for (const turn of detail.turn_records) addTurn(of(turn.model ?? main), turn)
  const models = [...byModel].sort(([a], [b]) => byBytes(a, b))
  const mainAt = models.findIndex(([model]) => model === main)
  const divide = (total: number, weightOf: (weights: Weights) => number): number[] =>
    shares(
      BigInt(total),
      models.map(([, weights]) => BigInt(weightOf(weights))),
      mainAt,
    ).map(Number)
  const hasCosts = models.some(([, weights]) => weights.cost > 0n)
  const costs = shares(
    cost,
    models.map(([, weights]) => (hasCosts ? weights.cost : BigInt(sumOf(weights)))),
    mainAt,
  )
  const kinds = TOKEN_KINDS.map((kind) => [kind, divide(tokens[kind], (weights) => weights[kind])] as const)
  const unpriced = divide(unpriced_tokens, (weights) => weights.unpriced)
  return models.map(([model], index) => ({
    ...(Object.fromEntries(kinds.map(([kind, parts]) => [kind, parts[index]])) as unknown as Tokens),
    model,
    is_main: model === main,
    cost: costs[index] ?? 0n,
    unpriced_tokens: unpriced[index] ?? 0,
  }))
}

function addTurn(weights: Weights, { tokens, cost }: Turn): void {
  if (cost !== null) weights.cost += scaled(cost, MONEY_DECIMALS)
  if (tokens === null) return
  for (const kind of TOKEN_KINDS) weights[kind] += tokens[kind]
  if (cost === null) weights.unpriced += sumOf(tokens)
}

/** `total` in proportion to `weights`, as integers that add up to it; all of it at `rest` where no weight is above 0. */
function shares(total: bigint, weights: readonly bigint[], rest: number): bigint[] {
  const sum = weights.reduce((all, weight) => all + weight, 0n)
  if (sum === 0n) return weights.map((_, index) => (index === rest ? total : 0n))
  let through = 0n
  return weights.map((weight) => {
    const before = (total * through) / sum
    through += weight
    return (total * through) / sum - before
  })
}
