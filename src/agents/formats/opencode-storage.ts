import { Database } from 'bun:sqlite'
import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { MAX_LINE_BYTES } from '../../split-lines.ts'
import { isObject, parseJson, textOf } from '../transcript/json-fields.ts'
import { noteUnreadable, type SourceFile } from '../transcript/source-file.ts'
import { newOpencodeState, type OpencodeState, readObject } from './opencode.ts'

// OpenCode's storage folder, `session/<project>/*.json`, `message/<session>/*.json` and `part/<message>/*.json`, and the
// SQLite database of newer versions, with the same objects in its `data` columns.

/** Reads a storage folder. The parts of a message are read right after it, so that memory holds few parts. */
export async function readOpencodeFolder(file: SourceFile): Promise<void> {
  const state = newOpencodeState(file)
  for (const name of await names(join(file.path, 'project'))) {
    if (name.endsWith('.json')) await readJsonFile(state, join(file.path, 'project', name), {})
  }
  for (const project of await names(join(file.path, 'session'))) {
    for (const name of await names(join(file.path, 'session', project))) {
      await readJsonFile(state, join(file.path, 'session', project, name), {})
    }
  }
  // the oldest versions have all parts in one folder
  for (const name of await names(join(file.path, 'part'))) {
    if (name.endsWith('.json')) await readJsonFile(state, join(file.path, 'part', name), {})
  }
  for (const session of await names(join(file.path, 'message'))) {
    for (const name of await names(join(file.path, 'message', session))) {
      const id = await readJsonFile(state, join(file.path, 'message', session, name), { sessionID: session })
      if (id === null) continue
      for (const part of await names(join(file.path, 'part', id))) {
        await readJsonFile(state, join(file.path, 'part', id, part), { messageID: id })
      }
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

/** The ids of the sessions in a storage folder, without reading them. */
export async function sessionIdsInFolder(path: string): Promise<string[]> {
  return await names(join(path, 'message'))
}

/** The ids of the sessions in a database; none when it is not OpenCode's. */
export function sessionIdsInDatabase(path: string): string[] {
  const database = new Database(path, { readonly: true })
  try {
    return database
      .query<{ id: string }, []>('select distinct session_id as id from message')
      .all()
      .map(({ id }) => id)
  } catch {
    return []
  } finally {
    database.close()
  }
}

/** Reads one object; `missing`: fields that only the path contains. Returns its id, null for an unreadable file. */
async function readJsonFile(
  state: OpencodeState,
  path: string,
  missing: Record<string, string>,
): Promise<string | null> {
  const { size } = await stat(path)
  state.file.onBytes(size)
  const value = size > MAX_LINE_BYTES ? undefined : parseJson(await Bun.file(path).text())
  if (!isObject(value)) {
    noteUnreadable(state.file, 1, size > MAX_LINE_BYTES ? 'too large' : 'not a JSON object', path)
    return null
  }
  readObject(state, { ...missing, ...value })
  return textOf(value.id) ?? basename(path, '.json')
}

const MESSAGE_ROWS = 'select id, session_id as "sessionID", data from message order by time_created, id'
const PART_ROWS =
  'select id, session_id as "sessionID", message_id as "messageID", data from part order by time_created, id'

/** Reads a database, opened for reading only; false when it is not OpenCode's. */
export async function readOpencodeDatabase(file: SourceFile): Promise<boolean> {
  const database = new Database(file.path, { readonly: true })
  try {
    const tables = database
      .query<{ name: string }, []>("select name from sqlite_master where type = 'table'")
      .all()
    const has = (name: string) => tables.some((table) => table.name === name)
    if (!has('message') || !has('part')) return false
    const state = newOpencodeState(file)
    if (has('project')) {
      for (const row of database.query<Record<string, unknown>, []>('select * from project').iterate())
        readObject(state, row)
    }
    if (has('session')) {
      for (const row of database
        .query<Record<string, unknown>, []>('select * from session order by id')
        .iterate()) {
        readObject(state, { ...row, time: { created: row.time_created, updated: row.time_updated } })
      }
    }
    for (const sql of [MESSAGE_ROWS, PART_ROWS]) {
      for (const row of database.query<{ id: string; data: string }, []>(sql).iterate()) {
        const data = parseJson(row.data)
        if (isObject(data)) readObject(state, { ...row, data: undefined, ...data })
        else noteUnreadable(file, 1, `row ${row.id}: not a JSON object`)
        await file.group.scan.flushIfFull()
      }
    }
    file.onBytes((await stat(file.path)).size)
    return true
  } finally {
    database.close()
  }
}
