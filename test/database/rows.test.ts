import { expect, test } from 'bun:test'
import { unnest } from '../../src/database/rows.ts'
import { testsDatabase } from '../support/postgres.ts'

const database = await testsDatabase()

const ROW = {
  id: 'a',
  count: 1,
  isSmall: true,
  day: '2026-01-31',
  at: 'infinity',
  hash: '00ff',
  cost: '0.10',
}
const OTHER = { ...ROW, id: 'b, "c"', isSmall: false, at: '2026-01-31T12:34:56.789123Z', hash: null }

test('rows become a table, by the type of each column', async () => {
  const table = (rows: readonly (Omit<typeof ROW, 'hash'> & { hash: string | null })[]) => database.sql`
    select n.id, n.count, n.small, n.day, n.at::text as at, encode(n.hash, 'hex') as hash, n.cost
    from ${unnest(database.sql, rows, {
      id: 'text',
      count: 'integer',
      small: ['boolean', ({ isSmall }) => isSmall],
      day: 'date',
      at: 'timestamptz',
      hash: 'bytea',
      cost: 'numeric',
    })}`
  const shared = { count: 1, day: '2026-01-31', cost: '0.10' }
  const first = { id: 'a', small: true, at: 'infinity', hash: '00ff', ...shared }
  const second = { id: 'b, "c"', small: false, at: '2026-01-31 12:34:56.789123+00', hash: null, ...shared }
  expect<object[]>([...(await table([ROW, OTHER]))]).toEqual([first, second])
  expect<object[]>([...(await table([OTHER, ROW]))]).toEqual([second, first])
  expect(await table([])).toHaveLength(0)
})

test('any number of rows is one prepared statement', async () => {
  await database.sql.begin(async (tx) => {
    for (const count of [0, 1, 2, 100]) {
      const rows = Array.from({ length: count }, (_, index) => ({ id: String(index) }))
      expect(await tx`select m.id from ${unnest(tx, rows, { id: 'text' }, 'm')}`).toHaveLength(count)
    }
    const prepared = await tx`
      select p.statement
      from pg_prepared_statements p
      where p.statement like '%as m (id)%'
        and p.statement not like '%pg_prepared_statements%'`
    expect(prepared).toHaveLength(1)
  })
})
