import type { Danger } from '../../detection/dangerous.ts'
import { cut } from '../../text.ts'
import { natureOf } from './commands.ts'
import { dangersOf } from './dangers.ts'
import { type Json, textsIn } from './json.ts'
import type { SecretScan } from './secret-scan.ts'
import type {
  ApiMessage,
  EventType,
  Format,
  MessageTokens,
  Session,
  ToolCall,
  Turn,
} from './session-model.ts'

const MAX_FOLDERS = 50
/** Per session; above it further events are the same story. */
const MAX_EVENTS = 10_000
const MAX_TOOL_NAME = 200

export function newSession(id: string, format: Format): Session {
  return {
    id,
    format,
    repository: null,
    folders: [],
    branch: null,
    title: null,
    firstAt: null,
    lastAt: null,
    prompts: new Map(),
    messages: new Map(),
    calls: new Map(),
    results: new Map(),
    events: new Map(),
    reported: [],
    covered: new Set(),
    secrets: new Map(),
    modes: new Map(),
    contentLength: 0,
    seen: new Set(),
    order: 0,
  }
}

/** Notes when and where something of the session happened. */
export function noteEnvelope(
  session: Session,
  { at, folder, branch }: { at: string | null; folder: string | null; branch?: string | null },
): void {
  if (at !== null) {
    if (session.firstAt === null || at < session.firstAt) session.firstAt = at
    if (session.lastAt === null || at > session.lastAt) session.lastAt = at
  }
  if (folder !== null && session.folders.length < MAX_FOLDERS && !session.folders.includes(folder))
    session.folders.push(folder)
  if (session.branch === null && branch) session.branch = branch
}

function newTurn(session: Session, role: Turn['role'], at: string | null, message: ApiMessage | null): Turn {
  session.order += 1
  return {
    role,
    at: at ?? session.lastAt,
    order: session.order,
    message,
    calls: [],
    content: '',
    contentCut: 0,
  }
}

/** A prompt of the user; false when it was known. */
export function addPrompt(
  session: Session,
  key: string,
  at: string | null,
  text: string,
  scan: SecretScan,
): boolean {
  if (session.prompts.has(key)) return false
  const turn = newTurn(session, 'user', at, null)
  session.prompts.set(key, turn)
  scan.add(text, { session, turn, call: null, where: 'a prompt', outward: false })
  return true
}

const tokenTotal = (tokens: MessageTokens | null): number =>
  tokens === null ? -1 : tokens.input + tokens.output + tokens.cache_read + tokens.cache_creation

/**
 * Finds the same API message in an index, or adds this one. Same: equal id and request id; a line without a request id
 * (stream-json) or of a sidechain (which replays its parent under a new request id) matches by id alone. The sighting
 * with the larger token total is kept: what is logged first is the count at the start of the stream.
 */
export function mergeMessage<Kept extends ApiMessage>(
  index: Map<string, Kept[]>,
  message: ApiMessage,
  create: (message: ApiMessage) => Kept,
): Kept {
  const known = index.get(message.id) ?? []
  const same = known.find((kept) => isSame(kept, message))
  if (same === undefined) {
    const created = create(message)
    known.push(created)
    index.set(message.id, known)
    return created
  }
  const fromParent = same.sidechain && !message.sidechain
  if (fromParent || tokenTotal(message.tokens) > tokenTotal(same.tokens)) {
    same.tokens = message.tokens ?? same.tokens
    same.model = message.model ?? same.model
    same.cost = message.cost ?? same.cost
  }
  same.requestId ??= message.requestId
  if (fromParent) same.sidechain = false
  return same
}

function isSame(a: ApiMessage, b: ApiMessage): boolean {
  return (
    a.requestId === b.requestId || a.requestId === null || b.requestId === null || a.sidechain || b.sidechain
  )
}

/** The turn of an API message, new or known. */
export function addMessage(session: Session, message: ApiMessage, at: string | null): Turn {
  return mergeMessage(session.messages, message, (created) => {
    const turn = newTurn(session, 'assistant', at, null)
    const kept = { ...created, turn }
    turn.message = kept
    return kept
  }).turn
}

/** A tool call of a turn; its result may have been read before it. */
export function addCall(
  session: Session,
  turn: Turn,
  { id, name: fullName, input }: { id: string; name: string; input: Json },
  scan: SecretScan,
): void {
  const known = session.calls.get(id)
  if (known !== undefined && known.turn !== null) return
  const name = cut(fullName, MAX_TOOL_NAME)
  const nature = natureOf(name, input)
  const call: ToolCall = {
    name,
    nature,
    dangers: dangersOf(name, input, nature),
    ok: session.results.get(id) ?? null,
  }
  session.calls.set(id, { call, turn })
  turn.calls.push(call)
  scan.add(textsIn(input), {
    session,
    turn,
    call,
    where: `the input of ${name}`,
    outward: call.nature.outward,
  })
}

/** The result of a tool call, known by its id; false when it was known. */
export function addResult(
  session: Session,
  id: string,
  ok: boolean,
  text: string,
  scan: SecretScan,
): boolean {
  if (session.results.has(id)) return false
  session.results.set(id, ok)
  const known = session.calls.get(id)
  if (known !== undefined) known.call.ok = ok
  const where = known === undefined ? 'the output of a tool' : `the output of ${known.call.name}`
  scan.add(text, { session, turn: known?.turn ?? null, call: known?.call ?? null, where, outward: false })
  return true
}

/** An interruption, rejection, compaction or API error; `key` tells it from others of its type. */
export function addEvent(
  session: Session,
  type: EventType,
  key: string,
  at: string | null,
  turn: Turn | null = null,
): void {
  if (session.events.size < MAX_EVENTS) session.events.set(`${type} ${key}`, { type, at, turn })
}

/** A mode that the session ran in, first seen at `at`. */
export function addMode(session: Session, danger: Danger | null, at: string | null): void {
  if (danger !== null && !session.modes.has(danger.ruleId)) session.modes.set(danger.ruleId, { danger, at })
}
