// Restores a backup into an empty database in one transaction, reads everything back and compares it with the backup's sums,
// then brings the schema up to this program's. Until the transaction is committed the database is marked: no server starts
// on it. `amend` changes what was compared, in that transaction and with the backup's schema. Returns the migrations applied
// at the end. Throws OperatorError when the database is not empty or what it holds is not what the backup says.

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { OperatorError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { ISql, Sql } from '../client.ts'
import { checkApplied, createSchema, lockMigrations, migrate } from '../migrate.ts'
import { markRestore, RESTORE_MARK, removeRestoreMark } from '../restore-mark.ts'
import type { OpenBackup } from './file-reader.ts'
import { createTableSum, differenceOf, type TableSum } from './format.ts'
import {
  analyze,
  copyIn,
  copyOut,
  emptyTables,
  listKeysAndIndexes,
  listRelations,
  listTables,
  type StoredTable,
} from './queries.ts'

/** Throws OperatorError when this program cannot make the backup's schema. */
export function checkSchema({ header: { migrations, program } }: OpenBackup): void {
  checkApplied(migrations, `the backup, made by version ${program},`)
}

export async function restoreBackup(
  sql: Sql,
  backup: OpenBackup,
  log: Log,
  amend: (tx: ISql) => Promise<void> = async () => {},
): Promise<string[]> {
  checkSchema(backup)
  await sql.begin(async (tx) => {
    await lockMigrations(tx)
    await refuseNonEmpty(tx)
    await markRestore(tx)
  })
  try {
    await fillMarked(sql, backup, amend)
  } catch (error) {
    // the mark of a database that is lost stays, as after a kill
    await sql.begin((tx) => removeRestoreMark(tx)).catch(() => {})
    throw error
  }
  await analyze(sql)
  return await migrate(sql, log)
}

async function fillMarked(sql: Sql, backup: OpenBackup, amend: (tx: ISql) => Promise<void>): Promise<void> {
  await sql.begin(async (tx) => {
    await lockMigrations(tx)
    await refuseNonEmpty(tx)
    await createSchema(tx, backup.header.migrations.length)
    const stored = await takeRows(tx, backup)
    await readBack(tx, stored, backup.sums())
    await amend(tx)
    await removeRestoreMark(tx)
  })
}

async function refuseNonEmpty(tx: ISql): Promise<void> {
  const others = (await listRelations(tx)).filter((name) => name !== RESTORE_MARK)
  if (others.length === 0) return
  throw new OperatorError(
    `the database is not empty (it has the table ${others[0]}): a backup is restored only into an empty one`,
  )
}

async function takeRows(tx: ISql, backup: OpenBackup): Promise<StoredTable[]> {
  const tables = (await listTables(tx)).filter(({ name }) => name !== RESTORE_MARK)
  await emptyTables(
    tx,
    tables.map(({ name }) => name),
  )
  const keysAndIndexes = await listKeysAndIndexes(tx)
  for (const { remove } of keysAndIndexes.toReversed()) await tx.unsafe(remove)
  const entries: StoredTable[] = []
  const read: TableSum[] = []
  for await (const { name, columns, chunks } of backup.tables) {
    const table = tables.find((candidate) => candidate.name === name)
    if (table === undefined)
      throw new OperatorError(`the backup has a table ${name}, which the program's schema does not have`)
    const sum = createTableSum(name)
    await pipeline(Readable.from(counted(chunks, sum.add)), await copyIn(tx, { name, columns }))
    read.push(sum.result())
    entries.push({ ...table, columns })
  }
  const missing = tables.filter(({ name }) => !entries.some((table) => table.name === name))
  if (missing.length > 0) throw new OperatorError(`the backup lacks the table ${missing[0]?.name}`)
  compare(read, backup.sums(), 'the backup is not what its own sums say')
  for (const { make } of keysAndIndexes) await tx.unsafe(make)
  return entries
}

async function* counted(chunks: AsyncIterable<Buffer>, add: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    add(chunk)
    yield chunk
  }
}

/** Checks that the database returns the same bytes that it was given. */
async function readBack(tx: ISql, tables: readonly StoredTable[], expected: readonly TableSum[]) {
  const sums: TableSum[] = []
  for (const table of tables) {
    const sum = createTableSum(table.name)
    for await (const chunk of copyOut(tx, table)) sum.add(chunk)
    sums.push(sum.result())
  }
  compare(sums, expected, 'the restored database is not what the backup says')
}

function compare(actual: readonly TableSum[], expected: readonly TableSum[], what: string): void {
  const names = (sums: readonly TableSum[]) => sums.map(({ name }) => name).join(', ')
  if (names(actual) !== names(expected))
    throw new OperatorError(`${what}: it has the tables ${names(actual)} instead of ${names(expected)}`)
  const differences = actual.flatMap((table, index) => {
    const other = expected[index]
    return other === undefined ? [] : (differenceOf(table, other) ?? [])
  })
  if (differences.length > 0) throw new OperatorError(`${what}: ${differences.join('; ')}`)
}
