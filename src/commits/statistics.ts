import type { Sql } from '../db/client.ts'

/** Below so many pages of 8 KiB any plan is fast. */
const SMALL = 8

/**
 * Tells the planner of what was written, where the tables of commits have doubled since it last looked: a database without
 * autovacuum's visit takes the index of a whole project for that of a file (100 commits in 800 ms in place of 60). Call it
 * outside of transactions. Waits for nobody.
 */
export async function analyzeGrown(sql: Sql): Promise<void> {
  const grown = await sql<{ name: string }[]>`
    select c.relname as name
    from pg_class c
    where c.oid in ('commits'::regclass, 'commit_files'::regclass, 'files'::regclass, 'file_authors'::regclass)
      and pg_relation_size(c.oid) / current_setting('block_size')::integer > 2 * greatest(c.relpages, ${SMALL})`
  for (const { name } of grown) await sql`analyze (skip_locked) ${sql(name)}`
}
