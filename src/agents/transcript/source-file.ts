import { statedTotals, sumTotals, unattributedTotals } from '../../parts/totals.ts'
import type { ModelTotal } from '../../records/session-parts.ts'
import { picodollarsOf } from '../../scoring/prices.ts'
import { compareText } from '../../text.ts'
import { countOf } from './json-fields.ts'
import type { LineOwners } from './line-owners.ts'
import { newSecretScan } from './secret-scan.ts'
import { addMessage, mergeMessage, newTranscript, noteWhole } from './transcript.ts'
import type {
  ApiMessage,
  Cursor,
  Format,
  MessageTokens,
  SecretScan,
  Transcript,
  Turn,
} from './transcript-model.ts'

/**
 * Tokens by model, each API message counted once. `cache_creation_1h` is a part of `cache_creation`, `reasoning` of
 * `output`.
 */
export type Usage = Record<
  string,
  Partial<MessageTokens> & { input: number; output: number; cache_read: number; cache_creation: number }
>

/** Files that share sessions and so are read together. */
export interface FileGroup {
  /** The transcripts by the agent's session id. */
  transcripts: Map<string, Transcript>
  scan: SecretScan
  /** The position in the current file. */
  cursor: Cursor
  /** Shared by all groups of a run. */
  owners: LineOwners
  /** Ids of the sub-agents whose own file is in the group. */
  subAgentIds: ReadonlySet<string>
}

/** A line of a file that could not be read. */
export interface Unreadable {
  path: string
  /** The number of the line, from 1. */
  line: number
  reason: string
}

/** A file of a group while it is read. */
export interface SourceFile {
  path: string
  group: FileGroup
  unreadable: Unreadable[]
  /** All of them; `unreadable` lists the first 10,000. */
  unreadableCount: number
  /** The messages by message id. */
  messages: Map<string, ApiMessage>
  /** Totals that its results state, by session. */
  stated: Map<string, Pick<Transcript, 'runs' | 'whole'>>
  onBytes(count: number): void
}

/** Unreadable lines listed: bounds the memory for a file that has no other lines. */
const MAX_LISTED = 10_000

export function newFileGroup(
  owners: LineOwners,
  keepContent: boolean,
  subAgentIds: ReadonlySet<string>,
): FileGroup {
  const cursor = { line: 0, item: 0 }
  return { transcripts: new Map(), scan: newSecretScan(keepContent), cursor, owners, subAgentIds }
}

export function newSourceFile(path: string, group: FileGroup, onBytes: (count: number) => void): SourceFile {
  Object.assign(group.cursor, { line: 0, item: 0 })
  return { path, group, unreadable: [], unreadableCount: 0, messages: new Map(), stated: new Map(), onBytes }
}

/** Records an unreadable line of the file, or of `path`, a file inside a folder that is read as one file. */
export function noteUnreadable(file: SourceFile, line: number, reason: string, path = file.path): void {
  file.unreadableCount += 1
  if (file.unreadable.length < MAX_LISTED) file.unreadable.push({ path, line, reason })
}

/** The transcript of the agent's session id; creates it on first use. */
export function transcriptOf(group: FileGroup, format: Format, agentId: string): Transcript {
  const known = group.transcripts.get(agentId)
  if (known !== undefined) return known
  const transcript = newTranscript(agentId, format, group.scan, group.cursor)
  group.transcripts.set(agentId, transcript)
  return transcript
}

/** True when the line was read before for another session: resuming a session copies its lines into a new file. */
export function isCopied(group: FileGroup, transcript: Pick<Transcript, 'id'>, key: string): boolean {
  return group.owners.isOfOther(key, transcript.id)
}

/** Adds an API message to the usage of its file. A message of known id counts once: see `mergeMessage`. */
export function countMessage(file: SourceFile, message: ApiMessage): void {
  if (message.tokens !== null) mergeMessage(file.messages, message, (created) => ({ ...created }))
}

/** Adds an API message to the usage of its file and to its transcript. */
export function noteMessage(
  file: SourceFile,
  transcript: Transcript,
  known: Pick<ApiMessage, 'id' | 'model' | 'tokens'> & Partial<ApiMessage>,
  at: string | null,
): Turn {
  const message = { cost: null, searches: 0, ...known }
  countMessage(file, message)
  return addMessage(transcript, message, at)
}

/** Notes totals that the agent states for the whole session, by model, in its file and its transcript. */
export function noteStated(file: SourceFile, transcript: Transcript, totals: readonly ModelTotal[]): void {
  const stated = file.stated.get(transcript.id) ?? { runs: new Map(), whole: null }
  file.stated.set(transcript.id, stated)
  for (const each of [transcript, stated]) noteWhole(each, sumTotals(totals))
}

export const noTokens = (): MessageTokens => ({
  input: 0,
  output: 0,
  cache_read: 0,
  cache_creation: 0,
  cache_creation_1h: 0,
  reasoning: 0,
})

/**
 * The tokens of a call by an agent's counts, `read` and `written` of the cache. `isInclusive`: the input includes the cache.
 */
export function tokensOfCall(
  counts: Partial<Record<'input' | 'output' | 'read' | 'written' | 'reasoning', unknown>>,
  isInclusive: boolean,
): MessageTokens {
  const [cache_read, cache_creation] = [countOf(counts.read), countOf(counts.written)]
  const input = Math.max(0, countOf(counts.input) - (isInclusive ? cache_read + cache_creation : 0))
  const [output, reasoning] = [countOf(counts.output), countOf(counts.reasoning)]
  return { ...noTokens(), input, output, cache_read, cache_creation, reasoning }
}

/** The tokens of the file by model: of its messages, and what its results state beyond them; `unknown` without a model. */
export function usageOf(file: SourceFile): Usage {
  const sums = new Map<string, MessageTokens>()
  const add = (model: string | null, tokens: MessageTokens) => {
    const sum = sums.get(model ?? 'unknown') ?? noTokens()
    for (const kind of KINDS) sum[kind] += tokens[kind]
    sums.set(model ?? 'unknown', sum)
  }
  const counted: ModelTotal[] = []
  for (const { model, tokens } of file.messages.values()) {
    if (tokens === null) continue
    add(model, tokens)
    counted.push({ model, tokens: countsOf(tokens), cost: null })
  }
  const stated = [...file.stated.values()].flatMap(({ runs, whole }) =>
    statedTotals(
      [...runs].map(([id, run]) => ({ id, ...run })),
      whole,
    ),
  )
  for (const { model, tokens } of unattributedTotals(sumTotals(stated), sumTotals(counted))) {
    const [input, output, cache_read, cache_creation, cache_creation_1h] = tokens
    add(model, { ...noTokens(), input, output, cache_read, cache_creation, cache_creation_1h })
  }
  return Object.fromEntries([...sums].sort(([a], [b]) => compareText(a, b)))
}

const KINDS = ['input', 'output', 'cache_read', 'cache_creation', 'cache_creation_1h', 'reasoning'] as const

/** Returns the tokens of parts: reasoning is part of the output. */
export const countsOf = (tokens: MessageTokens): ModelTotal['tokens'] => [
  tokens.input,
  tokens.output,
  tokens.cache_read,
  tokens.cache_creation,
  tokens.cache_creation_1h,
]

/** A cost in US dollars as an agent reports it, in picodollars; null unless above 0 and below a million. */
export const reportedCost = (dollars: unknown): bigint | null =>
  typeof dollars === 'number' && dollars > 0 && dollars < 1e6 ? picodollarsOf(dollars) : null
