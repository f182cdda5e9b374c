// Detects the format of a file from its first bytes, never from its name: a file called "Gemini" may be Claude's.

import { basename } from 'node:path'
import { FORMATS } from './format-list.ts'
import { type Format, type Head, type HeadFacts, idIn, type Objects, sessionIdIn } from './formats/format.ts'
import { useDatabase } from './transcript/database.ts'
import { isDatabase, isPackedFile, readHead } from './transcript/file-bytes.ts'
import { copyText, isObject, type Json, parseJson, textOf } from './transcript/json.ts'

export type DetectedFormat =
  /** `format`: its name. */
  | ({ kind: 'sessions'; format: string } & HeadFacts)
  /** Looks like an agent's file, in a format that is not supported. */
  | { kind: 'unknown'; reason: string }
  /** Any other file. */
  | { kind: 'other' }

/** The head of a folder or a database, which says nothing of their sessions before they are read. */
export const NO_HEAD = { sessionId: null, startedBy: null, startedAt: '', isBackground: false }

export const HEAD_BYTES = 256 * 1024
/** Lines examined: the first ones may be damaged or of a type that all formats share. */
const MAX_SNIFFED_LINES = 200
const NOT_READ = 'not a format we read'
const LOOKS_LIKE_SESSION =
  /"(?:messages|history|transcript|trajectory|conversation|requests|role|sessionId|session_id|sessionID|toolCalls|tool_calls|toolName|type"\s*:\s*"(?:user|assistant|message|session)[^"]*)"/
/** Names of files about sessions of several agents: `metadata.json`, `sessions-index.json`, `x.state.json`, … */
const COMPANION =
  /(?:^|[.-])(?:metadata|meta|index|state|settings|summary|package|config|workspace|models|compaction|cursor)\.json$/i

/**
 * Detects the format of a file from its first 256 KiB, without a packing by gzip or zstd. Errors of the file system, of
 * unpacking and of SQLite are thrown as they are.
 */
export async function detectFormat(path: string): Promise<DetectedFormat> {
  const { head, isWhole } = await readHead(path, HEAD_BYTES)
  if (head.length === 0) return { kind: 'other' }
  if (isDatabase(head)) return await detectDatabase(path)
  const text = head.toString('utf8').replace(/^\uFEFF/, '')
  return detectText({ path, text, objects: objectsIn(text) }, isWhole)
}

/** The tables of a database say which format it has. Throws what SQLite says of a damaged or locked file. */
async function detectDatabase(path: string): Promise<DetectedFormat> {
  if (isPackedFile(path)) return { kind: 'unknown', reason: 'a database that is packed: unpack it first' }
  if (isCompanion(path)) return { kind: 'other' }
  const format = await useDatabase(path, ({ tables }) => {
    const hasAll = ([table, columns]: [string, readonly string[]]) =>
      columns.every((column) => tables.get(table)?.has(column))
    return FORMATS.find(
      ({ database }) =>
        database?.columns.some((columns) => Object.entries(columns).every(hasAll)) &&
        database.isAt?.(path) !== false,
    )
  })
  if (format === undefined) return { kind: 'unknown', reason: `${NOT_READ} (SQLite)` }
  if (format.database?.isReadElsewhere?.(path)) return { kind: 'other' }
  return { kind: 'sessions', format: format.name, layout: 'database', ...NO_HEAD }
}

/** True for files about sessions that contain none. */
export const isCompanion = (path: string, head = ''): boolean =>
  COMPANION.test(basename(path)) ||
  FORMATS.some(({ isCompanion: isOf }) => isOf?.(basename(path), head, path) === true)

/** `isWhole`: the head is the whole file. */
function detectText(head: Head, isWhole: boolean): DetectedFormat {
  const { path, text, objects } = head
  const hasLines = !objects().next().done
  const match = findLines(head) ?? findDocument(head, hasLines)
  if (match !== undefined) {
    const { format, ...document } = match
    const { facts = () => ({}), name } = format
    const written = copyText(/"(?:timestamp|startTime)"\s*:\s*"([^"]{10,40})"/.exec(text)?.[1] ?? '')
    const said: Partial<HeadFacts> = { ...facts(head), ...document }
    const { sessionId = idIn(head, sessionIdIn) } = said
    return {
      kind: 'sessions',
      format: name,
      ...NO_HEAD,
      layout: 'lines',
      ...said,
      sessionId,
      startedAt: written || said.startedAt || '',
    }
  }
  const isJson = hasLines || /^\s*[{[]\s*["{[]/.test(text)
  if (!isJson || !LOOKS_LIKE_SESSION.test(text) || isCompanion(path, text)) return { kind: 'other' }
  return { kind: 'unknown', reason: isWhole || hasLines ? NOT_READ : `${NOT_READ} (its head is cut off)` }
}

function objectsIn(head: string): Objects {
  const lines = head.split('\n', MAX_SNIFFED_LINES)
  const parsed: Json[][] = []
  return function* () {
    for (const [index, line] of lines.entries()) {
      parsed[index] ??= line.includes('{') ? [parseJson(line)].flat().filter(isObject) : []
      yield* parsed[index]
    }
  }
}

type Match = { format: Format } & Partial<HeadFacts>

/** The format of the first object that is of one. */
function findLines({ objects }: Head): Match | undefined {
  for (const object of objects()) {
    const type = textOf(object.type)
    const format = FORMATS.find(({ detect }) => detect?.line?.(object, type))
    if (format !== undefined) return { format }
  }
  return undefined
}

/** A document over many lines, or one line longer than the head, is recognized by its keys. */
function findDocument(head: Head, hasLines: boolean): Match | undefined {
  for (const format of FORMATS) {
    const document = format.detect?.document?.(head, hasLines)
    if (document) return { format, ...document }
  }
  return undefined
}
