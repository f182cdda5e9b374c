import { Database } from 'bun:sqlite'
import { basename } from 'node:path'
import { MAX_LINE_BYTES } from '../../../base/split-lines.ts'
import { isIrregular, NOT_REGULAR } from '../git/regular-file.ts'
import type { SourceFile } from './source-file.ts'

// Databases of agents (SQLite), opened for reading only, and never with what a hostile file could have without an end.

/** A row by the names of its columns. */
export type Row = Record<string, unknown>

/** An agent's database while it is read. */
export interface AgentDatabase {
  /** The columns of each table that holds its rows. */
  tables: ReadonlyMap<string, ReadonlySet<string>>
  rowsOf(sql: string, ...values: string[]): Iterable<Row>
}

/** An agent's database is recognized by its tables, and read by this. */
export interface DatabaseReader {
  /** The columns of its tables by which it is recognized: all of one of these. */
  columns: readonly Readonly<Record<string, readonly string[]>>[]
  /** Whether the place is the agent's, where another agent has the same tables. */
  isAt?(path: string): boolean
  /** Whether the files beside it are read in its place. */
  isReadElsewhere?(path: string): boolean
  /** A query of the agent's session ids. */
  sessionIds(database: Pick<AgentDatabase, 'tables'>): string
  read(file: SourceFile, database: AgentDatabase): Promise<void> | void
}

/** No real table has more rows. The pages of a damaged file may lead to each other without an end. */
const MAX_ROWS = 5_000_000
export const rowsIn = (table: string): string => `(select * from ${table} limit ${MAX_ROWS})`
/** A column without texts that are too long to be read. */
export const wholeText = (column: string): string =>
  `case when octet_length(${column}) <= ${MAX_LINE_BYTES} then ${column} end as ${column}`

/** Reads the rows one by one; notes in the file that a table has more than are read. */
export async function readRows<T>(
  file: SourceFile,
  rows: Iterable<T>,
  read: (row: T) => void,
): Promise<void> {
  let count = 0
  for (const row of rows) {
    count += 1
    read(row)
    await file.group.scan.flushIfFull()
  }
  if (count === MAX_ROWS) file.noteUnreadable(1, `only the first ${MAX_ROWS} rows of a table are read`)
}

/** Opens a database for `use` and gives its result. Throws SQLite's error for a file that is damaged or locked, and
 * for one that is not regular. */
export async function useDatabase<T>(
  path: string,
  use: (database: AgentDatabase) => T | Promise<T>,
): Promise<T> {
  // SQLite opens what lies beside it too
  for (const ending of ['', '-wal', '-shm', '-journal'])
    if (isIrregular(`${path}${ending}`)) throw new Error(`${basename(path)}${ending}: ${NOT_REGULAR}`)
  const database = new Database(path, { readonly: true })
  try {
    const rowsOf = (sql: string, ...values: string[]) => database.query<Row, string[]>(sql).iterate(...values)
    return await use({ tables: tablesOf(database), rowsOf })
  } finally {
    database.close()
  }
}

/** The tables that hold their rows: those of a view, a virtual table or a computed column may have no end. */
function tablesOf(database: Database): Map<string, Set<string>> {
  const rows = database
    .query<{ name: string; column: string }, []>(
      `select t.name, c.name as column from pragma_table_list as t, pragma_table_xinfo(t.name) as c
      where t.schema = 'main' and t.type = 'table'
        and not exists (select 1 from pragma_table_xinfo(t.name) as x where x.hidden <> 0)`,
    )
    .all()
  const tables = new Map<string, Set<string>>()
  for (const { name, column } of rows) tables.set(name, (tables.get(name) ?? new Set()).add(column))
  return tables
}

/** The columns of a table by their names, null where it has them not. */
export const columnsOf = (
  { tables }: Pick<AgentDatabase, 'tables'>,
  table: string,
  names: readonly string[],
) => names.map((name) => (tables.get(table)?.has(name) ? name : `null as ${name}`)).join(', ')
