// Types and keys of the facts into which a session is divided: by the day, the model, and what its price depends on.

import type { CallNotes, KnownTokens, SessionNotes, Tokens } from '../records/session.ts'
import { PRICED_KINDS } from '../scoring/prices.ts'

/** The kinds of cost; `other`: searches, and costs without tokens. */
export const COST_KINDS = [...PRICED_KINDS, 'other'] as const

/** Tokens as they are counted; `cache_creation` includes `cache_creation_1h`. */
export interface FactTokens extends Tokens {
  cache_creation_1h: number
}

export type FactTurnTokens = Tokens & { cache_creation_1h?: number }

/** Calls are divided by these too: a session may have several values of each on a day. */
export const FACETS = [
  ...(['version', 'effort', 'skill', 'subagent', 'mcp_server', 'plugin'] as const),
  ...(['tier', 'vendor', 'paid_by'] as const),
] as const
export type Facet = (typeof FACETS)[number]
/** The values of the facet `tier`. */
export const TIERS = ['standard', 'fast', 'flex', 'priority', 'batch', 'long'] as const

type FactNotes = { [Name in keyof CallNotes]?: string | null }

/** A turn record, as far as facts are made of it. */
export interface FactTurn extends FactNotes {
  role: string
  model: string | null
  tier?: string
  started_at: string | null
  tokens: FactTurnTokens | null
  /** US dollars. */
  cost: number | null
  /** `ok` is null for one without a result. */
  tool_calls?: readonly { ok: boolean | null }[]
}

export interface FactSession {
  created_at: string
  turns: number
  /** micro-dollars */
  cost: bigint
  unpriced_tokens: number
  detail: Pick<FactNotes, keyof SessionNotes> & {
    source: string | null
    model: string | null
    models: readonly string[]
    tokens: (KnownTokens & { cache_creation_1h?: number | null }) | null
    ended_at: string | null
    turn_records: readonly FactTurn[]
    /** Counted where no turn says what its tools did. */
    tools_used?: readonly { calls: number; errors: number }[]
  }
}

/** The key of a fact; `day` is of the organization's time zone. */
export interface FactKey {
  day: string
  utc_day: string
  /** '' where the session has no model. */
  model: string
  /** The terms of the price, apart by blanks in the order of the alphabet: tiers, region, `long`, `peak`; else `standard`. */
  price: string
  /** The one that is paid; '' for none. */
  vendor: string
  paid_by: string
}

interface Measures extends FactTokens {
  calls: number
  /** Turns of users; each under what the next call is under. */
  prompts: number
  /** micro-dollars, in the order of `COST_KINDS` */
  costs: bigint[]
  unpriced_tokens: number
}

/** The part of a fact whose calls have these values of `FACETS`. */
export interface FacetPart extends Measures {
  /** In their order; '' for none. A version is with its agent. */
  values: string[]
  turns: number
  main_turns: number
  /**
   * Bits of the facets, and one more for all: in these the part is the first of its session that has its value, so that each
   * session is counted once. The same of the session's parts of one model.
   */
  firsts: number
  model_firsts: number
}

export interface UsageFact extends FactKey, Measures {
  /** Results of tools, and those that failed, counted with the last call. */
  tool_results: number
  tool_errors: number
  /** True of one fact of each session: the first of its first day and main model. */
  is_main: boolean
  /** 1 for one fact of each model of a session, the first of the session's first day. */
  sessions: number
  /** The session's turns of the day, under each of its models. */
  turns: number
  /** The same under its main model only. */
  main_turns: number
  /** They add up to it; none where no call of the session has a value. */
  parts: FacetPart[]
}

/** The vendors that agents' calls are of where nothing says so. */
export const VENDORS: Readonly<Record<string, string>> = {
  'claude-code': 'anthropic',
  codex: 'openai',
  gemini: 'google',
  copilot: 'github',
  cursor: 'cursor',
}

/** The vendor of an agent's calls, where nothing says so; '' for none. */
export const vendorOf = (agent: string | null): string =>
  (agent !== null && Object.hasOwn(VENDORS, agent) ? VENDORS[agent] : undefined) ?? ''

export const STANDARD = 'standard' as const
export const UNKNOWN_PAYER = 'unknown'
