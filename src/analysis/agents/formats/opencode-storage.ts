// Finds and reads OpenCode's storage folder, `session/<project>/*.json`, `message/<session>/*.json` and
// `part/<message>/*.json`, and the SQLite database of newer versions, with the same objects in its `data` columns. OpenCode 2
// goes on in the same database, in tables of its own, into which it copies older sessions under their ids: those are in both.

import { statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { MAX_LINE_BYTES } from '../../../base/split-lines.ts'
import { type DatabaseReader, type Row, readRows, wholeText } from '../transcript/database.ts'
import { beyondLimits, isObject, type Json, objectOf, parseJson, textOf } from '../transcript/json.ts'
import { addTokens, noTokens, noteSum, reportedCost, type SourceFile } from '../transcript/source-file.ts'
import { type FolderReader, type Format, type Places, SESSION_KEYS, valueIn } from './format.ts'
import { newOpencodeState, type OpencodeState, opencodeTokens, readObject, readOpencode } from './opencode.ts'
import { readNextRow } from './opencode-2.ts'

/** Reads a storage folder. The parts of a message are read right after it, so that memory holds few parts. */
async function readOpencodeFolder(file: SourceFile): Promise<void> {
  const state = newOpencodeState(file)
  const read = async (missing: Record<string, string>, ...path: string[]) =>
    await readJsonFile(state, join(file.path, ...path), missing)
  const namesIn = async (...path: string[]) => await names(join(file.path, ...path))
  const isFile = (name: string) => name.endsWith('.json')
  for (const name of (await namesIn('project')).filter(isFile)) await read({}, 'project', name)
  for (const project of await namesIn('session'))
    for (const name of await namesIn('session', project)) await read({}, 'session', project, name)
  // the oldest versions have all parts in one folder
  for (const name of (await namesIn('part')).filter(isFile)) await read({}, 'part', name)
  for (const session of await namesIn('message')) {
    for (const name of await namesIn('message', session)) {
      const id = await read({ sessionID: session }, 'message', session, name)
      if (id === null) continue
      // its folder has the name of its file: the id in the file may lead anywhere
      const folder = basename(name, '.json')
      for (const part of await namesIn('part', folder)) await read({ messageID: id }, 'part', folder, part)
      await file.group.scan.flushIfFull()
    }
  }
}

async function names(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort()
  } catch {
    return []
  }
}

export const OPENCODE_FOLDER: FolderReader = {
  isOf: (_path, has) => has('message') && has('part'),
  sessionIds: (path) => names(join(path, 'message')),
  read: readOpencodeFolder,
}

/** Reads one object; `missing`: fields that only the path contains. Returns its id, null for an unreadable file. */
async function readJsonFile(state: OpencodeState, path: string, missing: Record<string, string>) {
  const stats = statSync(path)
  const { size } = stats
  if (!stats.isFile()) {
    // a pipe or a device may have no end
    state.file.noteUnreadable(1, 'not a regular file', path)
    return null
  }
  state.file.onBytes(size)
  const text = size > MAX_LINE_BYTES ? undefined : await Bun.file(path).text()
  const value = text === undefined ? undefined : parseJson(text)
  if (!isObject(value)) {
    const reason = text === undefined ? 'too large' : (beyondLimits(text) ?? 'not a JSON object')
    state.file.noteUnreadable(1, reason, path)
    return null
  }
  readObject(state, { ...missing, ...value })
  return textOf(value.id) ?? basename(path, '.json')
}

/** Ids grow with time. */
const MESSAGES = [wholeText('id'), wholeText('session_id', '"sessionID"'), wholeText('data')].join(', ')
const PARTS = `${MESSAGES}, ${wholeText('message_id', '"messageID"')}`
const NEXT = `${MESSAGES}, type, seq`

