// Collects what the files of a session say while they are read: turns, calls, events, totals, secrets, and lines that were written.

import { compareText, cut } from '../../../base/text.ts'
import type { FoundSecret } from '../../detection/secrets.ts'
import { largerTotals } from '../../fragments/totals.ts'
import {
  type DangerousAction,
  type EventFragment,
  fragmentId,
  type ModeFragment,
  type ModelTotal,
} from '../../records/fragments.ts'
import { type Time, textsIn } from './contents.ts'
import { dangerousActionsOf, sensitiveEdits } from './dangerous-calls.ts'
import { objectOf, textOf } from './json.ts'
import type { LineOwners } from './line-owners.ts'
import { effectsOf, withChangedFiles } from './tool-effects.ts'
import {
  type ApiMessage,
  type Cursor,
  mergeMessage,
  type Place,
  type SecretScan,
  type ToolCall,
  type Turn,
} from './transcript-model.ts'

const MAX_FOLDERS = 50
const UNKNOWN_TIME = '~'
/** Largest number of events of a session; further ones are dropped. */
const MAX_EVENTS = 10_000
const [MAX_TOOL_NAME, MAX_REPOSITORY] = [200, 200]
/** Largest number of pull requests of a session; further ones are dropped. */
const MAX_PULL_REQUESTS = 100
const MAX_PULL_REQUEST = 2_147_483_647

/** Whether `at` is before the time known, of which there may be none. */
const isEarlier = (at: Time, than: string | null | undefined): boolean =>
  than === undefined || (at !== null && (than === null || at < than))

/** Items of a line come after its first one; few lines have a thousand. */
const ITEMS = 1_000

/** Keeps the earliest folders, in whatever order the files are read. */
function noteFolder(folders: Transcript['folders'], folder: string, at: string): void {
  const firstAt = folders.get(folder)
  if (firstAt === undefined || at < firstAt) folders.set(folder, at)
  if (folders.size <= MAX_FOLDERS) return
  const last = byFirstUse(folders).at(-1)
  if (last !== undefined) folders.delete(last)
}

/** Folders from the earliest to the latest. */
export const byFirstUse = (folders: Transcript['folders']): string[] =>
  [...folders].sort(([a, at], [b, bt]) => compareText(at, bt) || compareText(a, b)).map(([folder]) => folder)

const newTurn = (key: string, at: Time, position: number, message: ApiMessage | null = null): Turn => ({
  id: fragmentId(`${message === null ? 'user' : 'assistant'} ${key}`),
  role: message === null ? 'user' : 'assistant',
  at,
  position,
  message,
  content: '',
  contentCut: 0,
})

/** Notes totals that the agent states for the whole session: the largest count. */
export function noteWhole(stated: Pick<Transcript, 'whole'>, totals: ModelTotal[]): void {
  if (totals.length > 0) stated.whole = largerTotals(stated.whole, totals)
}

/** The parts that sessions of files read together share. */
export interface Shared {
  scan: SecretScan
  /** The position in the current file. */
  cursor: Cursor
  owners: LineOwners
}

/**
 * A session while its files are read, independent of the agent's format. Everything is added under a key, so that reading
 * the same line from a second file (a checkpoint, a copy made by resuming) adds nothing.
 */
export class Transcript {
  constructor(
    readonly id: string,
    readonly agent: string,
    private readonly shared: Shared,
  ) {}

