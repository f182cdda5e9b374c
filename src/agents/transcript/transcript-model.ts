import type { DangerousAction } from '../../detection/dangerous-actions.ts'
import type { FoundSecret } from '../../detection/secrets.ts'
import type { ModelTotal } from '../../records/session-parts.ts'
import type { PricedTokens } from '../../scoring/prices.ts'
import type { CallEffects } from './tool-effects.ts'

// A session while its files are read, independent of the agent's format. Everything is added under a key, so that reading
// the same line from a second file (a checkpoint, a copy made by resuming) adds nothing.

export type Format =
  | ('claude-code' | 'claude-stream-json' | 'codex' | 'codex-exec' | 'gemini' | 'opencode')
  | ('copilot' | 'qwen' | 'pi' | 'droid' | 'goose' | 'amp')
  | ('cline' | 'roo-code' | 'kilo-code' | 'zed' | 'cursor')

/** The agent whose format it is: a run's log and its transcript are of one agent, and may have the same session. */
export function agentOf(format: Format): string {
  if (format === 'claude-stream-json') return 'claude-code'
  return format === 'codex-exec' ? 'codex' : format
}

/** `input` excludes cached tokens, `output` includes `reasoning`, `cache_creation` includes `cache_creation_1h`. */
export type MessageTokens = Required<Omit<PricedTokens, 'cache_creation_1h'>> & {
  cache_creation_1h: number
  reasoning: number
}

/** One response message of a model's API. `mergeMessage` merges the lines that repeat it. */
export interface ApiMessage {
  id: string
  model: string | null
  tokens: MessageTokens | null
  /** Picodollars that the agent reported; null when it reported none. */
  cost: bigint | null
  /** Web searches that its usage reports, which are billed beside its tokens. */
  searches: number
  /** The API's own id of the call, where the agent notes it. */
  request?: string | null
}

export interface ToolCall {
  name: string
  effects: CallEffects
  dangerousActions: readonly DangerousAction[]
  /** The position, like that of a turn. */
  position: number
}

export interface Turn {
  /** The id of its part. */
  id: string
  role: 'user' | 'assistant'
  at: string | null
  /** The position in the longest file that has it: the order of turns with the same time. */
  position: number
  /** Null for prompts. */
  message: ApiMessage | null
  /** Texts of the turn with masked secrets; empty unless content was requested. */
  content: string
  /** Number of characters dropped from `content` by its limit. */
  contentCut: number
}

export type EventType = 'interruption' | 'rejection' | 'compaction' | 'api_error'
interface TranscriptEvent {
  type: EventType
  at: string | null
  turn: Turn | null
}

export interface Transcript {
  id: string
  /** The session that started this one, a sub-agent's; null for a session of its own. */
  parentId: string | null
  format: Format
  /** URL, name or folder of the repository as the agent recorded it. */
  repository: string | null
  /** Pull requests that the agent noted, by name; `acme/checkout#12`. */
  pullRequests: Map<string, { repo: string; number: number }>
  /** The scan that its texts are added to. */
  scan: SecretScan
  /** Working folders, each with the first time that is known of it; `~`, which is later than all, for none. */
  folders: Map<string, string>
  /** The first branch, with its time. */
  branch: { at: string | null; name: string } | null
  title: string | null
  firstAt: string | null
  lastAt: string | null
  /** The run's beginning and end by the time at which its file was last written, if no line has a time. */
  fileFrom: string | null
  fileTo: string | null
  /** It begins with a copy of another session. */
  isFork: boolean
  /** The prompts by a key of their line. */
  prompts: Map<string, Turn>
  /** The messages by message id. */
  messages: Map<string, ApiMessage & { turn: Turn }>
  /** The calls by call id. */
  calls: Map<string, { call: ToolCall; turn: Turn }>
  /** The results by call id. `searches`: web searches that the result reports. */
  results: Map<string, { ok: boolean; searches: number }>
  events: Map<string, TranscriptEvent>
  /** Totals that the agent stated for single runs, by a key of their line. `over`: keys of runs whose totals are in these. */
  runs: Map<string, { totals: ModelTotal[]; over: string[] }>
  /** The largest totals that it stated for the whole session. */
  whole: ModelTotal[] | null
  /** Hashes, which may be cut, of the commits that it noted as its own, with the time. */
  madeCommits: Map<string, string | null>
  /** The secrets by fingerprint and file. */
  secrets: Map<string, { place: Place; secret: FoundSecret }>
  /** Dangerous modes that it ran in, by rule, with the time of first use. */
  modes: Map<string, { action: DangerousAction; at: string | null }>
  /** Sum of `content.length` over its turns. */
  contentLength: number
  /** Hashes (64 bits) of the keys of the lines and texts already read, from any file. */
  seen: Set<bigint>
  /** The position in its files while they are read. */
  cursor: Cursor
}

/** A place in a file: the line, and the number of the item in it or, of a document, in the file. */
export interface Cursor {
  line: number
  item: number
}

/** Collects the texts of the transcripts being read and scans many at a time. */
export interface SecretScan {
  add(text: string, place: Place): void
  /** Scans the collected texts if they are a full batch; to be awaited between lines. */
  flushIfFull(): Promise<void>
  /** Scans the rest. */
  flush(): Promise<void>
}

/** The origin of a scanned text. */
export interface Place {
  transcript: Transcript
  turn: Turn | null
  call: ToolCall | null
  /** `a prompt`, `the input of Bash`, … */
  where: string
  /** The text was sent over the network, committed or written to a file: a secret in it is critical. */
  exposed: boolean
}
