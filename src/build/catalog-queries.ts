import type { Sql } from '../database/client.ts'

/**
 * The schema `public` of a database as SQL that creates it, read from PostgreSQL's catalog. Tables, indexes
 * and functions are ordered by name, so that the text depends neither on the migrations that made the schema
 * nor on the server's version (15 to 18). Foreign keys follow all tables, since tables may refer to each
 * other.
 */
export async function describeSchema(sql: Sql): Promise<string> {
  const [tables, foreignKeys, indexes, functions] = await Promise.all([
    describeTables(sql),
    describeForeignKeys(sql),
    describeIndexes(sql),
    describeFunctions(sql),
  ])
  const described = tables.map(({ name, text }) => {
    const tableIndexes = indexes.filter(({ table }) => table === name).map((index) => `${index.text};`)
    return [text, ...tableIndexes].join('\n')
  })
  return `${[...described, ...foreignKeys, ...functions].join('\n\n')}\n`
}

/** Columns in the order in which they are stored, then constraints: the primary key, unique ones, checks. */
function describeTables(sql: Sql): Promise<{ name: string; text: string }[]> {
  return sql`
    select
      c.relname as name,
      concat(
        'create ', case c.relpersistence when 'u' then 'unlogged ' end, 'table ', quote_ident(c.relname), E' (\n  ',
        array_to_string(l.columns || k.constraints, E',\n  '), E'\n)',
        ' with (' || array_to_string(c.reloptions, ', ') || ')', ';'
      ) as text
    from pg_class c
    cross join lateral (
      select array_agg(
        concat_ws(
          ' ',
          quote_ident(a.attname),
          format_type(a.atttypid, a.atttypmod),
          case when a.attcollation <> t.typcollation then 'collate ' || quote_ident(o.collname) end,
          case when a.attnotnull then 'not null' end,
          case a.attgenerated when 's' then 'generated always as (' || trim(e.text) || ') stored' else 'default ' || e.text end
        )
        order by a.attnum
      ) as columns
      from pg_attribute a
      join pg_type t on t.oid = a.atttypid
      left join pg_collation o on o.oid = a.attcollation
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      cross join lateral (
        select regexp_replace(pg_get_expr(d.adbin, d.adrelid, true), '\\s+', ' ', 'g') as text
      ) e
      where a.attrelid = c.oid
        and a.attnum > 0
        and not a.attisdropped
    ) l
    cross join lateral (
      select array_agg(
        concat('constraint ', quote_ident(n.conname), ' ', pg_get_constraintdef(n.oid, true))
        order by position(n.contype in 'puc'), n.conname collate "C"
      ) as constraints
      from pg_constraint n
      where n.conrelid = c.oid
        and n.contype in ('p', 'u', 'c')
    ) k
    where c.relnamespace = 'public'::regnamespace
      and c.relkind = 'r'
    order by c.relname collate "C"`
}

async function describeForeignKeys(sql: Sql): Promise<string[]> {
  const rows = await sql<{ text: string }[]>`
    select
      concat(
        'alter table ', quote_ident(c.relname), ' add constraint ', quote_ident(n.conname), ' ',
        pg_get_constraintdef(n.oid, true), ';'
      ) as text
    from pg_constraint n
    join pg_class c on c.oid = n.conrelid
    where n.connamespace = 'public'::regnamespace
      and n.contype = 'f'
    order by c.relname collate "C", n.conname collate "C"`
  return rows.map((row) => row.text)
}

/** Indexes, except those of constraints. */
function describeIndexes(sql: Sql): Promise<{ table: string; text: string }[]> {
  return sql`
    select c.relname as table, pg_get_indexdef(i.indexrelid, 0, true) as text
    from pg_index i
    join pg_class c on c.oid = i.indrelid
    join pg_class x on x.oid = i.indexrelid
    where c.relnamespace = 'public'::regnamespace
      and not exists (select from pg_constraint n where n.conindid = i.indexrelid and n.contype in ('p', 'u'))
    order by c.relname collate "C", x.relname collate "C"`
}

async function describeFunctions(sql: Sql): Promise<string[]> {
  const rows = await sql<{ text: string }[]>`
    select
      case p.prokind
        when 'a' then format(
          'CREATE AGGREGATE %s (SFUNC = %s, STYPE = %s, INITCOND = %L);',
          p.oid::regprocedure, a.aggtransfn, a.aggtranstype::regtype, a.agginitval
        )
        else rtrim(pg_get_functiondef(p.oid), E'\n') || ';'
      end as text
    from pg_proc p
    left join pg_aggregate a on a.aggfnoid = p.oid
    where p.pronamespace = 'public'::regnamespace
    order by p.proname collate "C", pg_get_function_identity_arguments(p.oid)`
  return rows.map((row) => row.text)
}
