import type { Danger } from '../../detection/dangerous.ts'
import type { FoundSecret } from '../../detection/secrets.ts'
import type { PricedTokens } from '../../scoring/prices.ts'
import type { CallNature } from './commands.ts'

// A session while its files are read: what every format has in common. Everything added carries a key, so that
// reading the same thing from a second file (a checkpoint, a copy made by resuming) adds nothing.

export type Format = 'claude-code' | 'claude-stream-json' | 'codex' | 'gemini' | 'opencode'

/** `input` without what came from the cache, `output` with reasoning, of which `reasoning` is the part. */
export type MessageTokens = Required<Omit<PricedTokens, 'cache_creation_1h'>> & {
  cache_creation_1h: number
  reasoning: number
}

/** One message of a model's API. Two sightings of it are one message: see `mergeMessage`. */
export interface ApiMessage {
  id: string
  requestId: string | null
  sidechain: boolean
  model: string | null
  tokens: MessageTokens | null
  /** Picodollars as the agent reported them. */
  cost: bigint | null
}

export interface ToolCall {
  name: string
  nature: CallNature
  /** What of it is dangerous, by kind and place. */
  dangers: readonly Danger[]
  /** Null until its result is read. */
  ok: boolean | null
}

export interface Turn {
  role: 'user' | 'assistant'
  at: string | null
  /** Order of reading, for turns of one instant. */
  order: number
  /** Null for prompts. */
  message: ApiMessage | null
  calls: ToolCall[]
  /** Filled only when content is asked for, secrets masked. */
  content: string
  /** Characters that the limit cut off. */
  contentCut: number
}

export type EventType = 'interruption' | 'rejection' | 'compaction' | 'api_error'
export interface SessionEvent {
  type: EventType
  at: string | null
  turn: Turn | null
}

export interface Session {
  id: string
  format: Format
  repository: string | null
  /** Working folders, the first is where it began. */
  folders: string[]
  branch: string | null
  title: string | null
  firstAt: string | null
  lastAt: string | null
  prompts: Map<string, Turn>
  messages: Map<string, (ApiMessage & { turn: Turn })[]>
  calls: Map<string, { call: ToolCall; turn: Turn | null }>
  results: Map<string, boolean>
  events: Map<string, SessionEvent>
  /** Exact totals that the agent gave at the end of a run, and the messages that they cover. */
  reported: { model: string; tokens: MessageTokens; cost: bigint | null }[]
  covered: Set<Turn>
  secrets: Map<string, { place: Place; finding: FoundSecret }>
  /** Dangerous modes that it ran in, by rule, and since when. */
  modes: Map<string, { danger: Danger; at: string | null }>
  contentLength: number
  /** Lines already read, from whichever file. */
  seen: Set<string>
  order: number
}

/** Where in a session a text stands. */
export interface Place {
  session: Session
  turn: Turn | null
  call: ToolCall | null
  /** `a prompt`, `the input of Bash`, … */
  where: string
  /** The text left the machine or was written down: a secret in it is critical. */
  outward: boolean
}
