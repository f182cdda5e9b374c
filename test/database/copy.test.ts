import { beforeAll, expect, test } from 'bun:test'
import { copyRows } from '../../src/database/copy.ts'
import { testsDatabase } from '../support/postgres.ts'

const db = await testsDatabase()
beforeAll(async () => {
  await db.sql`create table copied (org_id text, id integer primary key check (id > 0), text text)`
})

/** Copies in a transaction; `meanwhile` is called at each row. */
const copy = (rows: readonly [number, string | null][], meanwhile: (pid: number) => void = () => {}) =>
  db.sql.begin(async (tx) => {
    const [backend] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
    await copyRows(tx, 'org_a', 'copied', rows, {
      id: [
        'integer',
        ([id]) => {
          meanwhile(backend?.pid ?? 0)
          return id
        },
      ],
      text: ['text', ([, text]) => text],
    })
  })
const stored = () => db.sql`select c.id, c.text from copied c order by c.id`

test('rows are stored as they are', async () => {
  await copy([
    [1, 'a\tb\nc\\d\r'],
    [2, null],
    [3, '\\N'],
  ])
  expect([...(await stored())]).toEqual([
    { id: 1, text: 'a\tb\nc\\d\r' },
    { id: 2, text: null },
    { id: 3, text: '\\N' },
  ])
})

test('a refused row rejects with its error, also the last one, and nothing is stored', async () => {
  const many = Array.from({ length: 20_000 }, (_none, index): [number, string] => [
    index + 10,
    'x'.repeat(100),
  ])
  for (const rows of [[[-1, 'x']], [...many, [-1, 'x']], [[-1, 'x'], ...many]] as [number, string][][]) {
    const error = await copy(rows).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: '23514' })
    expect(await stored()).toHaveLength(3)
  }
})

test('a connection that is lost rejects', async () => {
  const many = Array.from({ length: 200_000 }, (_none, index): [number, string] => [
    index + 10,
    'x'.repeat(100),
  ])
  let lost: Promise<unknown> | undefined
  const error = await copy(many, (pid) => {
    lost ??= db.sql`select pg_terminate_backend(${pid})`.then()
  }).catch((reason: unknown) => reason)
  await lost
  expect(error).toBeInstanceOf(Error)
  expect(await stored()).toHaveLength(3)
})
