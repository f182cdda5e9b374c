// Analyzes tables that have more than doubled since their last analyze, with what the transaction has written. Before that,
// the planner takes an index that has the values of one row or of a whole project for equally fast: the first 9,000 commits
// of a database take 20 s instead of 7. Skips locked tables, and those of Citus, whose rows are elsewhere.

import type { ISql } from './client.ts'

/** Any plan is fast for a table with fewer pages of 8 KiB. */
const SMALL = 8

export async function analyzeGrownTables(tx: ISql, tables: readonly string[]): Promise<void> {
  const grown = await tx<{ name: string }[]>`
    select c.relname as name
    from pg_class c
    where c.oid = any(${tables}::regclass[])
      and pg_relation_size(c.oid) / current_setting('block_size')::integer > 2 * greatest(c.relpages, ${SMALL})`
  for (const { name } of grown) await tx`analyze (skip_locked) ${tx(name)}`
}
