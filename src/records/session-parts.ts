import { gunzipSync } from 'node:zlib'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { count, name, strict } from './fields.ts'
import { Severity } from './finding.ts'
import { MAX_PARTS, PullRequest } from './session.ts'
import './formats.ts'

// The parts of a session: what its agent's files say, each item under a hash of the agent's own id. Parts of the same session
// from other files, laptops and times are merged by these ids, so that nothing counts twice and nothing is lost.

const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
const Id = Type.String({ pattern: '^[a-z0-9]{1,16}$' })
const At = nullable(Type.String({ format: 'timestamp' }))
const Path = Type.String({ minLength: 1, maxLength: 4096 })
/** Input, output, cache read, cache creation, and of that the part that is kept for an hour. */
const Counts = Type.Tuple([count(), count(), count(), count(), count()])
/** Picodollars. */
const Cost = nullable(Type.String({ pattern: '^[0-9]{1,20}$' }))

/** A prompt, or a message of the model: one call of its API. */
export const TurnPart = Type.Object(
  {
    id: Id,
    role: Type.Union([Type.Literal('user'), Type.Literal('assistant')]),
    at: At,
    /** Position in the longest file that has it: the order of turns of the same time. */
    position: count(),
    model: nullable(name(200)),
    tokens: nullable(Counts),
    /** As the agent reported it. */
    cost: Cost,
    /** Web searches, which are billed beside the tokens. */
    searches: count(1e6),
  },
  strict,
)
export type TurnPart = Static<typeof TurnPart>

const Action = Type.Object(
  {
    ruleId: name(100),
    category: Type.Union([Type.Literal('command'), Type.Literal('mode'), Type.Literal('file')]),
    severity: Severity,
    title: Type.String({ maxLength: 500 }),
    description: Type.String({ maxLength: 5_000 }),
    file: nullable(Path),
  },
  strict,
)

/** A call of a tool, and its result. */
const CallPart = Type.Object(
  {
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
    actions: Type.Array(Action, { maxItems: 50 }),
  },
  strict,
)
export type CallPart = Static<typeof CallPart>

const EventPart = Type.Object(
  {
    id: Id,
    type: Type.Union([Type.Literal('interruption'), Type.Literal('compaction'), Type.Literal('api_error')]),
    at: At,
    turn: nullable(Id),
  },
  strict,
)
export type EventPart = Static<typeof EventPart>

/** The place of a secret; its text is never kept. */
const SecretPart = Type.Object(
  {
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
  },
  strict,
)
export type SecretPart = Static<typeof SecretPart>

const ModePart = Type.Object({ id: Id, at: At, action: Action }, strict)
export type ModePart = Static<typeof ModePart>

/** Totals that an agent states, by model; null where it names no model. */
const ModelTotal = Type.Object({ model: nullable(name(200)), tokens: Counts, cost: Cost }, strict)
export type ModelTotal = Static<typeof ModelTotal>
const RunPart = Type.Object(
  {
    id: Id,
    totals: Type.Array(ModelTotal, { maxItems: 100 }),
    /** Runs whose totals are in these. */
    over: Type.Array(Id, { maxItems: 10_000 }),
  },
  strict,
)
export type RunPart = Static<typeof RunPart>

const Times = Type.Object({ from: At, to: At }, strict)

export const SessionParts = Type.Object(
  {
    agent: name(100),
    /** It begins with a copy of another session. */
    isFork: Type.Boolean(),
    times: Times,
    /** Where no line has a time: when the file was last written. */
    fileTimes: Times,
    /** Of two names of a project the one of the higher rank counts, then the earlier one. */
    project: Type.Object({ rank: count(10), at: At }, strict),
    branch: nullable(Type.Object({ at: At, name: name(500) }, strict)),
    /** Only where texts are sent. */
    title: nullable(Type.String({ maxLength: 10_000 })),
    pullRequests: Type.Array(PullRequest, { maxItems: 100 }),
    turns: Type.Array(TurnPart, { maxItems: 500_000 }),
    calls: Type.Array(CallPart, { maxItems: 500_000 }),
    events: Type.Array(EventPart, { maxItems: 10_000 }),
    secrets: Type.Array(SecretPart, { maxItems: 100_000 }),
    modes: Type.Array(ModePart, { maxItems: 100 }),
    /** Totals of single runs, which add up. */
    runs: Type.Array(RunPart, { maxItems: 10_000 }),
    /** The largest totals that the agent stated for the whole session. */
    whole: nullable(Type.Array(ModelTotal, { maxItems: 100 })),
  },
  strict,
)
export type SessionParts = Static<typeof SessionParts>

/** Bytes of unpacked parts. */
const MAX_BYTES = 128 * 1024 * 1024

/** The parts as a text of base64; undefined when they are too large to be kept, so that a record replaces the one before. */
export function packParts(parts: SessionParts): string | undefined {
  const packed = pack(JSON.stringify(parts))
  return packed.length <= MAX_PARTS ? packed : undefined
}

/** Packed parts with their JSON changed; `change` keeps it JSON. */
export function changePacked(packed: string, change: (json: string) => string): string {
  const json = unpackedText(packed)
  const changed = change(json)
  return changed === json ? packed : pack(changed)
}

function pack(json: string): string {
  const bytes = Bun.gzipSync(json)
  // the system in the header (RFC 1952): the same session would have another hash on Windows
  bytes[OS_BYTE] = UNKNOWN_OS
  return Buffer.from(bytes).toString('base64')
}

const OS_BYTE = 9
const UNKNOWN_OS = 255

const unpackedText = (packed: string): string =>
  gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_BYTES }).toString('utf8')

/** Undefined for a text that `packParts` has not made. */
export function unpackParts(packed: string): SessionParts | undefined {
  try {
    const parts: unknown = JSON.parse(unpackedText(packed))
    compiled ??= TypeCompiler.Compile(SessionParts)
    return compiled.Check(parts) ? parts : undefined
  } catch {
    return undefined
  }
}

let compiled: ReturnType<typeof TypeCompiler.Compile<typeof SessionParts>> | undefined

/** The id of a part, from an agent's own id. */
export const partId = (key: string): string => Bun.hash.xxHash3(key).toString(36)
