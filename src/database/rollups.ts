// Declares tables of sums, adds differences to them, moves their rows, and compares them with the rows that they sum.

import type { Fragment, ISql } from './client.ts'
import type { DerivedTable, OrgId } from './derived-tables.ts'
import { unnest } from './rows.ts'

/** Stands for no project in tables of sums in which '' stands for all. A project's name is shorter. */
export const WITHOUT_PROJECT = '-'.repeat(201)

/** The project of the rows that have the sums of this filter: undefined for all projects, '' for what has none. */
export const summedProject = (project: string | undefined): string =>
  project === '' ? WITHOUT_PROJECT : (project ?? '')

export const describeSummed = (project: string | undefined): string =>
  project === WITHOUT_PROJECT ? 'no project' : project || 'all projects'

/** Makes `rows` of all rows of a table. */
export const tableRows =
  (name: string): Declared['rows'] =>
  (sql, orgId, table = sql.unsafe(name)) =>
    sql`
    from ${table} s
    where s.org_id = ${orgId}`

/** The condition that a session or finding `s` is of these days, with its time for indexes: days begin within 15 h of UTC's. */
export const betweenDays = (sql: ISql, first: Fragment, before: Fragment): Fragment => sql`
  s.created_at >= (${first})::timestamp at time zone 'UTC' - interval '15 hours'
  and s.created_at < (${before})::timestamp at time zone 'UTC' + interval '15 hours'
  and s.day >= ${first}
  and s.day < ${before}`

/** The project of a row that is counted, as tables have it in which '' stands for all. */
export const countedProject = (sql: ISql, column: 's.project' | 'b.project' | 'k.project'): Fragment =>
  sql`coalesce(nullif(${sql.unsafe(column)}, ''), ${WITHOUT_PROJECT})`

/** The declaration of a rollup: it is written, compared by `doctor` and rebuilt by the same query. */
interface Declared {
  name: string
  key: readonly string[]
  /** Leading columns of the key: most rows of a large import have values of these that the table lacks. */
  prefix?: readonly string[]
  sums: readonly string[]
  /**
   * Pairs of columns, with the least and the greatest value of what is counted, in the table's order: Citus 13.0 sorts the
   * columns of `set (…) = (select …)` so, but not what they are set to.
   */
  ranges?: readonly (readonly [least: string, greatest: string])[]
  /** `from … where …`: the organization's rows that are counted, as `s`; sums of usage may have others in place of their table. */
  rows: (sql: ISql, orgId: OrgId, table?: Fragment) => Fragment
  count: (sql: ISql, rows: Fragment) => Fragment
  /**
   * Rows in which the columns of `ranges` of the rollup's row `r` are found again, after rows were removed that
   * had one of them. Each is for the rows of which the removed counts `b` meet its condition; they are applied in this order.
   */
  extremes?: readonly { of: (sql: ISql) => Fragment; from: (sql: ISql, orgId: string) => Fragment }[]
  describe: DerivedTable['describe']
}

export interface Rollup extends Omit<Declared, 'count'>, Omit<DerivedTable, 'count'> {
  countRows: Declared['count']
}

export const rollup = ({ count, ...declared }: Declared): Rollup => ({
  ...declared,
  countRows: count,
  columns: rollupColumns(declared, declared.key),
  query: (sql, orgId) => count(sql, declared.rows(sql, orgId)),
})

const rollupColumns = ({ sums, ranges = [] }: Omit<Declared, 'count'>, key: readonly string[] = []) => [
  ...key,
  ...sums,
  ...ranges.flat(),
]

/** Conditions on rows `s`: those that a write may replace, and those that it writes. Undefined: none. */
interface Counted {
  before: Fragment | undefined
  after: Fragment | undefined
  /** Whether `after` is of many rows; false unless given. */
  isLarge?: boolean
}

/** Does `write`, which changes rows of one table, and adds the difference to their rollups. Needs the organization's lock. */
export async function counting<Result>(
  tx: ISql,
  orgId: string,
  rollups: readonly Rollup[],
  { before, after, isLarge = false }: Counted,
  write: () => Promise<Result>,
): Promise<Result> {
  const finish = await beginCounting(tx, orgId, rollups, before)
  const result = await write()
  await finish(after, isLarge)
  return result
}

