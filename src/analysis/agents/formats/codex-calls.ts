// Collects the tool calls of a Codex rollout. A call's item has the id of the call. Newer models have one tool, `exec`, for
// JavaScript that runs any number of commands: its items have ids of their own, and they are the calls that count. The script
// itself counts as a call where none was recorded before it ended, or where it failed though none of its items did.

import { blockText, type Time } from '../transcript/contents.ts'
import { isObject, type Json, objectOf, parseJson, textOf } from '../transcript/json.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { Turn } from '../transcript/transcript-model.ts'
import { type DoneItem, doneBy, isNamedIn, scriptInput } from './codex-items.ts'

const EXIT_CODE = /(?:Process exited with code|^Exit code:?) (\d+)/m
const FAILED =
  /^(?:apply_patch verification failed|failed to parse|execution error|exec_command failed|exec command rejected|Script (?:failed|terminated))/i
/** Characters of an output that are searched for the exit code. */
const EXIT_HEAD = 400
/** Scripts that ended of which a command may still run. */
const MAX_ENDED = 100
const SCRIPT_TOOL = 'exec'
/** The head of a script's output that comes before the script ends. */
const STILL_RUNNING = /^Script running/

/** A call of JavaScript. */
interface Script {
  id: string
  source: string
  /** Null until the API call that asked for it is read. */
  turn: Turn | null
  items: number
  failedItems: number
}

export const newCodexCalls = (transcript: Transcript) => ({
  transcript,
  /** Keys of the texts and calls of this file: lines that repeat one add nothing. */
  known: new Set<string>(),
  /** Ids of the calls of this file that have their turn. */
  added: new Set<string>(),
  ...nothingPending(),
  scripts: new Map<string, Script>(),
  /** These ended without an item, so that one of their commands may still run; the latest is first. */
  ended: [] as Script[],
  lastScript: undefined as Script | undefined,
})

export type CodexCalls = ReturnType<typeof newCodexCalls>

const nothingPending = () => ({
  /** Adds texts and calls to the turn of their API call, once its usage is read. */
  pending: [] as ((turn: Turn) => void)[],
  /** The time of the first of them, and an id of the API call: of its first text or call, which is written before its usage. */
  pendingAt: null as string | null,
  pendingId: null as string | null,
  /** Ids of the calls among them. */
  waiting: new Set<string>(),
})

export function defer(calls: CodexCalls, at: Time, id: string, add: (turn: Turn) => void): void {
  calls.pending.push(add)
  calls.pendingAt ??= at
  calls.pendingId ??= `${at} ${id}`
}

/** Adds all that waits to the turn of its API call. */
export function settle(calls: CodexCalls, turn: Turn): void {
  for (const add of calls.pending) add(turn)
  Object.assign(calls, nothingPending())
}

/** Drops all that waits: it is of another thread's API call. */
export function drop(calls: CodexCalls): void {
  Object.assign(calls, { ...newCodexCalls(calls.transcript), known: calls.known })
}

/** True the first time that this key is passed for the file. What another file added has the same id, and is added once. */
export function isFirstInFile({ known }: CodexCalls, key: string): boolean {
  const { size } = known
  return known.add(key).size > size
}

function addCall(
  calls: CodexCalls,
  turn: Turn,
  id: string,
  ...call: [unknown, unknown, (readonly string[])?]
): void {
  calls.added.add(id)
  calls.transcript.addCall(turn, id, ...call)
}

/** Reads a call that the model made. */
export function readCall(calls: CodexCalls, id: string, payload: Json, at: Time): void {
  if (isFirstInFile(calls, `call ${id}`)) {
    const name = textOf(payload.name) ?? String(payload.type)
    if (name === SCRIPT_TOOL && typeof payload.input === 'string') {
      const script: Script = { id, source: payload.input, turn: null, items: 0, failedItems: 0 }
      calls.scripts.set(id, script)
      calls.lastScript = script
      defer(calls, at, id, (turn) => {
        script.turn = turn
      })
    } else {
      calls.waiting.add(id)
      defer(calls, at, id, (turn) => addCall(calls, turn, id, name, inputOf(payload)))
    }
  }
  if (payload.type === 'web_search_call') readResult(calls, id, at, payload.status !== 'failed', '')
}

function inputOf(payload: Json): Json {
  if (typeof payload.arguments === 'string')
    return objectOf(parseJson(payload.arguments) ?? { text: payload.arguments })
  if (typeof payload.input === 'string') return { input: payload.input }
  return objectOf(payload.action ?? payload.arguments ?? payload.input)
}

export function readOutput(calls: CodexCalls, id: string, output: unknown, at: Time): void {
  const text = outputText(output)
  const script = calls.scripts.get(id)
  if (script === undefined) {
    readResult(calls, id, at, isSuccess(output, text), text)
    return
  }
  scanText(calls, script, at, text, 'the output of exec')
  if (!STILL_RUNNING.test(text)) endScript(calls, script, at, isSuccess(output, text))
}

