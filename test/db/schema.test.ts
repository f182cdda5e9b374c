import { afterAll, beforeAll, expect, test } from 'bun:test'
import { describeSchema } from '../../src/build/catalog-queries.ts'
import { statementsOf } from '../../src/db/citus.ts'
import { MIGRATIONS, migrate } from '../../src/db/migrate.ts'
import { emptyDatabase, silent, type TestDatabase, testDatabase } from '../support/postgres.ts'

let database: TestDatabase
let file: string
beforeAll(async () => {
  database = await testDatabase()
  file = await Bun.file(`${import.meta.dir}/../../src/db/schema.sql`).text()
})
afterAll(() => database.drop())

/** Without the lines of comment at the top. */
const statements = (text: string) => text.replace(/^(--.*\n)+\n/, '')

test('schema.sql is the schema of a migrated database; else run `bun run schema`', async () => {
  expect(statements(file)).toBe(await describeSchema(database.sql))
})

test('the migrations, a statement at a time, make the same schema', async () => {
  const { sql, drop } = await emptyDatabase()
  for (const { text } of MIGRATIONS) for (const statement of statementsOf(text)) await sql.unsafe(statement)
  // made by migrate, beside the migrations
  const [known = ''] = file.match(/create table schema_migrations [^;]*;\n\n/) ?? []
  expect(known).not.toBe('')
  expect(await describeSchema(sql)).toBe(statements(file).replace(known, ''))
  await drop()
})

test('schema.sql makes the schema that it describes', async () => {
  const { sql, drop } = await testDatabase()
  await sql.unsafe('drop schema public cascade; create schema public')
  await sql.unsafe(file)
  expect(await describeSchema(sql)).toBe(statements(file))
  await drop()
})

test('a database that another build migrated is refused and left as it is', async () => {
  const { sql, drop } = await testDatabase()
  await sql`update schema_migrations set checksum = 'other' where number = 1`
  await expect(migrate(sql, silent)).rejects.toThrow('was made by another build')
  await sql`insert into schema_migrations (number, name, checksum) values (1000, 'later', '')`
  await expect(migrate(sql, silent)).rejects.toThrow('run the newer program')
  await drop()
})

test('instances that start at once apply each migration once, and hold no lock after that', async () => {
  const { sql, pool, drop } = await testDatabase()
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
