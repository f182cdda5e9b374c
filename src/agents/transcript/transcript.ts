import type { DangerousAction } from '../../detection/dangerous-actions.ts'
import { largerTotals } from '../../parts/totals.ts'
import { type ModelTotal, partId } from '../../records/session-parts.ts'
import { compareText, cut } from '../../text.ts'
import { dangerousActionsOf, sensitiveEdits } from './dangerous-calls.ts'
import { objectOf, textOf, textsIn } from './json-fields.ts'
import { effectsOf, withChangedFiles } from './tool-effects.ts'
import type {
  ApiMessage,
  Cursor,
  EventType,
  Format,
  MessageTokens,
  SecretScan,
  ToolCall,
  Transcript,
  Turn,
} from './transcript-model.ts'

const MAX_FOLDERS = 50
const UNKNOWN_TIME = '~'
/** Largest number of events of a session; further ones are dropped. */
const MAX_EVENTS = 10_000
const MAX_TOOL_NAME = 200

export function newTranscript(id: string, format: Format, scan: SecretScan, cursor: Cursor): Transcript {
  return {
    id,
    parentId: null,
    format,
    scan,
    repository: null,
    pullRequests: new Map(),
    folders: new Map(),
    branch: null,
    title: null,
    firstAt: null,
    lastAt: null,
    fileFrom: null,
    fileTo: null,
    isFork: false,
    prompts: new Map(),
    messages: new Map(),
    calls: new Map(),
    results: new Map(),
    events: new Map(),
    runs: new Map(),
    whole: null,
    madeCommits: new Map(),
    secrets: new Map(),
    modes: new Map(),
    contentLength: 0,
    seen: new Set(),
    cursor,
  }
}

/** Largest number of pull requests of a session; further ones are dropped. */
const MAX_PULL_REQUESTS = 100
const MAX_REPOSITORY = 200
const MAX_PULL_REQUEST = 2_147_483_647

/** Notes a pull request of the session; one without repository or number is left out. */
export function addPullRequest(transcript: Transcript, repo: string | null, number: number): void {
  const isKnown = repo !== null && repo !== '' && repo.length <= MAX_REPOSITORY && number > 0
  if (!isKnown || number > MAX_PULL_REQUEST || transcript.pullRequests.size >= MAX_PULL_REQUESTS) return
  transcript.pullRequests.set(`${repo}#${number}`, { repo, number })
}

/** Extends the session's time range to `at`, notes the working folder, and sets the branch if it has none. */
export function noteContext(
  transcript: Transcript,
  at: string | null,
  folder: string | null = null,
  branch: string | null = null,
): void {
  if (at !== null) {
    if (transcript.firstAt === null || at < transcript.firstAt) transcript.firstAt = at
    if (transcript.lastAt === null || at > transcript.lastAt) transcript.lastAt = at
  }
  if (folder !== null) noteFolder(transcript.folders, folder, at ?? UNKNOWN_TIME)
  if (branch !== null && isEarlier(at, transcript.branch?.at)) transcript.branch = { at, name: branch }
}

/** Whether `at` is before the time known, of which there may be none. */
const isEarlier = (at: string | null, known: string | null | undefined): boolean =>
  known === undefined || (at !== null && (known === null || at < known))

/** Items of a line come after its first one; few lines have a thousand. */
const ITEMS = 1_000

function nextPosition({ cursor }: Transcript): number {
  cursor.item += 1
  return cursor.line * ITEMS + cursor.item
}

/** Keeps the earliest folders, in whatever order the files are read. */
function noteFolder(folders: Transcript['folders'], folder: string, at: string): void {
  const known = folders.get(folder)
  if (known === undefined || at < known) folders.set(folder, at)
  if (folders.size <= MAX_FOLDERS) return
  const last = byFirstUse(folders).at(-1)
  if (last !== undefined) folders.delete(last)
}

/** Folders from the earliest to the latest. */
export const byFirstUse = (folders: Transcript['folders']): string[] =>
  [...folders].sort(([a, at], [b, bt]) => compareText(at, bt) || compareText(a, b)).map(([folder]) => folder)

function newTurn(
  key: string,
  role: Turn['role'],
  at: string | null,
  message: ApiMessage | null,
  position: number,
): Turn {
  return {
    id: partId(`${role} ${key}`),
    role,
    at,
    position,
    message,
    content: '',
    contentCut: 0,
  }
}

/** Adds a prompt of the user, unless its key is known. */
export function addPrompt(transcript: Transcript, key: string, at: string | null, text: string): void {
  const position = nextPosition(transcript)
  const known = transcript.prompts.get(key)
  if (known !== undefined) {
    known.position = Math.max(known.position, position)
    return
  }
  const turn = newTurn(key, 'user', at, null, position)
  transcript.prompts.set(key, turn)
  scanPrompt(transcript, turn, text)
}

/** Queues a text of a prompt for the secret scan. */
export function scanPrompt(transcript: Transcript, turn: Turn, text: string): void {
  transcript.scan.add(text, { transcript, turn, call: null, where: 'a prompt', exposed: false })
}

const tokenTotal = (tokens: MessageTokens | null): number =>
  tokens === null ? -1 : tokens.input + tokens.output + tokens.cache_read + tokens.cache_creation

/**
 * Finds the entry of the same API message in an index, or adds one. The id alone decides: a sidechain repeats its parent's
 * messages under new request ids, and the lines of stream-json have none. The larger token total is kept: the first line of
 * a message has the counts of the start of the stream.
 */
