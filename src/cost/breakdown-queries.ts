import type { Fragment, Sql } from '../db/client.ts'
import { memberAddresses } from '../db/member-addresses.ts'
import { JsonText } from '../json-text.ts'
import type { Own } from '../people/visibility-queries.ts'
import type { Dimension } from '../usage/model.ts'
import { usageRows } from '../usage/sources.ts'
import type { BreakdownKey, BreakdownQuery } from './breakdown-model.ts'

const isDimension = (key: BreakdownKey | undefined): key is Dimension =>
  key !== undefined && key !== 'day' && key !== 'week' && key !== 'month'

/** The key of what is summed without being named. */
const OTHERS = '(others)'

/** A key as text, of a row `r`; weeks begin on Monday, as 0001-01-01 was. With `own` all other members are one. */
function keyOf(sql: Sql, key: BreakdownKey, own: Own | null): Fragment {
  switch (key) {
    case 'day':
      return sql`r.bucket::text`
    case 'week':
      return sql`(r.bucket - (r.bucket - '0001-01-01'::date) % 7)::text`
    case 'month':
      return sql`date_trunc('month', r.bucket::timestamp)::date::text`
    case 'member':
      if (own !== null) {
        return sql`case when r.member = any (${own.keys}::text[]) then ${own.id}::text else ${OTHERS}::text end`
      }
      return sql`coalesce((select i.of_address from ids i) ->> r.member, nullif(r.member, ''))`
    default:
      return sql`nullif(r.${sql(key)}, '')`
  }
}

/** The order of sums `g`; ties are broken by the keys, those without one last. */
function orderOf(sql: Sql, { sort, order }: BreakdownQuery): Fragment {
  const direction = order === 'asc' ? sql`asc` : sql`desc`
  const keys = (towards: Fragment) =>
    sql`g.key collate "C" ${towards} nulls last, g.and_key collate "C" ${towards} nulls last`
  switch (sort) {
    case 'cost':
      return sql`g.cost ${direction}, ${keys(sql`asc`)}`
    case 'tokens':
      return sql`g.input + g.output + g.cache_read + g.cache_creation ${direction}, ${keys(sql`asc`)}`
    case 'sessions':
      return sql`g.sessions ${direction}, ${keys(sql`asc`)}`
    case 'key':
      return keys(direction)
  }
}

/** The sums of `g` as JSON text without braces, but for `share`. */
const SUMS_ITEM = `'"sessions":' || g.sessions || ',"turns":' || g.turns
  || ',"tokens":{"input":' || g.input || ',"output":' || g.output
  || ',"cache_read":' || g.cache_read || ',"cache_creation":' || g.cache_creation
  || '},"cost":' || trim_scale(g.cost) || ',"share":' || trim_scale(g.share)
  || ',"unpriced_tokens":' || g.unpriced_tokens`

/**
 * What the sessions that match used, by one key or by pairs of two, with the total, as of one instant. A member's sessions
 * are together whether they were sent with the id or an address. With `own` the other members are not told apart.
 */
export async function getBreakdown(
  sql: Sql,
  orgId: string,
  query: BreakdownQuery,
  own: Own | null,
): Promise<JsonText> {
  const { by, and_by, page, per_page } = query
  const keys = [by, and_by]
  const columns = keys.filter(isDimension)
  const byDays = keys.includes('day') || keys.includes('week')
  const rows = usageRows(sql, orgId, query, { columns, byDays })
  // one value, looked up in: joined, each row was compared with each member. An address is of one member only.
  const ids = sql`
    ids as materialized (
      select jsonb_object_agg(m.address, m.id) as of_address
      from ${memberAddresses(sql, orgId)} m
    ),`
  // under its models a session counts more than once, in all once
  const [sessions, turns] = countedBy(sql, columns.includes('model') || query.model !== undefined)
  const [allSessions, allTurns] = countedBy(sql, query.model !== undefined)
  const [row] = await sql<{ groups: string; total: string; items: string | null }[]>`
    with ${columns.includes('member') ? ids : sql``}
    sums as materialized (
      select
        ${keyOf(sql, by, own)} as key,
        ${and_by === undefined ? sql`null::text` : keyOf(sql, and_by, own)} as and_key,
        sum(${sessions}) as sessions, sum(${turns}) as turns,
        sum(${allSessions}) as all_sessions, sum(${allTurns}) as all_turns, sum(r.cost) as cost,
        sum(r.input) as input, sum(r.output) as output, sum(r.cache_read) as cache_read,
        sum(r.cache_creation) as cache_creation, sum(r.unpriced_tokens) as unpriced_tokens
      from (${rows}) r
      group by 1, 2
    ),
    total as materialized (
      select
        count(*) as groups, coalesce(sum(g.all_sessions), 0) as sessions, coalesce(sum(g.all_turns), 0) as turns,
        coalesce(sum(g.cost), 0) as cost, case when sum(g.cost) > 0 then 1 else 0 end::numeric as share,
        coalesce(sum(g.input), 0) as input, coalesce(sum(g.output), 0) as output,
        coalesce(sum(g.cache_read), 0) as cache_read, coalesce(sum(g.cache_creation), 0) as cache_creation,
        coalesce(sum(g.unpriced_tokens), 0) as unpriced_tokens
      from sums g
    )
    select
      (select g.groups from total g) as groups,
      (select '{' || ${sql.unsafe(SUMS_ITEM)} || '}' from total g) as total,
      (
        select string_agg(
          '{"key":' || coalesce(to_json(g.key)::text, 'null')
            || ${and_by === undefined ? sql`','` : sql`',"and_key":' || coalesce(to_json(g.and_key)::text, 'null') || ','`}
            || ${sql.unsafe(SUMS_ITEM)} || '}',
          ',' order by ${orderOf(sql, query)}
        )
        from (
          select
            g.*,
            case when t.cost > 0 then round(g.cost / t.cost, 6) else 0 end as share
          from sums g
          cross join total t
          order by ${orderOf(sql, query)}
          limit ${per_page}
          offset ${(page - 1) * per_page}
        ) g
      ) as items`
  if (row === undefined) throw new Error('the statement gave no row')
  const position = { page, per_page, total: Number(row.groups) }
  const pagination = JSON.stringify(position)
  return new JsonText(
    `{"data":[${row.items ?? ''}],"pagination":${pagination},"total":${row.total}}`,
    position,
  )
}

/** The counts of a row `r`: of sessions under each of their models, or of sessions. */
const countedBy = (sql: Sql, ofModels: boolean): [Fragment, Fragment] =>
  ofModels ? [sql`r.sessions`, sql`r.turns`] : [sql`r.main_sessions`, sql`r.main_turns`]
