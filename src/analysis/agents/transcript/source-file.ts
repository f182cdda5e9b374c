// The state in which readers of all formats collect what a file of a session says, and their reading of tokens and costs.

import { largerTotals } from '../../fragments/totals.ts'
import type { ModelTotal } from '../../records/fragments.ts'
import { picodollarsOf } from '../../scoring/prices.ts'
import { countOf, isObject, type Json } from './json.ts'
import { createLimits } from './stated-limits.ts'
import { type Shared, Transcript } from './transcript.ts'
import type { MessageTokens } from './transcript-model.ts'

/** Files that share sessions and so are read together. */
export interface FileGroup extends Shared {
  transcripts: Map<string, Transcript>
  sources: readonly { path: string; format: { name: string }; sessionId: string | null }[]
  /** Its files have several sessions. */
  isShared: boolean
  /** The session that asked for a message, by the message, where the files have several sessions. */
  askedBy: Map<string, string>
  /** The first request of a message, by session and message. */
  requests: Map<string, string>
  /** Totals that its sessions state, by session and `totalKey`. */
  totals: Set<string>
  laterRuns: LaterRun[]
  /** Ids of lines that a fork copied under new ones, by these. */
  origins: Map<string, string>
  /** Told of a file beside one of the group that is not read. */
  onSkipped(path: string, reason: string): void
}

/** A run whose log states more than its usage: that of side calls, or of what was before it. */
export interface LaterRun {
  transcript: Transcript
  key: string
  all: ModelTotal[]
  /** The part that the run itself used. */
  own: ModelTotal[]
  /** The rest, by `totalKey`. */
  before: string
  /** One model has all that the run used, so that the rest may be side calls of others. */
  isOfRun: boolean
}

/** A line of a file that could not be read. */
export interface Unreadable {
  path: string
  line: number
  reason: string
}

/** Unreadable lines listed: bounds the memory for a file that has no other lines. */
const MAX_LISTED = 10_000

export const newFileGroup = (
  group: Pick<FileGroup, 'owners' | 'scan' | 'sources' | 'isShared' | 'onSkipped'>,
): FileGroup => ({
  ...group,
  cursor: { line: 0, item: 0, items: new Map(), left: 0 },
  ...{ transcripts: new Map(), askedBy: new Map(), requests: new Map(), origins: new Map() },
  ...{ totals: new Set(), laterRuns: [] },
})

/** A file of a group while it is read. */
export class SourceFile {
  readonly unreadable: Unreadable[] = []
  /** All of them; `unreadable` lists the first 10,000. */
  unreadableCount = 0
  readonly limits = createLimits()

  constructor(
    readonly path: string,
    readonly agent: string,
    readonly group: FileGroup,
    readonly onBytes: (count: number) => void,
  ) {
    Object.assign(group.cursor, { line: 0, item: 0, items: new Map(), left: Number.POSITIVE_INFINITY })
  }

  /** Records an unreadable line of the file, or of `path`, a file inside a folder that is read as one file. */
  noteUnreadable(line: number, reason: string, path = this.path): void {
    this.unreadableCount += 1
    if (this.unreadable.length < MAX_LISTED) this.unreadable.push({ path, line, reason })
  }

  /** The transcript of the agent's session id; creates it on first use. */
  transcriptOf(agentId: string): Transcript {
    const { agent, group } = this
    return group.transcripts.getOrInsertComputed(agentId, () => new Transcript(agentId, agent, group))
  }
}

/**
 * Notes the agent's own sum for a session that others may have started: sums of several are added. `cost` in picodollars,
 * null for none. Where a file is older than another one, the larger sum counts.
 */
export function noteSum({ id, runs }: Transcript, tokens: MessageTokens, cost: bigint | null): void {
  if (cost === null && isNothing(tokens)) return
  const totals = [totalOf(null, tokens, cost)]
  const key = `sum ${id}`
  runs.set(key, { totals: largerTotals(runs.get(key)?.totals ?? null, totals) ?? totals, over: [] })
}

export const noTokens = (): MessageTokens => ({
  input: 0,
  output: 0,
  cache_read: 0,
  cache_creation: 0,
  cache_creation_1h: 0,
})

const CALL_KINDS = ['input', 'output', 'read', 'written'] as const
type CallCounts = Partial<Record<(typeof CALL_KINDS)[number], unknown>>

/** The tokens of a call by an agent's counts, `read` and `written` of the cache. `isInclusive`: the input includes the cache. */
export function tokensOfCall(counts: CallCounts, isInclusive: boolean): MessageTokens {
  const [cache_read, cache_creation] = [countOf(counts.read), countOf(counts.written)]
  const input = Math.max(0, countOf(counts.input) - (isInclusive ? cache_read + cache_creation : 0))
  return { ...noTokens(), input, output: countOf(counts.output), cache_read, cache_creation }
}

/** The same by the names of its counts, apart by blanks and in the order of `CALL_KINDS`; null without any usage. */
export function tokensBy(names: string, isInclusive: boolean) {
  const kinds = names.split(' ').map((name, index) => [CALL_KINDS[index], name] as const)
  function tokensOf(usage: Json): MessageTokens
  function tokensOf(usage: unknown): MessageTokens | null
  function tokensOf(usage: unknown): MessageTokens | null {
    if (!isObject(usage)) return null
    return tokensOfCall(Object.fromEntries(kinds.map(([kind, name]) => [kind, usage[name]])), isInclusive)
  }
  return tokensOf
}

/** Whether there are none, as where an agent keeps no counts. */
export const isNothing = (tokens: MessageTokens): boolean =>
  Object.values(tokens).every((count) => count === 0)

/** Adds to the first, or takes away from it, and returns it. */
export function addTokens(sum: MessageTokens, tokens: MessageTokens, sign: 1 | -1 = 1): MessageTokens {
  for (const kind of KINDS) sum[kind] += sign * tokens[kind]
  return sum
}

const KINDS = ['input', 'output', 'cache_read', 'cache_creation', 'cache_creation_1h'] as const

export const asCounts = (tokens: MessageTokens): ModelTotal['tokens'] => [
  tokens.input,
  tokens.output,
  tokens.cache_read,
  tokens.cache_creation,
  tokens.cache_creation_1h,
]

/** A total that an agent states. `cost` in picodollars; null for none. */
export const totalOf = (
  model: string | null,
  tokens: MessageTokens,
  cost: bigint | null = null,
): ModelTotal => ({ model, tokens: asCounts(tokens), cost: cost === null ? null : String(cost) })

/** A cost in US dollars as an agent reports it, in picodollars; null unless above 0 and below a million. */
export const reportedCost = (dollars: unknown): bigint | null =>
  typeof dollars === 'number' && dollars > 0 && dollars < 1e6 ? picodollarsOf(dollars) : null