export function mergeMessage<Kept extends ApiMessage>(
  index: Map<string, Kept>,
  message: ApiMessage,
  create: (message: ApiMessage) => Kept,
): Kept {
  const same = index.get(message.id)
  if (same === undefined) {
    const created = create(message)
    index.set(message.id, created)
    return created
  }
  if (tokenTotal(message.tokens) > tokenTotal(same.tokens)) {
    same.tokens = message.tokens
    same.model = message.model ?? same.model
    same.cost = message.cost ?? same.cost
  }
  same.searches = Math.max(same.searches, message.searches)
  same.request ??= message.request ?? null
  return same
}

/** Adds an API message and returns its turn: the existing one if the message is known. */
export function addMessage(transcript: Transcript, message: ApiMessage, at: string | null): Turn {
  const position = nextPosition(transcript)
  const { turn } = mergeMessage(transcript.messages, message, (created) => {
    const turn = newTurn(message.id, 'assistant', at, null, position)
    const kept = { ...created, turn }
    turn.message = kept
    return kept
  })
  if (isEarlier(at, turn.at)) turn.at = at
  turn.position = Math.max(turn.position, position)
  return turn
}

/** True the first time that this key is passed for this session. */
export function isFirst(transcript: Transcript, key: string): boolean {
  const { size } = transcript.seen
  return transcript.seen.add(Bun.hash.xxHash3(key)).size > size
}

/** Queues a text of the model's response for the secret scan. */
export function scanResponse(transcript: Transcript, turn: Turn, text: string): void {
  transcript.scan.add(text, { transcript, turn, call: null, where: 'an answer', exposed: false })
}

/**
 * Adds a tool call to its turn, unless its id is known. Its result may have been added before. `changed`: the files that the
 * agent recorded as changed by it.
 */
export function addCall(
  transcript: Transcript,
  turn: Turn,
  id: string,
  tool: unknown,
  toolInput: unknown,
  changed: readonly string[] = [],
): void {
  const position = nextPosition(transcript)
  const known = transcript.calls.get(id)
  if (known !== undefined) {
    known.call.position = Math.max(known.call.position, position)
    return
  }
  const name = cut(textOf(tool) ?? 'unknown', MAX_TOOL_NAME)
  const input = objectOf(toolInput)
  const effects = withChangedFiles(effectsOf(name, input, changed), changed)
  const dangerousActions = dangerousActionsOf(name, input, effects)
  const call: ToolCall = { name, effects, dangerousActions, position }
  transcript.calls.set(id, { call, turn })
  const where = `the input of ${name}`
  transcript.scan.add(textsIn(input), { transcript, turn, call, where, exposed: effects.exposesInput })
}

/** Notes the files that a call changed, as the agent recorded them: they count, whatever its input named. */
export function noteChangedFiles(call: ToolCall | undefined, changed: readonly string[]): void {
  if (call === undefined) return
  call.effects = withChangedFiles(call.effects, changed)
  call.dangerousActions = [...call.dangerousActions, ...sensitiveEdits(call.effects.edits)]
}

/** Notes the lines that a call wrote in its file, as the agent recorded them: they count, whatever its input says. */
export function noteWritten(call: ToolCall | undefined, keys: string[] | null, path: string | null): void {
  const file = path ?? call?.effects.file ?? null
  if (call !== undefined && keys !== null && file !== null)
    call.effects = { ...call.effects, written: [{ path: file, keys, isWhole: false }] }
}

/**
 * Adds the result of the tool call with this id, and the number of web searches that it reports; false when it was
 * added before. An agent may record a result twice, as the output of the call and as what was done: a failure in
 * either counts.
 */
export function addResult(
  transcript: Transcript,
  id: string,
  ok: boolean,
  text: string,
  searches = 0,
): boolean {
  const before = transcript.results.get(id)
  transcript.results.set(id, {
    ok: ok && before?.ok !== false,
    searches: Math.max(searches, before?.searches ?? 0),
  })
  if (before !== undefined) return false
  const known = transcript.calls.get(id)
  const where = known === undefined ? 'the output of a tool' : `the output of ${known.call.name}`
  transcript.scan.add(text, {
    transcript,
    turn: known?.turn ?? null,
    call: known?.call ?? null,
    where,
    exposed: false,
  })
  return true
}

/** Adds an interruption, rejection, compaction or API error, in place of one with the same type and key. */
export function addEvent(
  transcript: Transcript,
  type: EventType,
  key: string,
  at: string | null,
  turn: Turn | null = null,
): void {
  if (transcript.events.size < MAX_EVENTS) transcript.events.set(`${type} ${key}`, { type, at, turn })
}

/** Adds a dangerous mode that the session ran in; `at` is kept from its first use. */
export function addMode(transcript: Transcript, action: DangerousAction | null, at: string | null): void {
  if (action !== null && isEarlier(at, transcript.modes.get(action.ruleId)?.at))
    transcript.modes.set(action.ruleId, { action, at })
}

/** Notes when a file was written, for a session of which no line has a time: of several files the earlier one counts. */
export function noteFileTimes(transcript: Transcript, from: string | null, to: string | null): void {
  if (!isEarlier(from, transcript.fileFrom ?? undefined)) return
  transcript.fileFrom = from
  transcript.fileTo = to
}

/** Notes totals that the agent states for the whole session: the largest count. */
export function noteWhole(stated: Pick<Transcript, 'whole'>, totals: ModelTotal[]): void {
  if (totals.length > 0) stated.whole = largerTotals(stated.whole, totals)
}