/** The database of OpenCode 1 and 2, which writes other tables of the same file, and of Kilo's program. */
export const OPENCODE_DATABASE: DatabaseReader = {
  columns: [
    { message: ['session_id'], part: ['message_id'] },
    { session_message: ['session_id', 'type', 'seq', 'data'] },
  ],
  *sessionIds({ rowsOf }) {
    for (const table of ['message', 'session_message'])
      for (const { id } of rowsOf(table, { columns: wholeText('session_id', 'id') })) yield id
  },
  async read(file, { rowsOf }) {
    const state = newOpencodeState(file)
    for (const row of rowsOf('project', { order: 'id' })) readObject(state, row)
    const sessions = ['session', 'session_v2'].flatMap((table) => [...rowsOf(table, { order: 'id' })])
    for (const row of sessions)
      readObject(state, { ...row, time: { created: row.time_created, updated: row.time_updated } })
    const forks = new Set(sessions.flatMap(({ id, fork_session_id: from }) => (from == null ? [] : id)))
    const read = (rows: Iterable<Row>, readRow: (row: Row, data: Json) => void) =>
      readRows(file, rows, (row) => {
        const data = typeof row.data === 'string' ? parseJson(row.data) : undefined
        if (isObject(data)) readRow(row, data)
        else file.noteUnreadable(1, `row ${row.id}: not a JSON object, or too large`)
      })
    const messages = rowsOf('message', { columns: MESSAGES, order: 'id' })
    for (const rows of [messages, rowsOf('part', { columns: PARTS, order: 'id' })])
      await read(rows, (row, data) => readObject(state, { ...row, data: undefined, ...data }))
    await read(rowsOf('session_message', { columns: NEXT, order: 'session_id, seq' }), (row, data) =>
      readNextRow(state, row, data, forks.has(row.sessionID)),
    )
    for (const row of sessions) if ('fork_session_id' in row) noteOwnSum(state, row)
  },
}

/** OpenCode 2 adds up calls that are in no message too: for titles, and those that the user took back. */
function noteOwnSum({ file, copies }: OpencodeState, row: Row): void {
  const { tokens_input: input, tokens_output: output, tokens_reasoning: reasoning } = row
  const cache = { read: row.tokens_cache_read, write: row.tokens_cache_write }
  const sum = opencodeTokens({ input, output, reasoning, cache }) ?? noTokens()
  let dollars = Number(row.cost)
  // that of a session which OpenCode 1 forked includes what it copied
  const copied = row.fork_session_id == null ? copies.get(String(row.id)) : undefined
  for (const { tokens, cost } of copied?.values() ?? []) {
    addTokens(sum, opencodeTokens(tokens) ?? noTokens(), -1)
    dollars -= Number(cost ?? 0)
  }
  const isSum = Object.values(sum).every((count) => count >= 0)
  if (isSum) noteSum(file.transcriptOf(String(row.id)), sum, reportedCost(dollars))
}

/** Kilo's program has OpenCode's tables: only the place distinguishes them. */
export const isOfKilo = (path: string): boolean => /[/\\](?:kilo[/\\]|kilo[^/\\]*\.db$)/.test(path)

/** The folder and databases: versions other than the stable ones have their own, as `opencode-next.db`. */
export function opencodePaths({ data, namesIn }: Places, name: string, database: string | undefined) {
  const folder = join(data, name)
  const paths = database && database !== ':memory:' ? [resolve(folder, database)] : []
  const isOther = (each: string) => each.startsWith(`${name}-`) && each.endsWith('.db')
  const others = namesIn(folder).filter(isOther)
  return [...['storage', `${name}.db`, ...others].map((each) => join(folder, each)), ...paths]
}

export const OPENCODE: Format = {
  name: 'opencode',
  folders: (places) => opencodePaths(places, 'opencode', places.env.OPENCODE_DB),
  detect: {
    line({ messageID, sessionID, role, time, info, messages }) {
      const isPart = textOf(messageID)?.startsWith('msg') === true && textOf(sessionID) !== null
      const isMessage = textOf(sessionID) !== null && textOf(role) !== null && isObject(time)
      const isExport = textOf(objectOf(info).id)?.startsWith('ses') === true && Array.isArray(messages)
      return isPart || isMessage || isExport
    },
    document({ text }) {
      const sessionId = valueIn(text, 'sessionID')
      const isPart =
        sessionId?.startsWith('ses') === true &&
        (valueIn(text, 'messageID') !== null || valueIn(text, 'role') !== null)
      const isExport = /"info"\s*:\s*\{\s*"id"\s*:\s*"ses/.test(text)
      return /^\s*\{/.test(text) && (isPart || isExport) ? { layout: 'lines', sessionId } : null
    },
  },
  read: readOpencode,
  database: OPENCODE_DATABASE,
  folder: OPENCODE_FOLDER,
  // the last key names the session that started a sub-agent's
  keys: [...SESSION_KEYS, { start: '"parentID"', id: /^"parentID"\s*:\s*"(ses[^"\\]{1,200})"/ }],
}
