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
    if (!tablesOf(database).has('message')) return []
    return database
      .query<{ id: string }, []>(SESSION_IDS)
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
  const stats = await stat(path)
  const { size } = stats
  if (!stats.isFile()) {
    // a pipe or a device may have no end
    noteUnreadable(state.file, 1, 'not a regular file', path)
    return null
  }
  state.file.onBytes(size)
  const value = size > MAX_LINE_BYTES ? undefined : parseJson(await Bun.file(path).text())
  if (!isObject(value)) {
    noteUnreadable(state.file, 1, size > MAX_LINE_BYTES ? 'too large' : 'not a JSON object', path)
    return null
  }
  readObject(state, { ...missing, ...value })
  return textOf(value.id) ?? basename(path, '.json')
}

/** No real table has so many rows. The pages of a damaged file may lead to each other without an end. */
const MAX_ROWS = 5_000_000
const rowsIn = (table: string) => `(select * from ${table} limit ${MAX_ROWS})`
const SESSION_IDS = `select distinct session_id as id from ${rowsIn('message')}`
/** A text that is too long is not read. */
const DATA = `case when octet_length(data) <= ${MAX_LINE_BYTES} then data end as data`
const MESSAGE_ROWS = `select id, session_id as "sessionID", ${DATA} from ${rowsIn('message')} order by time_created, id`
const PART_ROWS = `select id, session_id as "sessionID", message_id as "messageID", ${DATA} from ${rowsIn('part')} order by time_created, id`

/** The tables that hold their rows: those of a view, a virtual table or a computed column may have no end. */
function tablesOf(database: Database): Set<string> {
  const rows = database
    .query<{ name: string }, []>(
      `select t.name from pragma_table_list as t
      where t.schema = 'main' and t.type = 'table'
        and not exists (select 1 from pragma_table_xinfo(t.name) as c where c.hidden <> 0)`,
    )
    .all()
  return new Set(rows.map(({ name }) => name))
}

/** Reads a database, opened for reading only; false when it is not OpenCode's. */
export async function readOpencodeDatabase(file: SourceFile): Promise<boolean> {
  const database = new Database(file.path, { readonly: true })
  try {
    const tables = tablesOf(database)
    if (!tables.has('message') || !tables.has('part')) return false
    const state = newOpencodeState(file)
    const rowsOf = (sql: string) => database.query<Record<string, unknown>, []>(sql).iterate()
    if (tables.has('project'))
      for (const row of rowsOf(`select * from ${rowsIn('project')}`)) readObject(state, row)
    if (tables.has('session')) {
      for (const row of rowsOf(`select * from ${rowsIn('session')} order by id`))
        readObject(state, { ...row, time: { created: row.time_created, updated: row.time_updated } })
    }
    for (const sql of [MESSAGE_ROWS, PART_ROWS]) {
      let count = 0
      for (const row of rowsOf(sql)) {
        count += 1
        const data = typeof row.data === 'string' ? parseJson(row.data) : undefined
        if (isObject(data)) readObject(state, { ...row, data: undefined, ...data })
        else noteUnreadable(file, 1, `row ${row.id}: not a JSON object, or too large`)
        await file.group.scan.flushIfFull()
      }
      if (count === MAX_ROWS) noteUnreadable(file, 1, `only the first ${MAX_ROWS} rows of a table are read`)
    }
    file.onBytes((await stat(file.path)).size)
    return true
  } finally {
    database.close()
  }
}
