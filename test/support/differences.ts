import type { ISql } from '../../src/db/client.ts'
import { type CheckedTable, differences } from '../../src/db/derived-tables.ts'

/** Rows that differ are read up to this number in each table. */
const MAX_DIFFERENCES = 100

/** Describes the rows that differ from what their queries compute, ordered by table and columns; [] when all agree. */
export async function findDifferences(
  sql: ISql,
  orgId: string,
  tables: readonly CheckedTable[],
): Promise<string[]> {
  const found = new Set<string>()
  for (const table of tables.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const rows =
      'rebuild' in table
        ? await table.findDiffering(sql, [orgId])
        : await sql<Record<string, string>[]>`${differences(sql, orgId, table, MAX_DIFFERENCES)}`
    for (const row of rows) found.add(table.describe(row))
  }
  return [...found]
}
