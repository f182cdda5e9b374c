// Writes all of a database into a backup, as it is at one instant, while others read and write it. Does not migrate. The
// file has its name only when it is complete. Throws OperatorError when the database is empty, newer than this program or
// half restored, and when the file cannot be written.

import { OperatorError } from '../../base/errors.ts'
import { VERSION } from '../../base/version.ts'
import type { ISql, Sql } from '../client.ts'
import { checkApplied, listApplied } from '../migrate.ts'
import { refuseUnfinishedRestore } from '../restore-mark.ts'
import { type BackupFile, createBackupFile } from './file-writer.ts'
import { createTableSum, END_OF_ROWS, headerLine, sumsLine, type TableSum, tableLine } from './format.ts'
import { copyOut, describeServer, listTables, lockTables, type StoredTable } from './queries.ts'

interface BackupOptions {
  file: string
  /** The key that encrypts webhook secrets, to have it inside; null: not inside. */
  secretKey: Uint8Array | null
  /** The key to sign it by; undefined: it is not signed. */
  signBy?: Uint8Array | undefined
  /** Reports the progress: bytes of tables on disk that are read, and of all tables. */
  onProgress?: (done: number, total: number, table: string) => void
}

export async function writeBackup(sql: Sql, options: BackupOptions) {
  await refuseUnfinishedRestore(sql)
  const output = await createBackupFile(options.file)
  try {
    const tables = await listTables(sql)
    if (!tables.some(({ name }) => name === 'schema_migrations'))
      throw new OperatorError('there is nothing to back up: the database is empty')
    const snapshot = await sql.begin('isolation level repeatable read read only', async (tx) => {
      await lockTables(
        tx,
        tables.map(({ name }) => name),
      )
      // the first query: from here on the transaction sees one state
      const { now, version } = await describeServer(tx)
      if (!sameTables(tables, await listTables(tx)))
        throw new OperatorError('the schema was changed at the same moment: run it again')
      const migrations = await listApplied(tx)
      checkApplied(migrations, 'the database')
      const { secretKey } = options
      await output.write(
        headerLine({
          created_at: now,
          program: VERSION,
          postgres: version,
          migrations,
          secret_key: secretKey && Buffer.from(secretKey).toString('base64'),
        }),
      )
      const sums = await writeTables(tx, output, tables, options.onProgress)
      await output.write(sumsLine(sums))
      // all that was committed before this time is inside
      return { created_at: now, schema: migrations.length, postgres: version, tables: sums }
    })
    return { ...snapshot, bytes: await output.finish(options.signBy) }
  } catch (error) {
    await output.abandon()
    throw error
  }
}

async function writeTables(
  tx: ISql,
  output: BackupFile,
  tables: readonly StoredTable[],
  onProgress: BackupOptions['onProgress'],
): Promise<TableSum[]> {
  const sums: TableSum[] = []
  const total = tables.reduce((sum, { bytes }) => sum + bytes, 0)
  let before = 0
  for (const table of tables) {
    await output.write(tableLine(table.name, table.columns))
    const sum = createTableSum(table.name)
    let read = 0
    for await (const chunk of copyOut(tx, table)) {
      sum.add(chunk)
      await output.write(chunk)
      read += chunk.length
      // a table may be larger as text than on disk
      onProgress?.(before + Math.min(read, table.bytes), total, table.name)
    }
    await output.write(END_OF_ROWS)
    sums.push(sum.result())
    before += table.bytes
  }
  return sums
}

const columnsText = (tables: readonly StoredTable[]): string =>
  JSON.stringify(tables.map(({ name, columns }) => [name, columns]))

const sameTables = (a: readonly StoredTable[], b: readonly StoredTable[]): boolean =>
  columnsText(a) === columnsText(b)
