import type { Sql } from '../../src/database/client.ts'

// The rows that a query reads, as PostgreSQL counts them: the statements are recorded by the driver and run
// again under EXPLAIN ANALYZE, once with a custom and once with a generic plan.

interface Statement {
  text: string
  parameters: readonly unknown[]
}

/** The tables that grow with an organization's history. Its rollups grow with its days, projects, files and people. */
const HISTORY: ReadonlySet<string> = new Set([
  'sessions',
  'session_details',
  'session_usage',
  'session_links',
  'findings',
  'audit_log',
  'pr_risks',
  'pr_commits',
  'commits',
  'commit_files',
  'webhook_events',
  'webhook_deliveries',
  'webhook_attempts',
])

/** Rows of these tables that a statement reads. */
export interface Reads {
  /** Rows fetched from the table. */
  rows: number
  /** Index entries read by index-only scans, which need no table row once VACUUM has processed the page. */
  indexOnly: number
}

/** A plan for these parameters, or one for any; PostgreSQL chooses between them by cost. */
type PlanKind = 'force_custom_plan' | 'force_generic_plan'

/** The part of `explain (analyze, format json)` that is read here. */
interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: PlanNode[]
}

/** Records the queries that `run` sends on `sql`, which nothing else may use meanwhile. */
export async function statementsOf(sql: Sql, run: () => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = []
  const { options } = sql
  const before = options.debug
  // the driver reads the option at every statement
  options.debug = (_connection, text, parameters) => {
    if (/^\s*(select|with)\b/.test(text)) statements.push({ text, parameters: [...parameters] })
  }
  try {
    await run()
  } finally {
    options.debug = before
  }
  return statements
}

/** Runs the statement with a plan of the kind `plan`; returns the rows of `tables` that it reads. */
export function readsOf(
  sql: Sql,
  { text, parameters }: Statement,
  plan: PlanKind,
  tables = HISTORY,
): Promise<Reads> {
  return sql.begin('read only', async (tx) => {
    await tx.unsafe(`set local plan_cache_mode = ${plan}`)
    await tx.unsafe(`prepare reads as ${text}`)
    const values = parameters.length === 0 ? '' : `(${parameters.map(literal).join(', ')})`
    const [row] = await tx.unsafe<{ 'QUERY PLAN': { Plan: PlanNode }[] }[]>(
      `explain (analyze, timing off, format json) execute reads${values}`,
    )
    await tx.unsafe('deallocate reads')
    const root = row?.['QUERY PLAN'][0]?.Plan
    if (root === undefined) throw new Error('EXPLAIN gave no plan')
    return sum(root, tables)
  })
}

function literal(value: unknown): string {
  if (value === null) return 'null'
  if (value instanceof Date) return literal(value.toISOString())
  if (Array.isArray(value)) return literal(`{${value.map((item) => JSON.stringify(item)).join(',')}}`)
  const kind = typeof value
  if (kind !== 'string' && kind !== 'number') throw new Error(`no literal for a parameter of type ${kind}`)
  return `'${String(value).replaceAll("'", "''")}'`
}

/** Sums a plan's counts, which are means over the loops with two decimals. */
function sum(node: PlanNode, tables: ReadonlySet<string>): Reads {
  const reads = { rows: 0, indexOnly: 0 }
  if (tables.has(node['Relation Name'] ?? '')) {
    const each =
      node['Actual Rows'] +
      (node['Rows Removed by Filter'] ?? 0) +
      (node['Rows Removed by Index Recheck'] ?? 0)
    const all = Math.round(each * node['Actual Loops'])
    if (node['Node Type'] === 'Index Only Scan') reads.indexOnly = all
    else reads.rows = all
  }
  for (const child of node.Plans ?? []) {
    const below = sum(child, tables)
    reads.rows += below.rows
    reads.indexOnly += below.indexOnly
  }
  return reads
}

/** The rows that all statements read together, with plans of one kind. */
export async function readsOfAll(
  sql: Sql,
  statements: readonly Statement[],
  plan: PlanKind,
  tables = HISTORY,
): Promise<Reads> {
  const total = { rows: 0, indexOnly: 0 }
  for (const statement of statements) {
    const { rows, indexOnly } = await readsOf(sql, statement, plan, tables)
    total.rows += rows
    total.indexOnly += indexOnly
  }
  return total
}

/** The rows of `tables` that the statements of `run` read, of the kind of plan that reads more. */
export async function mostRead(sql: Sql, run: () => Promise<unknown>, tables = HISTORY): Promise<Reads> {
  const statements = await statementsOf(sql, run)
  if (statements.length === 0) throw new Error('no statement was caught')
  const custom = await readsOfAll(sql, statements, 'force_custom_plan', tables)
  const generic = await readsOfAll(sql, statements, 'force_generic_plan', tables)
  return {
    rows: Math.max(custom.rows, generic.rows),
    indexOnly: Math.max(custom.indexOnly, generic.indexOnly),
  }
}
