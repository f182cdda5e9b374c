import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { MAX_LINE_BYTES } from '../../split-lines.ts'
import { countedRows, type DatabaseReader, rowsIn, wholeText } from '../transcript/database.ts'
import { isObject, parseJson, textOf } from '../transcript/json-fields.ts'
import type { SourceFile } from '../transcript/source-file.ts'
import type { Format } from '../transcript/transcript-model.ts'
import { newOpencodeState, type OpencodeState, readObject } from './opencode.ts'

// OpenCode's storage folder, `session/<project>/*.json`, `message/<session>/*.json` and `part/<message>/*.json`, and the
// SQLite database of newer versions, with the same objects in its `data` columns.

/** Reads a storage folder. The parts of a message are read right after it, so that memory holds few parts. */
export async function readOpencodeFolder(file: SourceFile, format: Format): Promise<void> {
  const state = newOpencodeState(file, format)
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
      for (const part of await namesIn('part', id)) await read({ messageID: id }, 'part', id, part)
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

/** Reads one object; `missing`: fields that only the path contains. Returns its id, null for an unreadable file. */
async function readJsonFile(
  state: OpencodeState,
  path: string,
  missing: Record<string, string>,
): Promise<string | null> {
  const stats = await stat(path)
  const { size } = stats
  if (!stats.isFile()) {
    // a pipe or a device may have no end
    state.file.noteUnreadable(1, 'not a regular file', path)
    return null
  }
  state.file.onBytes(size)
  const value = size > MAX_LINE_BYTES ? undefined : parseJson(await Bun.file(path).text())
  if (!isObject(value)) {
    state.file.noteUnreadable(1, size > MAX_LINE_BYTES ? 'too large' : 'not a JSON object', path)
    return null
  }
  readObject(state, { ...missing, ...value })
  return textOf(value.id) ?? basename(path, '.json')
}

const MESSAGE_ROWS = `select id, session_id as "sessionID", ${wholeText('data')} from ${rowsIn('message')} order by time_created, id`
const PART_ROWS = `select id, session_id as "sessionID", message_id as "messageID", ${wholeText('data')} from ${rowsIn('part')} order by time_created, id`

/** The database of OpenCode, and of Kilo's program, which has the same tables. */
export const OPENCODE_DATABASE: DatabaseReader = {
  columns: { message: ['session_id'], part: ['message_id'] },
  sessionIds: `select distinct session_id as id from ${rowsIn('message')}`,
  async read(file, { tables, rowsOf }, format) {
    const state = newOpencodeState(file, format)
    if (tables.has('project'))
      for (const row of rowsOf(`select * from ${rowsIn('project')}`)) readObject(state, row)
    if (tables.has('session')) {
      for (const row of rowsOf(`select * from ${rowsIn('session')} order by id`))
        readObject(state, { ...row, time: { created: row.time_created, updated: row.time_updated } })
    }
    for (const sql of [MESSAGE_ROWS, PART_ROWS]) {
      for (const row of countedRows(file, rowsOf(sql))) {
        const data = typeof row.data === 'string' ? parseJson(row.data) : undefined
        if (isObject(data)) readObject(state, { ...row, data: undefined, ...data })
        else file.noteUnreadable(1, `row ${row.id}: not a JSON object, or too large`)
        await file.group.scan.flushIfFull()
      }
    }
  },
}
