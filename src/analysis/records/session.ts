// The record of a session, as sync sends it.

import { type Static, Type } from '@sinclair/typebox'
import type { FieldProblem } from '../../base/errors.ts'
import {
  closed,
  component,
  count,
  literals,
  name,
  nullable,
  optional,
  optionals,
  score,
  strict,
  Timestamp,
} from './fields.ts'
import { SecurityRecord } from './finding.ts'

/** Characters of the packed parts of a session. */
export const MAX_PARTS = 4 * 1024 * 1024

/** US dollars; more than 6 decimals are rounded half up when stored. */
const money = Type.Number({ minimum: 0, maximum: 1e6 })

const HOUR = {
  description: 'the part of cache_creation that is kept for an hour; left out where there is none',
}
export const Tokens = closed({
  input: Type.Integer({ minimum: 0, maximum: 1e12, description: 'without what was read from the cache' }),
  output: Type.Integer({ minimum: 0, maximum: 1e12, description: 'reasoning included, as it is billed' }),
  cache_read: count(),
  cache_creation: count(),
  cache_creation_1h: Type.Optional(Type.Integer({ minimum: 0, maximum: 1e12, ...HOUR })),
})
export type Tokens = Static<typeof Tokens>

const Count = Type.Union([Type.Integer({ minimum: 0, maximum: 1e12 }), Type.Null()])
/** Tokens of a session; null are kinds of which nothing is known. */
export const KnownTokens = closed({
  ...{ input: Count, output: Count, cache_read: Count, cache_creation: Count },
  cache_creation_1h: Type.Optional(Type.Union(Count.anyOf, HOUR)),
})
export type KnownTokens = Static<typeof KnownTokens>

export const TOKEN_KINDS = ['input', 'output', 'cache_read', 'cache_creation'] as const
/** A kind that is not known counts as 0. */
export const allTokens = (tokens: Partial<KnownTokens> | null = null): Tokens => ({
  input: tokens?.input ?? 0,
  output: tokens?.output ?? 0,
  cache_read: tokens?.cache_read ?? 0,
  cache_creation: tokens?.cache_creation ?? 0,
  ...(tokens?.cache_creation_1h ? { cache_creation_1h: tokens.cache_creation_1h } : {}),
})

export const VENDORS = [
  ...(['anthropic', 'openai', 'aws', 'google'] as const),
  ...(['github', 'cursor', 'openrouter', 'other'] as const),
] as const
export const PAID_BY = ['plan', 'api', 'unknown'] as const

const text = (description: string) => Type.String({ minLength: 1, maxLength: 200, description })
/** A session may have these notes for those of its turns that say nothing of a field. */
export const SESSION_NOTES = {
  version: text('Of the agent'),
  effort: text('How much the model was asked to think'),
  vendor: Type.Unsafe<(typeof VENDORS)[number]>({
    ...literals(VENDORS),
    description: 'Who is paid for the call',
  }),
  paid_by: literals(PAID_BY),
}
/** An agent may write these on a call, beside its model and tokens. */
export const CALL_NOTES = {
  ...SESSION_NOTES,
  skill: text('That the call was made for'),
  subagent: text('The type of the sub-agent that made it'),
  mcp_server: text('Whose tool led to the call'),
  plugin: text('That skill, sub-agent or server is of'),
}
export type CallNotes = { [Name in keyof typeof CALL_NOTES]?: Static<(typeof CALL_NOTES)[Name]> }
export type SessionNotes = Pick<CallNotes, keyof typeof SESSION_NOTES>
export const SESSION_NOTE_NAMES = ['version', 'effort', 'vendor', 'paid_by'] as const
export const CALL_NOTE_NAMES = [...SESSION_NOTE_NAMES, 'skill', 'subagent', 'mcp_server', 'plugin'] as const

/** The notes that are known, in one order. */
export const notesOf = (
  from: { readonly [Name in keyof CallNotes]?: CallNotes[Name] | null },
  names: readonly (keyof CallNotes)[] = CALL_NOTE_NAMES,
): CallNotes => Object.fromEntries(names.flatMap((name) => (from[name] == null ? [] : [[name, from[name]]])))

