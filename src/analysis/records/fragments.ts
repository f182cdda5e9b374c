// Schemas and packed form of the parts of a session. An agent writes a session to several files: a resumed or forked session
// repeats lines of another one, a sub-agent has a file of its own, and two laptops may each have a half. The parts of a session
// are the messages, calls, results and totals that one client read, each under a hash of the agent's own id. The server merges
// parts by these ids, so that nothing counts twice and nothing is lost, and composes the session record from them.

import { gunzipSync } from 'node:zlib'
import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { closed, count, literals, name, nullable } from './fields.ts'
import { Severity } from './finding.ts'
import { CALL_NOTES, MAX_PARTS, PullRequest, SESSION_NOTES } from './session.ts'
import './text-formats.ts'

/** Items of a session; what is beyond is left out by id. */
export const LIMITS = { events: 10_000, secrets: 10_000, modes: 100, runs: 1_000 } as const

const Id = Type.String({ pattern: '^[a-z0-9]{1,16}$' })
const At = nullable(Type.String({ format: 'exact-timestamp' }))
const Path = Type.String({ minLength: 1, maxLength: 4096 })
/** Input, output, cache read, cache creation, and of that the part that is kept for an hour. */
const Counts = Type.Tuple([count(), count(), count(), count(), count()])
/** Picodollars. */
const Cost = nullable(Type.String({ pattern: '^[0-9]{1,20}$' }))

/** A prompt, or a message of the model: one call of its API. */
export const TurnFragment = closed({
  id: Id,
  role: literals(['user', 'assistant']),
  at: At,
  /** Position in the longest file that has it: the order of turns of the same time. */
  position: count(),
  model: nullable(name(200)),
  tokens: nullable(Counts),
  /** The cost that the agent reported. */
  cost: Cost,
  /** The cost by the prices of the client that read it; null where they have none. */
  estimate: Cost,
  /** Web searches, which are billed beside the tokens. */
  searches: count(1e6),
  /** A hash of the API's own id of the call, by which telemetry and transcripts tell of the same one. */
  request: Type.Optional(Id),
  /** The tiers of its price (`fast`, `priority`, `us`, …), apart by blanks; absent for the list price. */
  tier: Type.Optional(name(100)),
  /** They are absent where the agent does not note them. */
  ...Type.Partial(closed(CALL_NOTES)).properties,
  /** Telemetry says so, not a transcript. */
  telemetry: Type.Optional(Type.Literal(true)),
  /** Kinds of tokens, by their index, that telemetry does not say. */
  lacks: Type.Optional(Type.Array(Type.Integer({ minimum: 0, maximum: 3 }), { maxItems: 4 })),
})
export type TurnFragment = Static<typeof TurnFragment>

/** A dangerous action of an agent: a command, a mode, or access to a sensitive file. It has no text of a command. */
const DangerousAction = closed({
  ruleId: name(100),
  category: literals(['command', 'mode', 'file']),
  severity: Severity,
  title: Type.String({ maxLength: 500 }),
  description: Type.String({ maxLength: 5_000 }),
  /** The path as the agent wrote it; null for an action that concerns no file. */
  file: nullable(Path),
})
export type DangerousAction = Static<typeof DangerousAction>

const CallFragment = closed({
  id: Id,
  /** Null while only the result is known. */
  turn: nullable(Id),
  /** Position in the longest file that has it. */
  position: count(),
  name: nullable(name(200)),
  ok: nullable(Type.Boolean()),
  /** Files that it changed. */
  edits: Type.Array(Path, { maxItems: 1_000 }),
  commits: Type.Boolean(),
  tests: Type.Boolean(),
  searches: count(1e6),
  /** The user refused it. */
  rejected: Type.Boolean(),
  actions: Type.Array(DangerousAction, { maxItems: 50 }),
})
export type CallFragment = Static<typeof CallFragment>

/** A call of which nothing is known yet, by the agent's own id. */
export const newCall = (id: string): CallFragment => ({
  ...{ id: fragmentId(id), turn: null, position: 0, name: null, ok: null, edits: [], commits: false },
  ...{ tests: false, searches: 0, rejected: false, actions: [] },
})

const EventFragment = closed({
  id: Id,
  type: literals(['interruption', 'compaction', 'api_error']),
  at: At,
  turn: nullable(Id),
})
export type EventFragment = Static<typeof EventFragment>

/** The place of a secret; its text is never kept. */
const SecretFragment = closed({
  id: Id,
  at: At,
  turn: nullable(Id),
  file: nullable(Path),
  where: Type.String({ maxLength: 500 }),
  exposed: Type.Boolean(),
  ruleId: name(100),
  title: Type.String({ maxLength: 500 }),
  line: count(),
  severity: Severity,
  fingerprint: name(100),
})
export type SecretFragment = Static<typeof SecretFragment>

const ModeFragment = closed({ id: Id, at: At, action: DangerousAction })
export type ModeFragment = Static<typeof ModeFragment>

