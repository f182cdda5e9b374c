import type { Fragment, Sql } from '../client.ts'

/**
 * Reads all rows of a statement from one snapshot, `size` at a time, without having all of them in memory. The next are read
 * when `take` has ended, which is called at least once; a transaction holds its connection meanwhile. Rejects as `take` does.
 */
export async function readAll<Row extends object>(
  sql: Sql,
  statement: Fragment,
  size: number,
  take: (rows: readonly Row[]) => Promise<void>,
): Promise<void> {
  await sql.begin('isolation level repeatable read read only', async (tx) => {
    // planned for all rows, and not for the first ones
    await tx`set local cursor_tuple_fraction = 1`
    await tx`declare every_row no scroll cursor for ${statement}`
    let count: number
    do {
      // each has the time of a statement of its own
      const rows = await tx.unsafe<Row[]>(`fetch ${size} from every_row`)
      count = rows.length
      await take(rows)
    } while (count === size)
  })
}
