import { basename, dirname } from 'node:path'
import { databaseFormat } from './databases.ts'
import { starterOf } from './formats/codex-forks.ts'
import { hasEvents } from './formats/terminal/copilot-store.ts'
import { editorStarter, HEAD_IDS, idInPath, isOfEditor, otherDocument, otherFormat } from './other-formats.ts'
import { isDatabase, isPackedFile, readHead } from './transcript/file-bytes.ts'
import {
  copyText,
  isObject,
  type Json,
  objectOf,
  parseJson,
  textOf,
  timeOf,
  timeOfUuid7,
} from './transcript/json-fields.ts'
import type { Format } from './transcript/transcript-model.ts'

// The format of a file is detected from its first bytes, never from its name: a file called "Gemini" may be Claude's.

/**
 * `document`: one JSON value; `lines`: one JSON value per line; `objects`: JSON objects over any number of lines;
 * `database`: SQLite; `tasks`: one JSON value beside other files of its folder.
 */
export type Layout = 'document' | 'lines' | 'objects' | 'database' | 'tasks'

export type DetectedFormat =
  | {
      kind: 'sessions'
      format: Format
      layout: Layout
      sessionId: string | null
      /** The session that started this one, a sub-agent's. Null for every other. */
      startedBy: string | null
      startedAt: string
      isBackground: boolean
    }
  /** Looks like an agent's file, in a format that is not supported. */
  | { kind: 'unknown'; reason: string }
  /** Any other file. */
  | { kind: 'other' }

/** The head of a folder or a database, which says nothing of their sessions before they are read. */
export const NO_HEAD = { sessionId: null, startedBy: null, startedAt: '', isBackground: false }

/** The bytes that a file's format is detected by. */
export const HEAD_BYTES = 256 * 1024
/** Lines examined: the first ones may be damaged or of a type that all formats share. */
const MAX_SNIFFED_LINES = 200
const CODEX_TYPES = new Set(['session_meta', 'turn_context', 'response_item', 'event_msg', 'compacted'])
const CLAUDE_TYPES = new Set([
  'user',
  'assistant',
  'system',
  'summary',
  'progress',
  'file-history-snapshot',
  'cost-state',
  'queue-operation',
])
const STREAM_TYPES = new Set(['system', 'assistant', 'user', 'result', 'stream_event'])
const NOT_READ = 'not a format we read'
const LOOKS_LIKE_SESSION =
  /"(?:messages|history|transcript|trajectory|conversation|requests|role|sessionId|session_id|sessionID|toolCalls|tool_calls|toolName|type"\s*:\s*"(?:user|assistant|message|session)[^"]*)"/

/**
 * Detects the format of a file from its first 256 KiB, without a packing by gzip or zstd. Errors of the file system, of
 * unpacking and of SQLite are thrown as they are.
 */
export async function detectFormat(path: string): Promise<DetectedFormat> {
  const { head, isWhole } = await readHead(path, HEAD_BYTES)
  if (head.length === 0) return { kind: 'other' }
  if (isDatabase(head)) {
    if (isPackedFile(path)) return { kind: 'unknown', reason: 'a database that is packed: unpack it first' }
    if (isCompanion(path)) return { kind: 'other' }
    const format = await databaseFormat(path)
    if (format === 'copilot' && hasEvents(path)) return { kind: 'other' }
    if (format === null) return { kind: 'unknown', reason: `${NOT_READ} (SQLite)` }
    return { kind: 'sessions', format, layout: 'database', ...NO_HEAD }
  }
  return detectFormatOfText(path, head.toString('utf8').replace(/^\uFEFF/, ''), isWhole)
}

/** Oh My Pi keeps the sessions of sub-agents in a folder that has the name of their session's file. */
const PI_PARENT = /[/\\]\d{4}-\d\d-\d\dT[\d-]+Z_([^/\\]+)[/\\]/

/** The session that started a sub-agent's. Gemini CLI names it by the folder of the sub-agent's chat only. */
function startedByOf(format: Format, path: string, head: string, objects: Objects): string | null {
  if (format === 'codex')
    return starterOf(objectOf(objects().find(({ type }) => type === 'session_meta')?.payload))
  if (isOfEditor(format)) return editorStarter(path, head)
  if (format === 'pi') return PI_PARENT.exec(path)?.[1] ?? null
  const folder = basename(dirname(path))
  return format === 'gemini' && folder !== 'chats' && /"kind"\s*:\s*"subagent"/.test(head) ? folder : null
}