/** The maximum is the sum of four counts of `Tokens`. */
export const UnpricedTokens = Type.Integer({
  minimum: 0,
  maximum: 4e12,
  description: 'tokens of all kinds whose price is not known: they add nothing to estimated_cost',
})

export const ToolUse = closed({ name: name(200), calls: count(1e9), errors: count(1e9) })
export type ToolUse = Static<typeof ToolUse>

/** A pull request that the session is linked to, as its agent noted. */
export const PullRequest = component('PullRequest', {
  repo: name(200),
  number: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
})

export const TurnRecord = closed({
  turn_number: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e9 })),
  role: Type.Optional(literals(['user', 'assistant', 'system', 'tool', 'unattributed'])),
  model: optional(name(200)),
  tier: optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        'What its price is in, apart by blanks, where that is not the list price: fast, us, priority, flex, batch.',
    }),
  ),
  ...optionals(CALL_NOTES),
  started_at: optional(Timestamp()),
  tokens: optional(Type.Partial(Tokens, strict)),
  cost: optional(money),
  tool_calls: optional(
    Type.Array(closed({ name: name(200), ok: optional(Type.Boolean()) }), {
      maxItems: 10_000,
    }),
  ),
  content: optional(Type.String({ maxLength: 1_000_000 })),
})
export type TurnRecord = Static<typeof TurnRecord>

export const ObservationRecord = closed({
  id: optional(Type.String({ pattern: '^obs_[A-Za-z0-9_-]{1,64}$', examples: ['obs_4f1c2a'] })),
  type: Type.Optional(name(100)),
  title: Type.Optional(Type.String({ maxLength: 500 })),
  content: optional(Type.String({ maxLength: 10_000 })),
  importance: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
  file_path: optional(Type.String({ maxLength: 4096 })),
  turn_number: optional(Type.Integer({ minimum: 1, maximum: 1e9 })),
  created_at: optional(Timestamp()),
})
export type ObservationRecord = Static<typeof ObservationRecord>

export const QualityFactor = closed({
  name: name(100),
  category: name(100),
  count: Type.Number({ minimum: 0, maximum: 1e12, description: 'what was counted or measured' }),
  weight: Type.Number({ minimum: -100, maximum: 100, description: 'points at full strength' }),
  points: Type.Number({ minimum: -100, maximum: 100, description: 'what it adds to the score' }),
})
export type QualityFactor = Static<typeof QualityFactor>

/** A factor as it may be sent: only what it is called and what it adds are needed. */
const QualityFactorRecord = closed({
  ...Type.Partial(QualityFactor).properties,
  name: QualityFactor.properties.name,
  points: QualityFactor.properties.points,
})
export type QualityFactorRecord = Static<typeof QualityFactorRecord>

export const QualityRecord = closed({
  score: optional(score),
  base: Type.Optional(score),
  factors: Type.Optional(Type.Array(QualityFactorRecord, { maxItems: 100 })),
  breakdown: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^[A-Za-z0-9_.-]{1,100}$' }),
      Type.Number({ minimum: -1000, maximum: 1000 }),
      { additionalProperties: false, maxProperties: 100 },
    ),
  ),
  scored_at: optional(Timestamp()),
  previous_score: optional(score),
})
export type QualityRecord = Static<typeof QualityRecord>

const leftAfter = nullable(Type.Number({ minimum: 0, maximum: 1 }))
/** The fate of a session's commits: shown by the API, ignored in a record. */
export const Landing = closed({
  landed: nullable(
    Type.Boolean({ description: 'Whether the default branch has a commit of it; null where none is known' }),
  ),
  reverted: nullable(
    Type.Boolean({ description: 'Whether a later commit that reverts one of them names it' }),
  ),
  survival: closed(
    { '14': leftAfter, '30': leftAfter },
    { description: 'Of the agents’ lines in its landed commits, how much was there 14 and 30 days later' },
  ),
})

/** Kept beside a session's cost. */
export const StatedCost = Type.Number({
  minimum: 0,
  maximum: 1e6,
  description:
    'US dollars that the agent states for the whole session, at its own prices; the cost is that of the tokens, wherever they have a price',
  examples: [1.926319],
})

