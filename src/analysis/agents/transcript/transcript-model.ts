// Types of what a transcript has: messages, tool calls, turns; `mergeMessage` merges the lines of a message.

import type { FoundSecret } from '../../detection/secrets.ts'
import type { DangerousAction } from '../../records/fragments.ts'
import type { CallNotes, Tokens } from '../../records/session.ts'
import type { Time } from './contents.ts'
import type { CallEffects } from './tool-effects.ts'

/** `input` excludes cached tokens, `output` includes reasoning, `cache_creation` includes `cache_creation_1h`. */
export type MessageTokens = Required<Tokens>

/** One response message of a model's API. `mergeMessage` merges the lines that repeat it. */
export interface ApiMessage {
  id: string
  model: string | null
  tokens: MessageTokens | null
  /** Picodollars that the agent reported; null when it reported none. */
  cost?: bigint | null
  /** Web searches that its usage reports, which are billed beside its tokens. */
  searches?: number
  /** The API's own id of the call, where the agent notes it. */
  request?: string | null
  /** The tiers of its price, by `tierOf`; null for the list price. */
  tier?: string | null
  /** The agent writes them beside. */
  notes?: CallNotes
}

const tokenTotal = (tokens: MessageTokens | null): number =>
  tokens === null ? -1 : tokens.input + tokens.output + tokens.cache_read + tokens.cache_creation

/**
 * Adds to a message what a line says that repeats it. The larger token total is kept: the first line of a message has the
 * counts of the start of the stream.
 */
export function mergeMessage(same: ApiMessage, message: ApiMessage): void {
  if (tokenTotal(message.tokens) > tokenTotal(same.tokens)) {
    same.tokens = message.tokens
    same.model = message.model ?? same.model
    same.cost = message.cost ?? same.cost ?? null
    same.tier = message.tier ?? same.tier ?? null
  }
  if (message.notes !== undefined) same.notes = { ...message.notes, ...same.notes }
  same.model ??= message.model
  same.searches = Math.max(same.searches ?? 0, message.searches ?? 0)
  same.request ??= message.request ?? null
}

export interface ToolCall {
  turn: Turn
  name: string
  effects: CallEffects
  dangerousActions: readonly DangerousAction[]
  position: number
}

export interface Turn {
  /** The id of its part. */
  id: string
  role: 'user' | 'assistant'
  at: Time
  /** The position in the longest file that has it: the order of turns with the same time. */
  position: number
  /** Null for prompts. */
  message: ApiMessage | null
  /** Texts of the turn with masked secrets; empty unless content was requested. */
  content: string
  /** Number of characters dropped from `content` by its limit. */
  contentCut: number
}

/** A place in a file: the line and the number of the item in it or, of a document or database, of each session's items. */
export interface Cursor {
  line: number
  item: number
  items: Map<string, number>
  /** Prompts, messages and calls that the file may still have. */
  left: number
}

/** Collects the texts of the transcripts being read and scans many at a time. */
export interface SecretScan {
  add(text: string, place: Place): void
  /** Scans the collected texts if they are a full batch; to be awaited between lines. */
  flushIfFull(): Promise<void>
  /** Scans the rest. */
  flush(): Promise<void>
}

/** The part of a session that a scan changes. */
interface Scanned {
  /** The secrets by fingerprint and file. */
  secrets: Map<string, { place: Place; secret: FoundSecret }>
  /** Sum of `content.length` over its turns. */
  contentLength: number
}

/** The origin of a scanned text. */
export interface Place {
  /** The session, which keeps the secrets that are found. */
  transcript: Scanned
  turn: Turn | null
  call: ToolCall | null
  /** `a prompt`, `the input of Bash`, … */
  where: string
  /** The text was sent over the network, committed or written to a file: a secret in it is critical. */
  exposed: boolean
}