/**
 * True for files about sessions that contain none: `metadata.json`, `sessions-index.json`, `x.state.json`, …
 */
export const isCompanion = (path: string): boolean =>
  /(?:^|[.-])(?:metadata|meta|index|state|settings|summary|package|config|workspace|models|compaction|cursor)\.json$/i.test(
    basename(path),
  ) || OTHER_COMPANIONS.test(basename(path))

/** Files of Cline's, Copilot's and Claude Cowork's sessions beside the one that is read. */
const OTHER_COMPANIONS =
  /^(?:api_conversation_history|context_history|history_item|task_metadata|tracking|local_[\w-]+|\.claude|cowork[\w-]+)\.json$|^session\.db$/

/** Detects the format from the head of a file as text; `isWhole`: the head is the whole file. */
function detectFormatOfText(path: string, head: string, isWhole: boolean): DetectedFormat {
  const objects = firstObjects(head)
  const written = copyText(/"(?:timestamp|startTime)"\s*:\s*"([^"]{10,40})"/.exec(head)?.[1] ?? '')
  const format = formatOfLines(objects)
  const startedAt = written || (timeOf(threadTimeOf(objects)) ?? '')
  const isBackground =
    head.includes('"sessionKind"') && objects().some(({ sessionKind }) => sessionKind === 'bg')
  if (format !== null) {
    const [first, second] = objects()
    const isChat = format === 'gemini' && second === undefined && Array.isArray(first?.messages)
    const isArray = format === 'claude-stream-json' && head.trimStart().startsWith('[')
    const layout = format === 'opencode' ? 'objects' : isChat || isArray ? 'document' : 'lines'
    const sessionId = idOf(format, objects) ?? idInPath(format, path)
    const startedBy = startedByOf(format, path, head, objects)
    return { kind: 'sessions', format, layout, sessionId, startedBy, startedAt, isBackground }
  }
  const hasLines = !objects().next().done
  const document = documentOf(head, hasLines) ?? otherDocument(path, head)
  if (document !== null) {
    const startedBy = startedByOf(document.format, path, head, firstObjects(''))
    return { kind: 'sessions', ...document, startedBy, startedAt, isBackground }
  }
  const isJson = hasLines || /^\s*[{[]\s*["{[]/.test(head)
  // Cline keeps a session's messages beside what it says of the session
  if (!isJson || !LOOKS_LIKE_SESSION.test(head) || /"messages_path"\s*:/.test(head)) return { kind: 'other' }
  return {
    kind: 'unknown',
    reason: isWhole || hasLines ? NOT_READ : `${NOT_READ} (its head is cut off)`,
  }
}

/** Iterates over the objects of the first lines. A line is parsed when it is asked for: mostly the first few tell all. */
type Objects = () => IteratorObject<Json>

function firstObjects(head: string): Objects {
  const lines = head.split('\n', MAX_SNIFFED_LINES)
  const parsed: Json[][] = []
  return function* () {
    for (const [index, line] of lines.entries()) {
      parsed[index] ??= line.includes('{') ? [parseJson(line)].flat().filter(isObject) : []
      yield* parsed[index]
    }
  }
}

/** The time in the first id of a thread that has one. */
const threadTimeOf = (objects: Objects): number | undefined =>
  objects()
    .map((object) => timeOfUuid7(textOf(object.thread_id)))
    .find((time) => time !== undefined)

function formatOfLines(objects: Objects): Format | null {
  for (const object of objects()) {
    const type = textOf(object.type)
    if (type !== null && CODEX_TYPES.has(type) && isObject(object.payload)) return 'codex'
    const other = otherFormat(object, type)
    if (other !== null) return other
    if (isExecEvent(object, type)) return 'codex-exec'
    if (isClaudeLine(object, type)) return 'claude-code'
    if (isStreamLine(object, type)) return 'claude-stream-json'
    if (isGemini(object, type)) return 'gemini'
    if (isOpencode(object)) return 'opencode'
  }
  return null
}

function isClaudeLine(object: Json, type: string | null): boolean {
  const message = objectOf(object.message)
  if (textOf(object.session_id) !== null && object.sessionId === undefined) return false
  // Qwen's lines have the same fields, but `parts` in the messages
  const hasContent = message.content !== undefined && message.parts === undefined
  if (type === null) return textOf(object.sessionId) !== null && isObject(message.usage)
  if (!CLAUDE_TYPES.has(type)) return false
  if (type === 'summary') return textOf(object.leafUuid) !== null
  if (type === 'file-history-snapshot') return isObject(object.snapshot)
  if (type === 'cost-state') return isObject(object.modelUsage)
  if (type === 'user' || type === 'assistant') return hasContent || isObject(message.usage)
  return (
    textOf(object.sessionId) !== null && (object.isSidechain !== undefined || object.operation !== undefined)
  )
}

function isStreamLine(object: Json, type: string | null): boolean {
  if (type === null || !STREAM_TYPES.has(type) || textOf(object.session_id) === null) return false
  if (type === 'system')
    return (
      object.subtype === 'init' &&
      Array.isArray(object.tools) &&
      textOf(object.model)?.startsWith('claude') === true
    )
  if (type === 'result') return object.total_cost_usd !== undefined && object.num_turns !== undefined
  return isObject(object.message) && objectOf(object.message).content !== undefined
}

function isExecEvent(object: Json, type: string | null): boolean {
  if (type === 'thread.started') return textOf(object.thread_id) !== null
  return type === 'item.completed' && textOf(objectOf(object.item).id) !== null
}

function isGemini(object: Json, type: string | null): boolean {
  if (textOf(object.projectHash) !== null && textOf(object.sessionId) !== null) return true
  return type === 'gemini' && textOf(object.id) !== null
}

function isOpencode(object: Json): boolean {
  const isPart = textOf(object.messageID)?.startsWith('msg') === true && textOf(object.sessionID) !== null
  const isMessage = textOf(object.sessionID) !== null && textOf(object.role) !== null && isObject(object.time)
  const isExport =
    textOf(objectOf(object.info).id)?.startsWith('ses') === true && Array.isArray(object.messages)
  return isPart || isMessage || isExport
}

// A document over many lines, or one line longer than the head, is recognized by its keys. `hasLines`: a line is an object.
function documentOf(
  head: string,
  hasLines: boolean,
): { format: Format; layout: Layout; sessionId: string | null } | null {
  const id = (key: string) => {
    const found = new RegExp(`"${key}"\\s*:\\s*"([^"\\\\]{1,200})"`).exec(head)?.[1]
    return found === undefined ? null : copyText(found)
  }
  if (
    /^\s*\{/.test(head) &&
    id('projectHash') !== null &&
    id('sessionId') !== null &&
    /"messages"\s*:\s*\[/.test(head)
  ) {
    return { format: 'gemini', layout: 'document', sessionId: id('sessionId') }
  }
  const isResult = /"total_cost_usd"\s*:/.test(head) && /"num_turns"\s*:/.test(head)
  const isInit = /"subtype"\s*:\s*"init"/.test(head) && /"tools"\s*:\s*\[/.test(head)
  if (!hasLines && /^\s*[[{]/.test(head) && id('session_id') !== null && (isResult || isInit))
    return { format: 'claude-stream-json', layout: 'document', sessionId: id('session_id') }
  const isParts =
    id('sessionID')?.startsWith('ses') === true && (id('messageID') !== null || id('role') !== null)
  const isExport = /"info"\s*:\s*\{\s*"id"\s*:\s*"ses/.test(head)
  if (/^\s*\{/.test(head) && (isParts || isExport))
    return { format: 'opencode', layout: 'objects', sessionId: id('sessionID') }
  return null
}

function idOf(format: Format, objects: Objects): string | null {
  for (const object of objects()) {
    const id =
      format === 'codex'
        ? object.type === 'session_meta' && textOf(objectOf(object.payload).id)
        : format in HEAD_IDS
          ? HEAD_IDS[format]?.(object)
          : (textOf(object.thread_id) ??
            textOf(object.sessionId) ??
            textOf(object.session_id) ??
            textOf(object.sessionID))
    if (id) return id
  }
  return null
}
