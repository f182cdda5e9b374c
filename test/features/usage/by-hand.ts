import { randomFrom } from '../../../src/server/seed/generate.ts'

// Random sessions, and their breakdowns by hand: sums over details as the API gives them.

export const KEYS = [
  'project',
  'member',
  'team',
  'model',
  'agent',
  'branch',
  'ticket',
  'day',
  'week',
  'month',
] as const
/** The teams of members by their ids. */
export const TEAMS: Record<string, string> = { user_ada: 'payments', user_bob: 'web' }
export type Key = (typeof KEYS)[number]

interface Tokens {
  input: number
  output: number
  cache_read: number
  cache_creation: number
}

/** The fields of a session's detail that breakdowns are of. */
/** An item of a breakdown. */
export interface Item {
  key: string | null
  and_key?: string | null
  share: number
  cost: number
  cost_by_kind: Record<string, number>
  sessions: number
  turns: number
  tokens: { input: number }
}

export interface Session {
  id: string
  project_name: string
  created_at: string
  user_id: string | null
  source: string | null
  branch: string | null
  model: string | null
  models: string[]
  turns: number
  estimated_cost: number
  tokens: Tokens
  unpriced_tokens: number
  turn_records: { model: string | null; tokens: Tokens | null; cost: number | null }[]
}

const KINDS = ['input', 'output', 'cache_read', 'cache_creation'] as const

/**
 * Session records with one to three models or none, over five months. Two calls with different seeds give some sessions
 * with the same ids.
 */
export function makeRecords(count: number, seed: number): object[] {
  const random = randomFrom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item
  const tokens = () => ({
    input: below(1_000),
    output: below(300),
    cache_read: below(100_000),
    cache_creation: below(5_000),
  })
  return Array.from({ length: count }, (_, index) => {
    const models = ['large', 'small', 'Odd.1'].slice(0, below(4))
    const turns = Array.from({ length: below(5) }, () => ({
      ...(random() < 0.8 ? { model: pick(models.length > 0 ? models : [null]) } : {}),
      ...(random() < 0.9 ? { tokens: tokens() } : {}),
      ...(random() < 0.6 ? { cost: below(2_000_000) / 1e6 } : {}),
    }))
    const at = Date.UTC(2026, 0, 10) + below(150 * 86_400) * 1_000
    return {
      type: 'session',
      id: `sess_${index}`,
      project_name: `p${below(3)}`,
      created_at: new Date(at).toISOString(),
      ...pick([
        {},
        { user_email: 'Ada@example.com' },
        { user_id: 'user_ada' },
        { user_email: 'bob@example.com' },
      ]),
      ...pick([{}, { source: 'codex' }, { source: 'claude-code' }]),
      ...pick([{}, { branch: 'main' }, { branch: 'feature/ä-SHOP-1' }, { branch: 'SHOP-1_SHOP-2_SHOP-3' }]),
      ...(models.length > 0 && random() < 0.5 ? { model: models[0] } : {}),
      ...(random() < 0.5 ? { models } : {}),
      turns: below(90),
      turn_records: turns,
      ...(random() < 0.3 ? { tokens: tokens() } : {}),
      ...(random() < 0.6 ? { estimated_cost: below(3_000_000) / 1e6 } : {}),
      quality_score: below(10_001) / 100,
      security_metadata: { findings: random() < 0.2 ? [{ severity: 'high' }] : [] },
    }
  })
}

interface Part extends Tokens {
  model: string | null
  ticket: string | null
  cost: bigint
  unpriced: number
}

const micros = (dollars: number) => BigInt(Math.round(dollars * 1e6))
const all = (tokens: Tokens) => KINDS.reduce((sum, kind) => sum + tokens[kind], 0)

/** `total` in proportion to the weights: the whole through each model, rounded down, less what is before it. */
function divide(
  total: bigint,
  weights: Map<string | null, bigint>,
  main: string | null,
): Map<string | null, bigint> {
  const sum = [...weights.values()].reduce((a, b) => a + b, 0n)
  const names = [...weights.keys()].sort((a, b) => Buffer.compare(Buffer.from(a ?? ''), Buffer.from(b ?? '')))
  if (sum === 0n) return new Map(names.map((name) => [name, name === main ? total : 0n]))
  let [through, given] = [0n, 0n]
  return new Map(
    names.map((name) => {
      through += weights.get(name) ?? 0n
      const part = (total * through) / sum - given
      given += part
      return [name, part]
    }),
  )
}

/** The same by the largest remainder. */
function divideByRemainder(
  total: bigint,
  weights: Map<string | null, bigint>,
  main: string | null,
): Map<string | null, bigint> {
  const sum = [...weights.values()].reduce((a, b) => a + b, 0n)
  if (sum === 0n) return divide(total, weights, main)
  const names = [...weights.keys()].sort((a, b) => Buffer.compare(Buffer.from(a ?? ''), Buffer.from(b ?? '')))
  const parts = new Map(names.map((name) => [name, (total * (weights.get(name) ?? 0n)) / sum]))
  const lackOf = (name: string | null) => (total * (weights.get(name) ?? 0n)) % sum
  const left = Number(total - [...parts.values()].reduce((a, b) => a + b, 0n))
  const most = names.toSorted((a, b) => Number(lackOf(b) - lackOf(a)))
  for (const name of most.slice(0, left)) parts.set(name, (parts.get(name) ?? 0n) + 1n)
  return parts
}

