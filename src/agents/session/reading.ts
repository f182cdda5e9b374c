import type { Unreadable } from './json-lines.ts'
import { newSecretScan, type SecretScan } from './secret-scan.ts'
import { addMessage, mergeMessage, newSession } from './session.ts'
import type { ApiMessage, Format, MessageTokens, Session, Turn } from './session-model.ts'

/** Tokens of a file by model, each API message once. `cache_creation_1h` and `reasoning` are parts of their neighbours. */
export type Usage = Record<
  string,
  Partial<MessageTokens> & { input: number; output: number; cache_read: number; cache_creation: number }
>

/** Which session a line belongs to that stands in the files of several. Held over a whole run. */
export type LineOwners = Map<number | bigint, string>

/** A group of files read together, since they share sessions. */
export interface Reading {
  sessions: Map<string, Session>
  scan: SecretScan
  owners: LineOwners
  /** Ids of sub-agents whose own file is in the group. */
  agentFiles: ReadonlySet<string>
}

/** One file of it. */
export interface FileReading {
  path: string
  reading: Reading
  unreadable: Unreadable[]
  /** Above the limit they are counted but no longer listed. */
  unreadableCount: number
  messages: Map<string, ApiMessage[]>
  /** Totals that stand for the messages they cover. */
  reported: { model: string; tokens: MessageTokens; covered: ReadonlySet<string> }[]
  onBytes(count: number): void
}

/** A file of garbage must not fill the memory with complaints. */
const MAX_LISTED = 10_000

export function newReading(
  owners: LineOwners,
  keepContent: boolean,
  agentFiles: ReadonlySet<string> = new Set(),
): Reading {
  return { sessions: new Map(), scan: newSecretScan(keepContent), owners, agentFiles }
}

export function newFileReading(
  path: string,
  reading: Reading,
  onBytes: (count: number) => void,
): FileReading {
  return { path, reading, unreadable: [], unreadableCount: 0, messages: new Map(), reported: [], onBytes }
}

/** `path` where it differs: a file of a folder that is read as one. */
export function noteUnreadable(file: FileReading, line: number, reason: string, path = file.path): void {
  file.unreadableCount += 1
  if (file.unreadable.length < MAX_LISTED) file.unreadable.push({ path, line, reason })
}

/** The session of an agent's id, made when it is first met. */
export function sessionOf(reading: Reading, format: Format, agentId: string): Session {
  const known = reading.sessions.get(agentId)
  if (known !== undefined) return known
  const session = newSession(agentId, format)
  reading.sessions.set(agentId, session)
  return session
}

/** True when the line stands in the files of another session that was read before: it is a copy made by resuming. */
export function isCopied(reading: Reading, session: Session, key: string): boolean {
  const hash = Bun.hash(key)
  const owner = reading.owners.get(hash)
  if (owner === undefined) reading.owners.set(hash, session.id)
  return owner !== undefined && owner !== session.id
}

/** Counts an API message for its file, once. */
export function countMessage(file: FileReading, message: ApiMessage): void {
  if (message.tokens !== null) mergeMessage(file.messages, message, (created) => ({ ...created }))
}

/** Counts an API message for its file and its session. */
export function noteMessage(
  file: FileReading,
  session: Session,
  message: ApiMessage,
  at: string | null,
): Turn {
  countMessage(file, message)
  return addMessage(session, message, at)
}

export const noTokens = (): MessageTokens => ({
  input: 0,
  output: 0,
  cache_read: 0,
  cache_creation: 0,
  cache_creation_1h: 0,
  reasoning: 0,
})

/** Adds `more` to `sum`, in place. */
export function addTokens(sum: MessageTokens, more: MessageTokens): void {
  sum.input += more.input
  sum.output += more.output
  sum.cache_read += more.cache_read
  sum.cache_creation += more.cache_creation
  sum.cache_creation_1h += more.cache_creation_1h
  sum.reasoning += more.reasoning
}

/** What the file's messages sum up to, by model; a model the agent did not name is `unknown`. */
export function usageOf(file: FileReading): Usage {
  const sums = new Map<string, MessageTokens>()
  const add = (model: string, tokens: MessageTokens) => {
    const sum = sums.get(model) ?? noTokens()
    addTokens(sum, tokens)
    sums.set(model, sum)
  }
  const covered = new Set(file.reported.flatMap((report) => [...report.covered]))
  for (const { id, model, tokens } of [...file.messages.values()].flat()) {
    if (tokens !== null && !covered.has(id)) add(model ?? 'unknown', tokens)
  }
  for (const { model, tokens } of file.reported) add(model, tokens)
  return Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)))
}