/** The same in two steps: the rows may change in between. The second, which is returned, needs the lock. */
export async function beginCounting(
  tx: ISql,
  orgId: string,
  rollups: readonly Rollup[],
  before: Fragment | undefined,
): Promise<(after: Fragment | undefined, isLarge?: boolean) => Promise<void>> {
  const counts = ({ rows, countRows }: Rollup, condition: Fragment) =>
    countRows(tx, tx`${rows(tx, orgId)} and ${condition}`)
  const stored = await Promise.all(
    rollups.map(async (each) => {
      if (before === undefined) return null
      const [row] = await tx<{ counts: string | null }[]>`
        select json_agg(q)::text as counts
        from (${counts(each, before)}) q`
      return row?.counts ?? null
    }),
  )
  return async (after, isLarge = false) => {
    await Promise.all(
      rollups.map(async (each, index) => {
        const removed = stored[index] ?? null
        await addDifference(tx, orgId, each, {
          before: removed === null ? undefined : storedCounts(tx, each, removed),
          after: after && counts(each, after),
          isLarge,
        })
      }),
    )
  }
}

/** JSON of rows of a rollup as these rows. */
const storedCounts = (tx: ISql, { name }: Rollup, json: string) => tx`
  select b.*
  from json_populate_recordset(null::${tx(name)}, ${json}::text::json) b`

/** Changes the rollup by the counts `before` and `after`, which have its columns. Needs the organization's lock. */
export async function addDifference(
  tx: ISql,
  orgId: string,
  changed: Rollup,
  { before, after, isLarge = false }: Counted,
): Promise<void> {
  const { name, key, prefix = [], sums, ranges = [] } = changed
  const list = (columns: readonly string[], columnText: (column: string) => string, separator = ', ') =>
    tx.unsafe(columns.map(columnText).join(separator))
  const keys = list(key, (column) => column)
  const values = list(rollupColumns(changed, key), (column) => column)
  const insert = (rows: Fragment) => tx`
    insert into ${tx(name)} as r (org_id, ${values})
    select ${orgId}, ${rows}
    on conflict (org_id, ${keys}) do update set ${mergedBy(tx, changed, 'r')}`
  // rows whose prefix the table lacks conflict with none and are inserted without a look for each: a third less time for many
  // rows; planning takes 1 ms longer
  const insertByPrefix = (added: Fragment) => {
    const ofQ = list(prefix, (column) => `q.${column}`)
    const isKnown = tx`(${ofQ}) in (select ${list(prefix, (column) => `k.${column}`)} from known k)`
    return tx`
      with q as materialized (
        select ${added}
      ),
      known as materialized (
        select ${ofQ}
        from (select distinct ${ofQ} from q) q
        where exists (
          select
          from ${tx(name)} r
          where r.org_id = ${orgId}
            and ${list(prefix, (column) => `r.${column} = q.${column}`, ' and ')}
          -- looks each up by the key: the plan of a table that is empty yet compared all rows with each, ever after
          offset 0
        )
      ),
      inserted as (
        insert into ${tx(name)} (org_id, ${values})
        select ${orgId}, ${values}
        from q
        where not ${isKnown}
      ),
      merged as (
        ${insert(tx`${values} from q where ${isKnown}`)}
      )
      select`
  }
  const isChanged = (text: (column: string) => string) =>
    list(sums, (column) => `${text(column)} <> 0`, ' or ')
  if (before === undefined) {
    if (after === undefined) return
    const added = tx`${values} from (${after}) q where ${isChanged((column) => column)}`
    await (isLarge && prefix.length > 0 ? insertByPrefix(added) : insert(added))
    return
  }
  const select = (counts: Fragment, sign: '' | '-') => tx`
    select ${list(rollupColumns(changed, key), (column) => `${sums.includes(column) ? sign : ''}q.${column} as ${column}`)}
    from (${counts}) q`
  const differences = after ? tx`${select(after, '')} union all ${select(before, '-')}` : select(before, '-')
  const [row] = await tx<{ empty: string | null }[]>`
    with changed as (
      ${insert(tx`
        ${keys},
        ${list(rollupColumns(changed), (column) => aggregated(changed, column, 'd'))}
      from (${differences}) d
      group by ${keys}
      -- sessions may have been replaced by others that are counted alike
      ${ranges.length > 0 ? tx`` : tx`having ${isChanged((column) => `sum(d.${column})`)}`}`)}
      returning ${list(rollupColumns(changed, key), (column) => `r.${column}`)}
    )
    select json_agg(c)::text as empty
    from changed c
    where greatest(${list(sums, (column) => `c.${column}`)}) = 0`
  const isRow = list(key, (column) => `r.${column} = b.${column}`, ' and ')
  if (row?.empty != null)
    await tx`
      delete from ${tx(name)} r
      using (${storedCounts(tx, changed, row.empty)}) b
      where r.org_id = ${orgId}
        and ${isRow}`
  for (const { of, from } of changed.extremes ?? [])
    await tx`
      -- materialized: a condition such as grain = 'day' would else select rows first, and compare each with each of b
      with b as materialized (
        select b.*
        from (${before}) b
        where ${of(tx)}
      )
      update ${tx(name)} r
      set (${list(ranges.flat(), (column) => column)}) = (
        select ${list(ranges.flat(), (column) => aggregated(changed, column, 'e'))}
        from (${from(tx, orgId)}) e
      )
      from b
      where r.org_id = ${orgId}
        and ${isRow}
        and (${tx.unsafe(
          ranges
            .map(([least, greatest]) => `b.${least} <= r.${least} or b.${greatest} >= r.${greatest}`)
            .join(' or '),
        )})`
}

