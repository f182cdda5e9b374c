import { CURSOR_DATABASE } from './formats/editor/cursor.ts'
import { ZED_DATABASE } from './formats/editor/zed.ts'
import { OPENCODE_DATABASE } from './formats/opencode-storage.ts'
import { COPILOT_DATABASE } from './formats/terminal/copilot-store.ts'
import { GOOSE_DATABASE } from './formats/terminal/goose.ts'
import { type DatabaseReader, readDatabase, useDatabase } from './transcript/database.ts'
import { textOf } from './transcript/json-fields.ts'
import type { SourceFile } from './transcript/source-file.ts'
import type { Format } from './transcript/transcript-model.ts'

// The tables of a database say which agent it is of.

const READERS: Partial<Record<Format, DatabaseReader>> = {
  copilot: COPILOT_DATABASE,
  goose: GOOSE_DATABASE,
  zed: ZED_DATABASE,
  cursor: CURSOR_DATABASE,
  'kilo-code': OPENCODE_DATABASE,
  opencode: OPENCODE_DATABASE,
}
const AGENTS = Object.keys(READERS) as Format[]

/** Kilo's program has OpenCode's tables: only the place distinguishes them. */
export const isOfKilo = (path: string): boolean => /[/\\](?:kilo[/\\]|kilo[^/\\]*\.db$)/.test(path)

/** The agent whose database it is; null for none that is read. Throws what SQLite says of a damaged or locked file. */
export async function databaseFormat(path: string): Promise<Format | null> {
  return await useDatabase(path, ({ tables }) => {
    const hasAll = ([table, columns]: [string, readonly string[]]) =>
      columns.every((column) => tables.get(table)?.has(column))
    const isOf = (format: Format) =>
      READERS[format]?.columns.some((columns) => Object.entries(columns).every(hasAll)) &&
      (format !== 'kilo-code' || isOfKilo(path))
    return AGENTS.find(isOf) ?? null
  })
}

/** The ids of the sessions in a database, without reading them; none when it cannot be read. */
export async function sessionIdsInDatabase(path: string, format: Format): Promise<string[]> {
  const { sessionIds } = READERS[format] ?? OPENCODE_DATABASE
  try {
    return await useDatabase(path, ({ tables, rowsOf }) =>
      [...rowsOf(sessionIds({ tables }))].flatMap(({ id }) => textOf(id) ?? []),
    )
  } catch {
    return []
  }
}

export const readAgentDatabase = (file: SourceFile, format: Format): Promise<void> =>
  readDatabase(file, READERS[format] ?? OPENCODE_DATABASE)