/** Totals that an agent states, by model; null where it names no model. */
const ModelTotal = closed({ model: nullable(name(200)), tokens: Counts, cost: Cost })
export type ModelTotal = Static<typeof ModelTotal>
const RunFragment = closed({
  id: Id,
  totals: Type.Array(ModelTotal, { maxItems: 100 }),
  /** Runs whose totals are in these; of a sub-agent the calls that stand for it, and itself where its own calls are known. */
  over: Type.Array(Id, { maxItems: LIMITS.runs }),
})
export type RunFragment = Static<typeof RunFragment>

const Times = closed({ from: At, to: At })

export const SessionFragments = closed({
  agent: name(100),
  /** It begins with a copy of another session. */
  isFork: Type.Boolean(),
  times: Times,
  /** The time when the file was last written, which counts if no line has a time. */
  fileTimes: Times,
  /** When telemetry of the session was made; absent without any. */
  telemetry: Type.Optional(Times),
  /** A project may have two names: the one of the higher rank counts, then the earlier one. */
  project: closed({ rank: count(10), at: At }),
  branch: nullable(closed({ at: At, name: name(500) })),
  /** Sent only if texts are sent. */
  title: nullable(Type.String({ maxLength: 10_000 })),
  pullRequests: Type.Array(PullRequest, { maxItems: 100 }),
  turns: Type.Array(TurnFragment, { maxItems: 100_000 }),
  calls: Type.Array(CallFragment, { maxItems: 100_000 }),
  events: Type.Array(EventFragment, { maxItems: LIMITS.events }),
  secrets: Type.Array(SecretFragment, { maxItems: LIMITS.secrets }),
  modes: Type.Array(ModeFragment, { maxItems: LIMITS.modes }),
  /** Totals of single runs, which add up. */
  runs: Type.Array(RunFragment, { maxItems: LIMITS.runs }),
  /** The largest totals that the agent stated for the whole session. */
  whole: nullable(Type.Array(ModelTotal, { maxItems: 100 })),
  /** They hold for turns that say nothing of a field. */
  ...Type.Partial(closed(SESSION_NOTES)).properties,
})
export type SessionFragments = Static<typeof SessionFragments>

/** The parts of a session of which nothing is known yet. */
export const noParts = (agent: string): SessionFragments => ({
  agent,
  isFork: false,
  times: { from: null, to: null },
  fileTimes: { from: null, to: null },
  project: { rank: 0, at: null },
  branch: null,
  title: null,
  pullRequests: [],
  turns: [],
  calls: [],
  events: [],
  secrets: [],
  modes: [],
  runs: [],
  whole: null,
})

/** Largest unpacked parts. Real ones have at most 12 times as many bytes as their packed text has characters. */
const MAX_BYTES = 48 * 1024 * 1024
const MAX_RATIO = 20
const MIN_BYTES = 64 * 1024
/** Largest number of elements and fields of unpacked parts, which bounds the memory of parsing them. */
const MAX_VALUES = 1_000_000

/** The parts as a text of base64; undefined when they are too large to be kept, so that a record replaces the one before. */
export function packFragments(parts: SessionFragments): string | undefined {
  const json = JSON.stringify(parts)
  const packed = pack(json)
  const isSmall =
    packed.length <= MAX_PARTS && Buffer.byteLength(json) <= bytesOf(packed) && hasFewValues(json)
  return isSmall ? packed : undefined
}

/** Packed parts with their JSON changed; `change` keeps it JSON. */
export function changePacked(packed: string, change: (json: string) => string): string {
  const json = unpackedText(packed)
  const changed = change(json)
  return changed === json ? packed : pack(changed)
}

/** Writes an unknown system in the header (RFC 1952): the same session would have another hash on Windows. */
function pack(json: string): string {
  const bytes = Bun.gzipSync(json)
  bytes[OS_BYTE] = UNKNOWN_OS
  return Buffer.from(bytes).toString('base64')
}

const OS_BYTE = 9
const UNKNOWN_OS = 255

const bytesOf = (packed: string): number => Math.min(MAX_BYTES, MIN_BYTES + MAX_RATIO * packed.length)

const unpackedText = (packed: string): string =>
  gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: bytesOf(packed) }).toString('utf8')

/** Whether a JSON text has few enough values to be parsed: counted by its commas and brackets. */
function hasFewValues(json: string): boolean {
  if (json.length <= MAX_VALUES) return true
  let values = 0
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === COMMA || code === BRACKET || code === BRACE) values += 1
  }
  return values <= MAX_VALUES
}

const [COMMA, BRACKET, BRACE] = [44, 91, 123]

/** Undefined for a text that `packFragments` has not made. */
export function unpackFragments(packed: string): SessionFragments | undefined {
  try {
    const json = unpackedText(packed)
    if (!hasFewValues(json)) return undefined
    const parts: unknown = JSON.parse(json)
    compiled ??= TypeCompiler.Compile(SessionFragments)
    return compiled.Check(parts) ? parts : undefined
  } catch {
    return undefined
  }
}

let compiled: ReturnType<typeof TypeCompiler.Compile<typeof SessionFragments>> | undefined

/** The id of a part, from an agent's own id. */
export const fragmentId = (key: string): string => Bun.hash.xxHash3(key).toString(36)
