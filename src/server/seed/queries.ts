import type { Sql } from '../../database/client.ts'

/** Vacuums and analyzes all tables, so that the first queries are as fast as later ones. */
export async function refreshStatistics(sql: Sql): Promise<void> {
  const [row] = await sql<{ tables: string }[]>`
    select string_agg(quote_ident(c.relname), ', ') as tables
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace
      and c.relkind = 'r'`
  await sql.unsafe(`vacuum analyze ${row?.tables}`)
}
