// Brings the schema to the newest version, and lists and checks the migrations that a database has.

import { OperatorError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { VERSION_AND_COMMIT } from '../base/version.ts'
import { distributeTables, isDistributed, statementsOf, useOneConnection } from './citus.ts'
import type { ISql, Sql } from './client.ts'
import { isDeadlock } from './connection-errors.ts'
import { readMigrations } from './read-migrations.ts' with { type: 'macro' }
import { refuseUnfinishedRestore } from './restore-mark.ts'

/** The migrations by number, without gaps: the files of the folder. A released one is never edited. */
export const MIGRATIONS = readMigrations()

/** Held while a database is migrated; any constant that nothing else uses. */
const ADVISORY_LOCK = 7_262_111_961

const checksumOf = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')

/**
 * Brings the database to this build's schema: each missing migration in a transaction of its own, one
 * instance at a time. Returns the names of those it applied. Throws OperatorError when the database is newer
 * than this build, a migration that was applied differs from this build's, or a restore is not finished.
 */
export async function migrate(sql: Sql, log: Log): Promise<string[]> {
  await refuseUnfinishedRestore(sql)
  const applied: string[] = []
  for (;;) {
    try {
      const label = await sql.begin(applyNext)
      if (label === undefined) break
      log.debug('migration applied', { migration: label })
      applied.push(label)
    } catch (error) {
      // a write that reads a table first and then waits for its organization
      if (!isDeadlock(error)) throw error
    }
  }
  // one line tells all, also if another process applied some of them at the same time
  if (applied.length > 0) log.info('schema migrated', { applied: applied.length, to: applied.at(-1) })
  return applied
}

/** Applies the next migration that is missing and returns its name, or undefined when none is. */
async function applyNext(tx: ISql): Promise<string | undefined> {
  await tx`set local statement_timeout = 0`
  // another instance's migration may take minutes
  await tx`set local lock_timeout = 0`
  await lockMigrations(tx)
  // one that was killed while this waited
  await refuseUnfinishedRestore(tx)
  await createMigrationsTable(tx)
  const rows = await listApplied(tx)
  checkApplied(rows, 'the database')
  const migration = MIGRATIONS[rows.length]
  if (migration === undefined) return undefined
  // waits for the writes that began before: after them an instance of the older program writes nothing (database/newer-schema.ts)
  if (rows.length > 0) await tx`lock table org_locks in exclusive mode`
  const hasNodes = await isDistributed(tx)
  if (hasNodes) await useOneConnection(tx)
  for (const text of hasNodes ? statementsOf(migration.text) : [migration.text]) await tx.unsafe(text)
  // the same transaction does this: no statement ever finds a new table on the coordinator alone
  if (hasNodes) await distributeTables(tx)
  await tx`
    insert into schema_migrations (number, name, checksum)
    values (${migration.number}, ${migration.name}, ${checksumOf(migration.text)})`
  return `${String(migration.number).padStart(4, '0')}_${migration.name}`
}

/** Nobody else migrates until the end of the transaction. A lock of the session would stay behind in a pooler. */
export async function lockMigrations(tx: ISql): Promise<void> {
  await tx`select pg_advisory_xact_lock(${ADVISORY_LOCK})`
}

/** Makes the schema of the first `count` migrations in an empty database, and fills `schema_migrations`. */
export async function createSchema(tx: ISql, count: number): Promise<void> {
  await createMigrationsTable(tx)
  for (const migration of MIGRATIONS.slice(0, count)) await tx.unsafe(migration.text)
}

async function createMigrationsTable(sql: ISql): Promise<void> {
  await sql`
    create table if not exists schema_migrations (
      number integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`
}

export interface AppliedMigration {
  number: number
  checksum: string
}

export async function listApplied(sql: ISql): Promise<AppliedMigration[]> {
  return await sql<AppliedMigration[]>`
    select m.number, m.checksum
    from schema_migrations m
    order by m.number`
}

/** Throws OperatorError unless `rows`, those of `what`, are this build's migrations, all or the first of them. */
export function checkApplied(rows: readonly AppliedMigration[], what: string): void {
  for (const [index, row] of rows.slice(0, MIGRATIONS.length).entries()) {
    const migration = MIGRATIONS[index]
    if (migration?.number !== row.number || checksumOf(migration.text) !== row.checksum)
      throw new OperatorError(
        `schema migration ${row.number} of ${what} is not the one of this program, ${VERSION_AND_COMMIT}: it was made by another build, and ` +
          'no migration leads from there. Run that build (`version` prints the commit of a build), or move the data: with that build ' +
          '`export` each organization, with this one `import` it into a new database',
      )
  }
  // this check comes last: another build's database may also have more migrations, and no newer program runs it
  if (rows.length > MIGRATIONS.length)
    throw new OperatorError(
      `${what} is at schema ${rows.length}, newer than this program's ${MIGRATIONS.length} (${VERSION_AND_COMMIT}): run the newer program`,
    )
}