function partsOf(session: Session): Part[] {
  const main = session.model
  const models = new Set([main, ...session.models, ...session.turn_records.map(({ model }) => model ?? main)])
  const weights = (weigh: (turn: Session['turn_records'][number]) => bigint) =>
    new Map(
      [...models].map((model) => [
        model,
        session.turn_records
          .filter((turn) => (turn.model ?? main) === model)
          .reduce((sum, turn) => sum + weigh(turn), 0n),
      ]),
    )
  const kinds = KINDS.map(
    (kind) =>
      [
        kind,
        divide(
          BigInt(session.tokens[kind]),
          weights((turn) => BigInt(turn.tokens?.[kind] ?? 0)),
          main,
        ),
      ] as const,
  )
  const byCost = weights(({ cost }) => micros(cost ?? 0))
  const byTokens = weights(({ tokens }) => BigInt(tokens === null ? 0 : all(tokens)))
  const hasCosts = [...byCost.values()].some((cost) => cost > 0n)
  const costs = divideByRemainder(micros(session.estimated_cost), hasCosts ? byCost : byTokens, main)
  const unpriced = divide(
    BigInt(session.unpriced_tokens),
    weights(({ tokens, cost }) => BigInt(tokens === null || cost !== null ? 0 : all(tokens))),
    main,
  )
  const tickets = [...new Set(session.branch?.match(/SHOP-\d/g) ?? [null])].sort()
  return [...models].flatMap((model) => {
    // in equal parts, rounded down; the last ticket has the rest
    const share = (total: bigint, index: number) => {
      const each = total / BigInt(tickets.length)
      return index < tickets.length - 1 ? each : total - each * BigInt(index)
    }
    return tickets.map((ticket, index) => ({
      ...(Object.fromEntries(
        kinds.map(([kind, parts]) => [kind, Number(share(parts.get(model) ?? 0n, index))]),
      ) as unknown as Tokens),
      ...{ model, ticket },
      cost: share(costs.get(model) ?? 0n, index),
      unpriced: Number(share(unpriced.get(model) ?? 0n, index)),
    }))
  })
}

function keyOf(session: Session, part: Part, key: Key): string | null {
  const day = session.created_at.slice(0, 10)
  switch (key) {
    case 'project':
      return session.project_name
    case 'member':
      return session.user_id
    case 'team':
      return TEAMS[session.user_id ?? ''] ?? null
    case 'model':
      return part.model
    case 'agent':
      return session.source
    case 'branch':
      return session.branch
    case 'ticket':
      return part.ticket
    case 'day':
      return day
    case 'week': {
      const date = new Date(`${day}T00:00:00Z`)
      date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
      return date.toISOString().slice(0, 10)
    }
    case 'month':
      return `${day.slice(0, 7)}-01`
  }
}

interface Sums {
  ids: Map<string, number>
  tokens: Tokens
  cost: bigint
  unpriced: number
}

const nothing = (): Sums => ({
  ids: new Map(),
  tokens: { input: 0, output: 0, cache_read: 0, cache_creation: 0 },
  cost: 0n,
  unpriced: 0,
})

function add(sums: Sums, session: Session, part: Part): void {
  sums.ids.set(session.id, session.turns)
  for (const kind of KINDS) sums.tokens[kind] += part[kind]
  sums.cost += part.cost
  sums.unpriced += part.unpriced
}

const shown = ({ ids, tokens, cost, unpriced }: Sums) => ({
  sessions: ids.size,
  turns: [...ids.values()].reduce((sum, turns) => sum + turns, 0),
  tokens,
  cost: Number(cost) / 1e6,
  unpriced_tokens: unpriced,
})

/** The items of a breakdown by cost, largest first, and its total; with `model` only what was used of that model. */
export function sumsByHand(sessions: readonly Session[], by: Key, andBy?: Key, model?: string) {
  const groups = new Map<string, { key: string | null; and_key?: string | null; sums: Sums }>()
  const total = nothing()
  for (const session of sessions) {
    for (const part of partsOf(session)) {
      if (model !== undefined && part.model !== model) continue
      const keys = {
        key: keyOf(session, part, by),
        ...(andBy === undefined ? {} : { and_key: keyOf(session, part, andBy) }),
      }
      const name = JSON.stringify(keys)
      const group = groups.get(name) ?? { ...keys, sums: nothing() }
      groups.set(name, group)
      add(group.sums, session, part)
      add(total, session, part)
    }
  }
  const order = (a: string | null | undefined, b: string | null | undefined): number => {
    if (a == null || b == null) return Number(a == null) - Number(b == null)
    return Buffer.compare(Buffer.from(a), Buffer.from(b))
  }
  const items = [...groups.values()]
    .map(({ sums, ...keys }) => ({ ...keys, ...shown(sums) }))
    .sort((a, b) => b.cost - a.cost || order(a.key, b.key) || order(a.and_key, b.and_key))
  return { items, total: shown(total) }
}
