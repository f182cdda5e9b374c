// Opens the SQLite file of what this machine has sent, which sync-state.ts reads and writes.

import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { codeOf, messageOf } from '../../base/errors.ts'
import { createPrivate, writeError } from './whole-file.ts'

/** The tables of values: JSON by id, for each server and organization; and those of what was sent. */
export const SENT = ['files', 'sessions', 'commits', 'attributed', 'repositories'] as const
export const KINDS = ['keys', 'written', ...SENT] as const
const VERSION = 1
const SCHEMA = [
  `create table targets (id integer primary key, server text not null, organization text not null, slug text not null,
    tidied integer not null default 0, unique (server, organization))`,
  ...KINDS.map(
    (kind) =>
      `create table ${kind} (target integer, id text, value text not null, primary key (target, id)) without rowid`,
  ),
  // hashes of a line and of the session that it was first read for, and the day of that
  `create table lines (target integer, line integer, owner integer not null, added integer not null,
    primary key (target, line)) without rowid`,
  `pragma user_version = ${VERSION}`,
]
/** Another process writes what it learned in less, and what an earlier version kept. */
const BUSY_MS = 30_000

/** Runs a statement, and returns the values of its rows. */
export type Run = (sql: string, ...values: SQLQueryBindings[]) => unknown[][]

/** Thrown for a file that is not as this program leaves it. */
export class Damaged extends Error {}

export type StateDatabase = ReturnType<typeof openDatabase>

export function openDatabase(path: string) {
  if (!existsSync(path)) createPrivate(path)
  const checked = <Result>(work: () => Result): Result => {
    try {
      return work()
    } catch (error) {
      const code = codeOf(error) ?? ''
      if (/^SQLITE_(?:CORRUPT|ERROR|NOTADB)/.test(code)) throw new Damaged(messageOf(error))
      throw code.startsWith('SQLITE') ? writeError(path, error) : error
    }
  }
  const database = checked(() => new Database(path))
  const run: Run = (sql, ...values) => database.query(sql).values(...values)
  let isReading = false
  const endReading = () => {
    // an error may have ended it
    if (isReading && database.inTransaction) database.run('rollback')
    isReading = false
  }
  /** Selects rows. Those of one turn of the event loop are read in one transaction: a lock for each takes ten times as long. */
  const read: Run = (...statement) =>
    checked(() => {
      if (!isReading) {
        database.run('begin')
        isReading = true
        setImmediate(endReading)
      }
      return run(...statement)
    })
  /** Runs statements in one transaction, which no other process is in. */
  const write = (work: (run: Run) => void): void =>
    checked(() => {
      endReading()
      database.transaction(() => work(run)).immediate()
    })
  const close = () => {
    endReading()
    database.close()
  }
  const isNew = (select: Run) => {
    const version = Number(select('pragma user_version')[0]?.[0])
    if (version > VERSION) throw new Damaged(`a later version of the program has written it`)
    return version < VERSION
  }
  try {
    database.run(`pragma busy_timeout = ${BUSY_MS}`)
    if (isNew(read)) write(() => isNew(run) && SCHEMA.forEach((statement) => void run(statement)))
  } catch (error) {
    close()
    throw error
  }
  return { read, write, [Symbol.dispose]: close }
}