export function readItem(calls: CodexCalls, item: Json, at: Time): void {
  const { transcript, waiting, added, ended } = calls
  const id = textOf(item.id)
  const done = doneBy(item)
  if (id === null || done === null) return
  const isOfModel = waiting.has(id) || added.has(id)
  const script = isOfModel ? undefined : scriptOf(calls, done)
  if (!isOfModel && (script === undefined || !isFirstInFile(calls, `call ${id}`))) return
  const isLate = script !== undefined && ended.includes(script)
  const callId = isLate ? script.id : id
  if (script === undefined || isLate) {
    whenAdded(calls, callId, at, () => noteDone(transcript, callId, done))
  } else {
    script.items += 1
    if (!done.ok) script.failedItems += 1
    inTurn(calls, script, at, (turn) => {
      addCall(calls, turn, id, done.name, done.input, done.changed)
      transcript.addResult(id, done.ok, done.output)
    })
  }
  if (done.isDeclined) transcript.rejected.add(callId)
}

/** Notes on a call what was done for it. */
function noteDone(transcript: Transcript, id: string, { ok, output, changed }: DoneItem): void {
  const call = transcript.calls.get(id) ?? null
  const isNoted = !transcript.isFirst(`done ${id} ${Bun.hash(JSON.stringify([output, changed]))}`)
  // a command that goes on after its call answers has more output
  if (!transcript.addResult(id, ok, output) && !isNoted)
    transcript.scan(output, { turn: call?.turn ?? null, call, where: 'the output of a command' })
  if (!isNoted) transcript.noteChangedFiles(id, changed)
}

/** The script that names what was done, else the first of those that run, better one that has done nothing; else the last. */
function scriptOf({ scripts, ended, lastScript }: CodexCalls, { marks }: DoneItem): Script | undefined {
  const running = [...scripts.values()]
  return (
    [...running, ...ended].find(({ source }) => isNamedIn(source, marks)) ??
    running.find(({ items }) => items === 0) ??
    running[0] ??
    lastScript
  )
}

/** Reads the scripts that did not end. To be called at the end of the file. */
export function endScripts(calls: CodexCalls): void {
  for (const script of calls.scripts.values()) {
    const text = script.items > 0 ? scriptInput(script.source).input : script.source
    scanText(calls, script, null, text, 'the input of exec')
  }
}

function endScript(calls: CodexCalls, script: Script, at: Time, ok: boolean): void {
  const { transcript } = calls
  calls.scripts.delete(script.id)
  const input = scriptInput(script.source)
  if (script.items > 0 && (ok || script.failedItems > 0)) {
    scanText(calls, script, at, input.input, 'the input of exec')
    return
  }
  if (script.items === 0) calls.ended = [script, ...calls.ended].slice(0, MAX_ENDED)
  if (script.turn === null) calls.waiting.add(script.id)
  inTurn(calls, script, at, (turn) => {
    addCall(calls, turn, script.id, SCRIPT_TOOL, input)
    transcript.addResult(script.id, ok, '')
  })
}

function scanText(calls: CodexCalls, script: Script, at: Time, text: string, where: string): void {
  const { transcript } = calls
  inTurn(calls, script, at, (turn) => {
    if (transcript.isFirst(`${where} ${script.id} ${Bun.hash(text)}`)) transcript.scan(text, { turn, where })
  })
}

function inTurn(calls: CodexCalls, { id, turn }: Script, at: Time, add: (turn: Turn) => void): void {
  if (turn === null) defer(calls, at, id, add)
  else add(turn)
}

// before the usage of an API call is read, its calls have no turn
function whenAdded(calls: CodexCalls, id: string, at: Time, add: () => void): void {
  if (calls.waiting.has(id)) defer(calls, at, id, add)
  else add()
}

function readResult(calls: CodexCalls, id: string, at: Time, ok: boolean, text: string): void {
  whenAdded(calls, id, at, () => calls.transcript.addResult(id, ok, text))
}

function outputText(output: unknown): string {
  if (typeof output !== 'string') return textOf(objectOf(output).content) ?? blockText(output)
  const parsed = output.startsWith('{') ? parseJson(output) : undefined
  return isObject(parsed) ? (textOf(parsed.output) ?? output) : output
}

// Depends on the version: `success`, `metadata.exit_code` inside JSON, or a phrase in the head of the output.
function isSuccess(output: unknown, text: string): boolean {
  const success = objectOf(output).success
  if (typeof success === 'boolean') return success
  const parsed = typeof output === 'string' && output.startsWith('{') ? parseJson(output) : output
  const exitCode = objectOf(objectOf(parsed).metadata).exit_code
  if (typeof exitCode === 'number') return exitCode === 0
  const head = text.slice(0, EXIT_HEAD)
  if (FAILED.test(head)) return false
  const match = EXIT_CODE.exec(head)
  return match === null || match[1] === '0'
}
