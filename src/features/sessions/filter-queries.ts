import type { Sql } from '../../database/client.ts'
import { MAX_PER_PAGE } from '../../http/query.ts'
import { countOfSums, isSummed, matchingSessions } from '../usage/sources.ts'
import { directionOf, itemsOf, offsetOf, only, type PageRow } from './list-queries.ts'
import type { SessionListQuery } from './model.ts'

/** Whether the list is filtered by more than project, days, cost and quality. */
export const isFiltered = (query: SessionListQuery): boolean =>
  [query.member, query.team, query.model, query.agent, query.branch, query.ticket, query.has_findings].some(
    (value) => value !== undefined,
  )

/** The list's order, applied to rows `u` of session_usage. */
const partOrder = (sql: Sql, { sort, order }: SessionListQuery) => {
  const direction = directionOf(sql, order === 'asc')
  return sort === 'created_at'
    ? sql`u.created_at ${direction}, u.session_id ${direction}`
    : sql`u.${sql(sort === 'estimated_cost' ? 'session_cost' : sort)} ${direction}, u.session_id collate "C" ${direction}`
}

/** The columns of a session in the list, of its rows `u` of session_usage. */
export const usageColumns = (sql: Sql) => sql`
  u.session_id as id, u.project, u.turns, u.session_cost as estimated_cost, u.quality_score, u.created_at`

/**
 * A page of a list that `isFiltered`. Sessions that match are counted, unless the sums of breakdowns tell their number, and read up to the page, or all and sorted when it is sorted by a value.
 */
export async function filteredPage(sql: Sql, orgId: string, query: SessionListQuery): Promise<PageRow> {
  const sessions = matchingSessions(sql, orgId, query)
  const total = isSummed(query) ? countOfSums(sql, orgId, query) : sql`select count(*) ${sessions}`
  // the first page up to a constant that the planner knows: a parameter could be all of the table
  const limit =
    query.page === 1
      ? sql`limit ${sql.unsafe(String(MAX_PER_PAGE))}`
      : sql`limit ${query.per_page} offset ${offsetOf(query)}`
  return only(
    await sql<PageRow[]>`
      select (${total}) as total, ${itemsOf(sql, query)}
      from (
        select s.*
        from (
          select ${usageColumns(sql)}
          ${sessions}
          order by ${partOrder(sql, query)}
          ${limit}
        ) s
        limit ${query.per_page}
      ) s`,
  )
}
