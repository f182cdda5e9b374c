import { expect, test } from 'bun:test'
import { OperatorError } from '../../src/base/errors.ts'
import { VERSION_AND_COMMIT } from '../../src/base/version.ts'
import { describeSchema } from '../../src/build/catalog-queries.ts'
import { statementsOf } from '../../src/database/citus.ts'
import { MIGRATIONS, migrate } from '../../src/database/migrate.ts'
import { emptyDatabase, plainDatabase, silent, testsDatabase } from '../support/postgres.ts'

const FOLDER = `${import.meta.dir}/../../src/database/migrations`

const database = await testsDatabase(plainDatabase)
const file = await Bun.file(`${import.meta.dir}/../../src/database/schema.sql`).text()

/** Without the lines of comment at the top. */
const statements = (text: string) => text.replace(/^(--.*\n)+\n/, '')

test('schema.sql is the schema of a migrated database; else run `bun run schema`', async () => {
  expect(statements(file)).toBe(await describeSchema(database.sql))
})

/** Without the order of columns: a day that is written takes another place where Citus cannot change its column. */
const lines = (text: string) => text.split('\n').sort()

test('the migrations, a statement at a time, make the same schema', async () => {
  const { sql, drop } = await emptyDatabase()
  for (const { text } of MIGRATIONS) for (const statement of statementsOf(text)) await sql.unsafe(statement)
  // made by migrate, beside the migrations
  const [known = ''] = file.match(/create table schema_migrations [^;]*;\n\n/) ?? []
  expect(known).not.toBe('')
  expect(lines(await describeSchema(sql))).toEqual(lines(statements(file).replace(known, '')))
  await drop()
})

test('schema.sql makes the schema that it describes', async () => {
  const { sql, drop } = await plainDatabase()
  await sql.unsafe('drop schema public cascade; create schema public')
  await sql.unsafe(file)
  expect(await describeSchema(sql)).toBe(statements(file))
  await drop()
})

/** Returns the error of `migrate` on a migrated database after a change of its list of migrations. */
async function refusalAfter(change: string): Promise<string> {
  const { sql, drop } = await plainDatabase()
  await sql.unsafe(change)
  const schema = await describeSchema(sql)
  const refusal: unknown = await migrate(sql, silent).then(
    () => 'migrated',
    (error: unknown) => (error instanceof OperatorError ? error.message : error),
  )
  expect(await describeSchema(sql)).toBe(schema)
  await drop()
  return String(refusal)
}

test.each([
  ['a changed migration', "set checksum = 'other' where number = 1", 1],
  ['a gap', 'set number = 1000 where number = 3', 4],
  // another history of migrations may have as many
  ['others and more', "set checksum = 'other'; insert into schema_migrations values (1000, 'more', '')", 1],
])('a database with %s is refused and left as it is, with the next step', async (_what, change, number) => {
  expect(await refusalAfter(`update schema_migrations ${change}`)).toMatch(
    new RegExp(
      `^schema migration ${number} of the database is not the one of this program, .* made by another build.*\`export\`.*\`import\``,
    ),
  )
})

test('a newer database is refused and left as it is', async () => {
  const later = MIGRATIONS.length + 1
  expect(await refusalAfter(`insert into schema_migrations values (${later}, 'later', '')`)).toBe(
    `the database is at schema ${later}, newer than this program's ${MIGRATIONS.length} (${VERSION_AND_COMMIT}): run the newer program`,
  )
})

test('migrations are numbered from 1 without gaps, and their files have their names', () => {
  expect(MIGRATIONS.map(({ number }) => number)).toEqual(MIGRATIONS.map((_, index) => index + 1))
  expect([...new Bun.Glob('*').scanSync(FOLDER)].sort()).toEqual(
    MIGRATIONS.map(({ number, name }) => `${String(number).padStart(4, '0')}_${name}.sql`),
  )
})

test('instances that start at once apply each migration once, and hold no lock after that', async () => {
  const { sql, pool, drop } = await plainDatabase()
  await sql.unsafe('drop schema public cascade; create schema public')
  const pools = [pool(1), pool(1), pool(1)]
  const applied = await Promise.all(pools.map((each) => migrate(each, silent)))
  expect(applied.flat().sort()).toHaveLength(MIGRATIONS.length)
  expect(new Set(applied.flat()).size).toBe(MIGRATIONS.length)
  expect(statements(file)).toBe(await describeSchema(sql))
  const locks = await sql`
    select l.pid
    from pg_locks l
    join pg_database d on d.oid = l.database
    where l.locktype = 'advisory'
      and d.datname = current_database()`
  expect([...locks]).toEqual([])
  for (const each of pools) await each.end()
  await drop()
})
