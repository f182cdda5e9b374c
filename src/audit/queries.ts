import { TIME_PATTERN_US } from '../dates.ts'
import type { Fragment, ISql } from '../db/client.ts'
import type { AuditEntry, AuditListQuery } from './model.ts'

interface ListRow extends Omit<AuditEntry, 'id'> {
  total: string
  /** null in the only row of an empty page */
  id: string | null
}

/** `webhook.*`: the range of all actions that start with `webhook.`; `/` is the character after `.`. */
function prefixOf(action: string): { from: string; before: string } | undefined {
  if (!action.endsWith('.*')) return undefined
  const stem = action.slice(0, -2)
  return { from: `${stem}.`, before: `${stem}/` }
}

const matchingAction = (sql: ISql, column: Fragment, action: string) => {
  const prefix = prefixOf(action)
  if (prefix === undefined) return sql`${column} = ${action}`
  return sql`${column} >= ${prefix.from} and ${column} < ${prefix.before}`
}

/** The daily rollups that match; '' stands for all users and for all actions. */
const matchingDays = (sql: ISql, orgId: string, query: AuditListQuery) => sql`
  from audit_rollups r
  where r.org_id = ${orgId}
    and r.grain = 'day'
    and r.user_id = ${query.user_id ?? ''}
    and ${matchingAction(sql, sql`r.action`, query.action ?? '')}
    ${query.date_from === undefined ? sql`` : sql`and r.bucket >= ${query.date_from}`}
    ${query.date_to === undefined ? sql`` : sql`and r.bucket <= ${query.date_to}`}`

/** The newest entries that match, up to the day on which the page starts; `action`: the condition for the action. */
const newestFrom = (sql: ISql, orgId: string, query: AuditListQuery, action: Fragment) => sql`
  select l.id, l.action, l.user_id, l.details, coalesce(l.ip_address, '') as ip_address, l.created_at
  from audit_log l
  where l.org_id = ${orgId}
    ${action}
    ${query.user_id === undefined ? sql`` : sql`and l.user_id = ${query.user_id}`}
    ${query.date_from === undefined ? sql`` : sql`and l.created_at >= ${query.date_from}::date::timestamp at time zone 'UTC'`}
    and l.created_at < (b.bucket + 1)::timestamp at time zone 'UTC'
  order by l.created_at desc`

function pageOf(sql: ISql, orgId: string, query: AuditListQuery) {
  if (query.action === undefined || prefixOf(query.action) === undefined) {
    const action = query.action === undefined ? sql`` : sql`and l.action = ${query.action}`
    return sql`
      ${newestFrom(sql, orgId, query, action)}
      limit ${query.per_page}
      offset b.skip`
  }
  // the index has the entries of each action in order: takes the newest of each action and merges them
  return sql`
    select e.*
    from (
      select k.action
      from audit_rollups k
      where k.org_id = ${orgId}
        and k.grain = 'all'
        and k.user_id = ''
        and ${matchingAction(sql, sql`k.action`, query.action)}
    ) k
    cross join lateral (
      ${newestFrom(sql, orgId, query, sql`and l.action = k.action`)}
      limit b.skip + ${query.per_page}::integer
    ) e
    order by e.created_at desc
    limit ${query.per_page}
    offset b.skip`
}

/**
 * A page of the matching entries, newest first, and the number of all matching ones, from one snapshot. The rollups contain
 * the day on which the page starts, so that no page skips more than the entries of one day.
 */
export async function listEntries(
  sql: ISql,
  orgId: string,
  query: AuditListQuery,
): Promise<{ rows: AuditEntry[]; total: number }> {
  const offset = (query.page - 1) * query.per_page
  const rows = await sql<ListRow[]>`
    with days as materialized (
      select r.bucket, sum(r.entries) as entries, sum(sum(r.entries)) over (order by r.bucket desc) as through
      ${matchingDays(sql, orgId, query)}
      group by r.bucket
    ),
    start as (
      select d.bucket, (${offset}::bigint - (d.through - d.entries))::bigint as skip
      from days d
      where d.through > ${offset}::bigint
      order by d.through
      limit 1
    )
    select
      t.total, p.id, p.action, p.user_id, p.details, p.ip_address,
      to_char(p.created_at at time zone 'UTC', ${TIME_PATTERN_US}) as created_at
    from (select coalesce(sum(d.entries), 0) as total from days d) t
    left join (
      select p.*
      from start b
      cross join lateral (${pageOf(sql, orgId, query)}) p
    ) p on true
    order by p.created_at desc`
  const entries: AuditEntry[] = []
  for (const { total: _total, ...row } of rows) if (row.id !== null) entries.push({ ...row, id: row.id })
  return { rows: entries, total: Number(rows[0]?.total ?? 0) }
}