/** The sources that tell of a session. */
export const Origin = literals(['transcript', 'telemetry', 'both'])
export type Origin = Static<typeof Origin>

const SessionId = Type.String({ pattern: '^sess_[A-Za-z0-9_-]{1,64}$', examples: ['sess_4f1c2a'] })

/**
 * A session is one conversation of a member with a coding agent, and the unit that cost, quality and findings are counted
 * in. A client sends it as often as it grows, under the agent's own id: the record replaces the stored one, or is merged
 * with it if it has `parts`. Fields that a client leaves out are computed by the server: cost from the tokens of each
 * model, quality from turns and tool calls, findings from the texts.
 */
export const SessionRecord = component('SessionRecord', {
  type: Type.Literal('session'),
  id: SessionId,
  project_name: nullable(name(200)),
  origin: Type.Optional(Origin),
  includes: optional(
    Type.Array(SessionId, {
      maxItems: 1_000,
      description: 'the sessions of its sub-agents: telemetry of theirs belongs to this session',
    }),
  ),
  created_at: Timestamp(),
  user_id: optional(Type.String({ pattern: '^user_[A-Za-z0-9_-]{1,64}$', examples: ['user_4f1c2a'] })),
  user_email: optional(Type.String({ format: 'email', maxLength: 320 })),
  source: optional(name(100)),
  branch: optional(name(500)),
  pull_requests: optional(Type.Array(PullRequest, { maxItems: 100 })),
  model: optional(name(200)),
  models: optional(Type.Array(name(200), { maxItems: 100 })),
  started_at: optional(Timestamp()),
  ended_at: optional(Timestamp()),
  duration_seconds: optional(Type.Number({ minimum: 0, maximum: 1e12 })),
  turns: optional(count(1e9)),
  estimated_cost: optional(money),
  cost_source: optional(literals(['reported', 'estimated'])),
  unpriced_tokens: optional(UnpricedTokens),
  stated_cost: optional(StatedCost),
  ...optionals(SESSION_NOTES),
  quality_score: optional(score),
  tokens: optional(Type.Partial(KnownTokens, strict)),
  tools_used: optional(
    Type.Array(
      closed({ name: name(200), calls: Type.Optional(count(1e9)), errors: Type.Optional(count(1e9)) }),
      { maxItems: 1_000 },
    ),
  ),
  files_touched: optional(Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), { maxItems: 20_000 })),
  summary: optional(Type.String({ maxLength: 10_000 })),
  turn_records: optional(Type.Array(TurnRecord, { maxItems: 50_000 })),
  observations: optional(Type.Array(ObservationRecord, { maxItems: 5_000 })),
  analysis: optional(
    closed({
      summary: optional(Type.String({ maxLength: 10_000 })),
      issues: optional(Type.Array(Type.String({ maxLength: 2_000 }), { maxItems: 1_000 })),
      classification: optional(name(100)),
    }),
  ),
  quality_metadata: optional(QualityRecord),
  security_metadata: optional(SecurityRecord),
  ...Type.Partial(Landing).properties,
  parts: optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_PARTS,
      pattern: '^[A-Za-z0-9+/]+=*$',
      description:
        'what `sync` read of the session, by the ids of its messages: parts of the same session from other files are merged with it. Opaque to other clients',
    }),
  ),
})
export type SessionRecord = Static<typeof SessionRecord>

type CacheWrites = Pick<Partial<KnownTokens>, 'cache_creation' | 'cache_creation_1h'> | null | undefined
/** A part is at most the whole. */
export function sessionProblem(
  { tokens, turn_records }: SessionRecord,
  at: string,
): FieldProblem | undefined {
  const isBeyond = (counts: CacheWrites) => (counts?.cache_creation_1h ?? 0) > (counts?.cache_creation ?? 0)
  const turn = turn_records?.findIndex((each) => isBeyond(each.tokens)) ?? -1
  const place = turn !== -1 ? `.turn_records[${turn}]` : isBeyond(tokens) ? '' : undefined
  return place === undefined
    ? undefined
    : { field: `${at}${place}.tokens.cache_creation_1h`, message: 'must be at most cache_creation' }
}