/** The value of several rows together. */
const aggregated = ({ sums, ranges = [] }: Rollup, column: string, alias: string): string => {
  const aggregate = sums.includes(column) ? 'sum' : ranges.some(([least]) => least === column) ? 'min' : 'max'
  return `${aggregate}(${alias}.${column})`
}

/** `set` of a row that is there: it gets the sums of both, the lesser and the greater values. */
const mergedBy = (tx: ISql, { sums, ranges = [] }: Rollup, stored: string): Fragment =>
  tx.unsafe(
    [
      ...sums.map((column) => `${column} = ${stored}.${column} + excluded.${column}`),
      ...ranges.flatMap(([least, greatest]) => [
        `${least} = least(${stored}.${least}, excluded.${least})`,
        `${greatest} = greatest(${stored}.${greatest}, excluded.${greatest})`,
      ]),
    ].join(', '),
  )

/** An old name and its new one, which may have data already. */
export interface Renaming {
  from: string
  to: string
}

/** Adds the rows of projects or members to those of others, and deletes them. Needs the organization's lock. */
export async function moveRows(
  tx: ISql,
  orgId: string,
  moved: Rollup,
  column: 'project' | 'member',
  renamings: readonly Renaming[],
): Promise<void> {
  const rest = moved.columns.filter((each) => each !== column)
  const columnText = (each: string) => (moved.key.includes(each) ? `f.${each}` : aggregated(moved, each, 'f'))
  const names = unnest(tx, renamings, { old: ['text', ({ from }) => from], new: ['text', ({ to }) => to] })
  await tx`
    insert into ${tx(moved.name)} as t (org_id, ${tx(column)}, ${tx.unsafe(rest.join(', '))})
    select ${orgId}, n.new, ${tx.unsafe(rest.map(columnText).join(', '))}
    from ${tx(moved.name)} f
    join ${names} on n.old = f.${tx(column)}
    where f.org_id = ${orgId}
    group by ${tx.unsafe(['n.new', ...rest.filter((each) => moved.key.includes(each)).map((each) => `f.${each}`)].join(', '))}
    on conflict (org_id, ${tx.unsafe(moved.key.join(', '))}) do update set ${mergedBy(tx, moved, 't')}`
  await tx`
    delete from ${tx(moved.name)} t
    where t.org_id = ${orgId}
      and t.${tx(column)} = any(${renamings.map(({ from }) => from)}::text[])`
}
