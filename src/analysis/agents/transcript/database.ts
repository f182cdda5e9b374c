// Opens databases of agents (SQLite) for reading only, and reads their rows, never what a hostile file may make endless.

import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { MAX_LINE_BYTES } from '../../../base/split-lines.ts'
import { isIrregular, NOT_REGULAR } from '../git/regular-file.ts'
import type { SourceFile } from './source-file.ts'

export type Row = Record<string, unknown>

export interface AgentDatabase {
  /** The columns of each table that holds its rows. */
  tables: ReadonlyMap<string, ReadonlySet<string>>
  /**
   * The rows of a table, none where it is not there. In the order of a column, between two values if they are given, where an
   * index has it; else in the order in which they are stored: SQLite would sort a copy of them on the disk.
   */
  rowsOf(table: string, selected: Selected): IteratorObject<Row>
}

interface Selected {
  /** Columns as SQL; all by default. */
  columns?: string
  order?: string
  /** The first value of the column, and one that is after the last. */
  range?: readonly [string, string]
}

/** An agent's database is recognized by its tables, and read by this. */
export interface DatabaseReader {
  /** The columns of its tables by which it is recognized: all of one of these. */
  columns: readonly Readonly<Record<string, readonly string[]>>[]
  /** Whether the place is the agent's, where another agent has the same tables. */
  isAt?(path: string): boolean
  /** Whether the files beside it are read in its place. */
  isReadElsewhere?(path: string): boolean
  /** The agent's session ids, any number of times. */
  sessionIds(database: AgentDatabase): Iterable<unknown>
  read(file: SourceFile, database: AgentDatabase): Promise<void> | void
}

/** No real table has more rows. The pages of a damaged file may lead to each other without an end. */
const MAX_ROWS = 5_000_000
/** A column without texts that are too long to be read. */
export const wholeText = (column: string, name = column): string =>
  `case when octet_length(${column}) <= ${MAX_LINE_BYTES} then ${column} end as ${name}`
/** A table is read up to three times. In a damaged file many rows may have the same bytes. */
const READ_TIMES = 3
/** The bytes of a row beside its texts, at least. */
const ROW_BYTES = 16
const FEW_BYTES = 1024 * 1024

/** Reads the rows one by one; notes in the file that a table has more than are read. */
export async function readRows<T>(file: SourceFile, rows: Iterable<T>, read: (row: T) => void) {
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
    const tables = tablesOf(database)
    const size = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) + statSync(path).size
    const budget = { left: FEW_BYTES + READ_TIMES * size }
    const rowsOf = (table: string, selected: Selected) => {
      const columns = [...(tables.get(table) ?? [])].map((name) =>
        wholeText(`"${name.replaceAll('"', '""')}"`),
      )
      const all = { columns: columns.join(', '), ...selected }
      return within(budget, columns.length === 0 ? [] : selectRows(database, table, all))
    }
    return await use({ tables, rowsOf })
  } finally {
    database.close()
  }
}

function* selectRows(database: Database, table: string, { columns, order, range }: Selected): Generator<Row> {
  const stored = `select ${columns} from ${table} limit ${MAX_ROWS}`
  if (order === undefined) return yield* database.query<Row, []>(stored).iterate()
  const [first = '', end] = range ?? []
  const where = end === undefined ? '' : `where ${order} >= ?1 and ${order} < ?2`
  const ordered = `select ${columns} from ${table} ${where} order by ${order} limit ${MAX_ROWS}`
  const plan = database
    .query<{ detail: string }, string[]>(`explain query plan ${ordered}`)
    .all(...(range ?? []))
  const isSorted = plan.some(({ detail }) => detail.includes('TEMP B-TREE'))
  const isSearched = end === undefined || plan.some(({ detail }) => detail.startsWith('SEARCH'))
  if (!isSorted && isSearched) return yield* database.query<Row, string[]>(ordered).iterate(...(range ?? []))
  for (const row of database.query<Row, []>(stored).iterate()) {
    const value = String(row[order])
    if (end === undefined || (value >= first && value < end)) yield row
  }
}

/** The rows, until they have more bytes than a file can have: then it throws. */
function* within(budget: { left: number }, rows: Iterable<Row>): Generator<Row> {
  for (const row of rows) {
    budget.left -= ROW_BYTES
    for (const value of Object.values(row))
      if (typeof value === 'string' || value instanceof Uint8Array) budget.left -= value.length
    if (budget.left < 0) throw new Error('its rows have more bytes than the file: it is damaged')
    yield row
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

export const columnSql = (
  { tables }: Pick<AgentDatabase, 'tables'>,
  table: string,
  names: readonly string[],
) => names.map((name) => (tables.get(table)?.has(name) ? wholeText(name) : `null as ${name}`)).join(', ')
