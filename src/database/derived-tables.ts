// Computes sums again from the sessions, and finds rows that differ: for `doctor`.

import { plural } from '../base/text.ts'
import type { Fragment, ISql, Sql } from './client.ts'

/** The id of an organization: a value, or the column of a statement that reads several. */
export type OrgId = string | Fragment

/**
 * A table of sums, or rollup. Lists and charts over a year read some rollup rows instead of every session: a row has the
 * count and the sums of one day or month (of the organization's zone), by project, member or another key. The transaction
 * that changes a session also adds the difference to its rollup rows. `doctor` computes the rows again and compares them.
 */
export interface DerivedTable {
  name: string
  /** All columns but org_id. Differences are listed in their order. */
  columns: readonly string[]
  /** Computes the rows from all of the organization's data. */
  query: (sql: ISql, orgId: OrgId) => Fragment
  /** The column of a count that writers add to: 0 equals no row. The other columns are the key. */
  count?: string
  /** Names a row in a message; values are texts. */
  describe: (row: Readonly<Record<string, string>>) => string
}

/** A derived table whose rows no query computes: the program does. */
export interface ProgramTable extends Pick<DerivedTable, 'name' | 'describe'> {
  /** The first row of the organization that differs. `onRead` gets how many sessions were read next. */
  findDiffering: (
    sql: Sql,
    orgId: string,
    onRead?: (sessions: number) => void,
  ) => Promise<Record<string, string> | undefined>
  /** Deletes the organization's rows and computes them again. Needs the organization's lock. */
  rebuild: (tx: ISql, orgId: string) => Promise<void>
}

export type CheckedTable = DerivedTable | ProgramTable

/** Computes the organization's rows of these tables again, in the order given. Needs the organization's lock. */
export async function rebuildTables(tx: ISql, orgId: string, tables: readonly CheckedTable[]): Promise<void> {
  for (const table of tables) {
    if ('rebuild' in table) {
      await table.rebuild(tx, orgId)
      continue
    }
    const { name, columns, query, count } = table
    const names = tx.unsafe(columns.join(', '))
    await tx`
      delete from ${tx(name)} t
      where t.org_id = ${orgId}`
    await tx`
      insert into ${tx(name)} as t (org_id, ${names})
      select ${orgId}, ${names}
      from (${query(tx, orgId)}) q
      ${count === undefined ? tx`` : addToCount(tx, columns, count)}`
  }
}

const addToCount = (tx: ISql, columns: readonly string[], count: string) => tx`
  on conflict (org_id, ${tx.unsafe(columns.filter((column) => column !== count).join(', '))}) do update set
    ${tx(count)} = t.${tx(count)} + excluded.${tx(count)}`

/** Organizations that one statement compares: 2,000 statements of each table take longer to plan than to execute. */
const ORGANIZATIONS = 100

/**
 * The organizations with rows that differ, each with its first. `oneByOne`: Citus refuses statements on several. `onProgress`
 * gets how many tables of an organization are compared, and what is read.
 */
export async function findDiffering(
  sql: Sql,
  orgIds: readonly string[],
  tables: readonly CheckedTable[],
  { oneByOne, onProgress }: { oneByOne: boolean; onProgress: (compared: number, note: string) => void },
): Promise<Map<string, string>> {
  const rows = new Map<string, string>()
  const size = oneByOne ? 1 : ORGANIZATIONS
  let [done, compared] = [0, 0]
  const compareNext = async (): Promise<void> => {
    while (done < orgIds.length) {
      const ids = orgIds.slice(done, done + size)
      done += ids.length
      for (const table of tables.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
        onProgress(compared, table.name)
        let read = 0
        const onRead = (sessions: number) => {
          read += sessions
          onProgress(compared, `${table.name}, ${plural(read, 'session')}`)
        }
        for (const { org_id, ...row } of await firstDiffering(sql, ids, table, onRead)) {
          if (org_id !== undefined && !rows.has(org_id)) rows.set(org_id, table.describe(row))
        }
        compared += ids.length
      }
    }
  }
  // a command has two connections
  await Promise.all([compareNext(), compareNext()])
  return rows
}

/** The first row that differs of each organization that has one, with its `org_id`. */
async function firstDiffering(
  sql: Sql,
  orgIds: readonly string[],
  table: CheckedTable,
  onRead: (sessions: number) => void,
) {
  if ('rebuild' in table) {
    const rows = []
    for (const org_id of orgIds) {
      const row = await table.findDiffering(sql, org_id, onRead)
      if (row !== undefined) rows.push({ ...row, org_id })
    }
    return rows
  }
  const [first, ...others] = orgIds
  if (first !== undefined && others.length === 0) {
    const rows = await sql<Record<string, string>[]>`${differences(sql, first, table, 1)}`
    return rows.map((row) => ({ ...row, org_id: first }))
  }
  return await sql<Record<string, string>[]>`
    select o.org_id, d.*
    from unnest(${orgIds}::text[]) as o (org_id)
    cross join lateral (${differences(sql, sql`o.org_id`, table, 1)}) d`
}

/** The organization's rows that differ from what their query computes, by their columns. */
export function differences(
  sql: ISql,
  orgId: OrgId,
  { name, columns, query, count }: Omit<DerivedTable, 'describe'>,
  limit: number,
): Fragment {
  const names = sql.unsafe(columns.join(', '))
  return sql`
    with computed as (
      select ${names}
      from (${query(sql, orgId)}) q
    ),
    stored as (
      select ${names}
      from ${sql(name)} t
      where t.org_id = ${orgId}
        ${count === undefined ? sql`` : sql`and t.${sql(count)} <> 0`}
    )
    select ${sql.unsafe(columns.map((column) => `d.${column}::text as ${column}`).join(', '))}
    from (
      (table computed except all table stored)
      union all
      (table stored except all table computed)
    ) d
    order by ${sql.unsafe(columns.map((column) => `d.${column}`).join(', '))}
    limit ${limit}`
}