  /** The session that started this one, a sub-agent's; null for a session of its own. */
  parentId: string | null = null
  /** URL, name or folder of the repository as the agent recorded it. */
  repository: string | null = null
  /** Pull requests that the agent noted, by name; `acme/checkout#12`. */
  readonly pullRequests = new Map<string, { repo: string; number: number }>()
  /** Working folders, each with the first time that is known of it; `~`, which is later than all, for none. */
  readonly folders = new Map<string, string>()
  /** The first branch, with its time. */
  branch: { at: Time; name: string } | null = null
  title: string | null = null
  firstAt: Time = null
  lastAt: Time = null
  /** The run's beginning and end by the time at which its file was last written, if no line has a time. */
  fileFrom: Time = null
  fileTo: Time = null
  /** It begins with a copy of another session. */
  isFork = false
  /** The prompts by a key of their line. */
  readonly prompts = new Map<string, Turn>()
  /** The answers by the message's id. */
  readonly messages = new Map<string, Turn>()
  readonly calls = new Map<string, ToolCall>()
  /** The results by call id. `searches`: web searches that the result reports. */
  readonly results = new Map<string, { ok: boolean; searches: number }>()
  /** The ids of calls that the user rejected. */
  readonly rejected = new Set<string>()
  readonly events = new Map<string, EventFragment>()
  /** Totals that the agent stated for single runs, by a key of their line. `over`: keys of runs whose totals are in these. */
  readonly runs = new Map<string, { totals: ModelTotal[]; over: string[] }>()
  /** The largest totals that it stated for the whole session. */
  whole: ModelTotal[] | null = null
  /** Notes that hold for calls which have none of their own. */
  readonly notes: NonNullable<ApiMessage['notes']> = {}
  /** Hashes, which may be cut, of the commits that it noted as its own, with the time. */
  readonly madeCommits = new Map<string, string | null>()
  /** The secrets by fingerprint and file. */
  readonly secrets = new Map<string, { place: Place; secret: FoundSecret }>()
  /** Dangerous modes that it ran in, by rule, with the time of first use. */
  readonly modes = new Map<string, ModeFragment>()
  /** Sum of `content.length` over its turns. */
  contentLength = 0
  /** Hashes (64 bits) of the keys of the lines and texts already read, from any file. */
  readonly seen = new Set<bigint>()

  /** Notes a pull request of the session; one without repository or number is left out. */
  addPullRequest(repo: string | null, number: number): void {
    const isKnown = repo !== null && repo !== '' && repo.length <= MAX_REPOSITORY && number > 0
    if (!isKnown || number > MAX_PULL_REQUEST || this.pullRequests.size >= MAX_PULL_REQUESTS) return
    this.pullRequests.set(`${repo}#${number}`, { repo, number })
  }

  /** Extends the session's time range to `at`, notes the working folder, and sets the branch if it has none. */
  noteContext(at: Time, folder: string | null = null, branch: string | null = null): void {
    if (at !== null) {
      if (this.firstAt === null || at < this.firstAt) this.firstAt = at
      if (this.lastAt === null || at > this.lastAt) this.lastAt = at
    }
    if (folder !== null) noteFolder(this.folders, folder, at ?? UNKNOWN_TIME)
    if (branch !== null && isEarlier(at, this.branch?.at)) this.branch = { at, name: branch }
  }

  /** Adds a prompt of the user, unless its id is known. `key`: that of its turn; of several the earliest one's counts. */
  addPrompt(id: string, at: Time, text: string, key = id): void {
    const position = this.nextPosition()
    const turn = newTurn(key, at, position)
    const prompt = this.prompts.get(id)
    if (prompt === undefined) {
      this.prompts.set(id, turn)
      this.scanTurn(turn, text)
      return
    }
    prompt.position = Math.max(prompt.position, position)
    if (isEarlier(at, prompt.at)) Object.assign(prompt, { id: turn.id, at })
  }

  /** Notes that another file has the prompt too: the position in the longest one counts. */
  notePlace(id: string): void {
    const prompt = this.prompts.get(id)
    if (prompt !== undefined) prompt.position = Math.max(prompt.position, this.nextPosition())
  }

  /** Queues a text for the secret scan. */
  scan(
    text: string,
    { turn = null, call = null, where, exposed = false }: Partial<Place> & Pick<Place, 'where'>,
  ): void {
    this.shared.scan.add(text, { transcript: this, turn, call, where, exposed })
  }

  /** Queues a text of a prompt, or of the model's response, for the secret scan. */
  scanTurn(turn: Turn, text: string): void {
    this.scan(text, { turn, where: turn.role === 'user' ? 'a prompt' : 'an answer' })
  }

  /**
   * Adds an API message and returns its turn: the existing one if the message is known. The id alone decides: a sidechain repeats
   * its parent's messages under new request ids, and the lines of stream-json have none.
   */
  addMessage(message: ApiMessage, at: Time): Turn {
    const position = this.nextPosition()
    const created = () => newTurn(message.id, at, position, { ...message })
    const turn = this.messages.getOrInsertComputed(message.id, created)
    if (turn.message !== null) mergeMessage(turn.message, message)
    if (isEarlier(at, turn.at)) turn.at = at
    turn.position = Math.max(turn.position, position)
    return turn
  }

