import type { Sql } from '../../database/client.ts'

/** Any plan is fast for a table with fewer pages of 8 KiB. */
const SMALL = 8

/**
 * Analyzes the tables of commits that have more than doubled since their last analyze. Before autovacuum has run, the
 * planner chooses the index of a whole project instead of that of a file: 100 commits take 800 ms instead of 60. Call it
 * outside of transactions. It skips locked tables.
 */
export async function analyzeGrownTables(sql: Sql): Promise<void> {
  const grown = await sql<{ name: string }[]>`
    select c.relname as name
    from pg_class c
    where c.oid in ('commits'::regclass, 'commit_files'::regclass, 'files'::regclass, 'file_authors'::regclass)
      and pg_relation_size(c.oid) / current_setting('block_size')::integer > 2 * greatest(c.relpages, ${SMALL})`
  for (const { name } of grown) await sql`analyze (skip_locked) ${sql(name)}`
}