  isFirst(key: string): boolean {
    const { size } = this.seen
    return this.seen.add(Bun.hash.xxHash3(key)).size > size
  }

  /** True when the line was read before for another session: resuming a session copies its lines into a new file. */
  isCopied(key: string): boolean {
    return this.shared.owners.isOfOther(key, this.id)
  }

  /** Adds a tool call to its turn, unless its id is known. `changed`: the files that the agent recorded as changed by it. */
  addCall(turn: Turn, id: string, tool: unknown, toolInput: unknown, changed: readonly string[] = []): void {
    const position = this.nextPosition()
    const storedCall = this.calls.get(id)
    if (storedCall !== undefined) {
      storedCall.position = Math.max(storedCall.position, position)
      return
    }
    const name = cut(textOf(tool) ?? 'unknown', MAX_TOOL_NAME)
    const input = objectOf(toolInput)
    const effects = withChangedFiles(effectsOf(name, input, changed), changed)
    const dangerousActions = dangerousActionsOf(name, input, effects)
    const call: ToolCall = { turn, name, effects, dangerousActions, position }
    this.calls.set(id, call)
    const where = `the input of ${name}`
    this.scan(textsIn(input), { turn, call, where, exposed: effects.exposesInput })
  }

  /**
   * Adds the result of the tool call with this id, and the number of web searches that it reports; false when it was
   * added before. An agent may record a result twice, as the output of the call and as what was done: a failure in
   * either counts.
   */
  addResult(id: string, ok: boolean, text: string, searches = 0): boolean {
    const before = this.results.get(id)
    this.results.set(id, {
      ok: ok && before?.ok !== false,
      searches: Math.max(searches, before?.searches ?? 0),
    })
    if (before !== undefined) return false
    const call = this.calls.get(id) ?? null
    this.scan(text, { turn: call?.turn ?? null, call, where: `the output of ${call?.name ?? 'a tool'}` })
    return true
  }

  /** Notes the files that a call changed, as the agent recorded them: they count, whatever its input named. */
  noteChangedFiles(id: string | undefined, changed: readonly string[]): void {
    const call = this.calls.get(id ?? '')
    if (call === undefined) return
    call.effects = withChangedFiles(call.effects, changed)
    call.dangerousActions = [...call.dangerousActions, ...sensitiveEdits(call.effects.edits)]
  }

  /** Notes the lines that a call wrote in its file, as the agent recorded them: they count, whatever its input says. */
  noteWritten(id: string, keys: string[] | null, path: string | null): void {
    const call = this.calls.get(id)
    const file = path ?? call?.effects.file ?? null
    if (call !== undefined && keys !== null && file !== null)
      call.effects = { ...call.effects, written: [{ path: file, keys, isWhole: false }] }
  }

  /** Adds an interruption, compaction or API error. Of one with the same type and key the earlier time counts. */
  addEvent(type: EventFragment['type'], key: string, at: Time): void {
    const id = fragmentId(`${type} ${key}`)
    const event = this.events.get(id)
    if (event === undefined && this.events.size < MAX_EVENTS)
      this.events.set(id, { id, type, at, turn: null })
    else if (event !== undefined && isEarlier(at, event.at)) event.at = at
  }

  /** Adds a dangerous mode that the session ran in; `at` is kept from its first use. */
  addMode(action: DangerousAction | null, at: Time): void {
    if (action !== null && isEarlier(at, this.modes.get(action.ruleId)?.at))
      this.modes.set(action.ruleId, { id: fragmentId(action.ruleId), action, at })
  }

  /** Notes when a file was written, for a session of which no line has a time: of several files the earlier one counts. */
  noteFileTimes(from: Time, to: Time): void {
    if (!isEarlier(from, this.fileFrom ?? undefined)) return
    this.fileFrom = from
    this.fileTo = to
  }

  private nextPosition(): number {
    const { cursor } = this.shared
    if (--cursor.left < 0) throw new Error('it has too many messages and calls')
    if (cursor.line > 0) {
      return cursor.line * ITEMS + ++cursor.item
    }
    // a session more in a document or a database moves no item of this one
    const item = (cursor.items.get(this.id) ?? 0) + 1
    cursor.items.set(this.id, item)
    return item
  }
}
