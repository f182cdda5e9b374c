import { TIME_PATTERN_US } from '../../base/dates.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { pageStart } from '../../database/rows.ts'
import { listOf } from '../../http/list-queries.ts'
import { csvColumns } from '../../http/responses/csv.ts'
import { AuditEntry, AuditListQuery, AuditPage } from './model.ts'

/** An entry `r` as JSON text; the details as they are stored. */
const ENTRY_ITEM = `'{"id":' || to_json(r.id) || ',"action":' || to_json(r.action) || ',"user_id":' || to_json(r.user_id)
  || ',"details":' || r.details || ',"ip_address":' || to_json(r.ip_address)
  || ',"created_at":"' || to_char(r.created_at at time zone 'UTC', '${TIME_PATTERN_US}') || '"}'`

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

const isOfAllTime = ({ date_from, date_to, user_id, action }: AuditListQuery): boolean =>
  date_from === undefined && date_to === undefined && (user_id === undefined || action === undefined)

/** The number of all entries that match: of all time it is in one row for a user, and in one for each action. */
const matchingTotal = (sql: ISql, orgId: string, query: AuditListQuery) =>
  isOfAllTime(query)
    ? sql`
        select coalesce(sum(r.entries), 0)
        from audit_rollups r
        where r.org_id = ${orgId}
          and r.grain = 'all'
          and r.user_id = ${query.user_id ?? ''}
          and ${matchingAction(sql, sql`r.action`, query.action ?? '')}`
    : sql`select coalesce(sum(r.entries), 0) ${matchingDays(sql, orgId, query)}`

const ENTRY_COLUMNS = `
  l.id, l.action, l.user_id, l.details, coalesce(l.ip_address, '') as ip_address, l.created_at`

interface Part {
  columns: string
  /** The condition for where it begins. */
  before: Fragment
  limit: Fragment
  offset: Fragment
}

/** A part of the entries that match, newest first. */
function newest(sql: ISql, orgId: string, query: AuditListQuery, { columns, before, limit, offset }: Part) {
  const ofAction = (action: Fragment) => sql`
    select ${sql.unsafe(columns)}
    from audit_log l
    where l.org_id = ${orgId}
      ${action}
      ${query.user_id === undefined ? sql`` : sql`and l.user_id = ${query.user_id}`}
      ${query.date_from === undefined ? sql`` : sql`and l.created_at >= ${query.date_from}::date::timestamp at time zone 'UTC'`}
      ${before}
    order by l.created_at desc`
  if (query.action === undefined || prefixOf(query.action) === undefined) {
    return sql`
      ${ofAction(query.action === undefined ? sql`` : sql`and l.action = ${query.action}`)}
      limit ${limit}
      offset ${offset}`
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
      ${ofAction(sql`and l.action = k.action`)}
      limit ${offset} + ${limit}
    ) e
    order by e.created_at desc
    limit ${limit}
    offset ${offset}`
}

/** The entries, newest first. */
export const entryList = listOf({
  query: AuditListQuery,
  page: AuditPage,
  columns: csvColumns(AuditEntry),
  parts: (sql, orgId, query) => ({
    rows: sql`
      select ${sql.unsafe(ENTRY_COLUMNS)}
      from audit_log l
      where l.org_id = ${orgId}
        ${query.action === undefined ? sql`` : sql`and ${matchingAction(sql, sql`l.action`, query.action)}`}
        ${query.user_id === undefined ? sql`` : sql`and l.user_id = ${query.user_id}`}
        ${query.date_from === undefined ? sql`` : sql`and l.created_at >= ${query.date_from}::date::timestamp at time zone 'UTC'`}
        ${beforeEnd(sql, query)}`,
    order: sql`r.created_at desc`,
    item: sql.unsafe(ENTRY_ITEM),
    total: matchingTotal(sql, orgId, query),
    page: query.page === 1 ? firstPage(sql, orgId, query) : laterPage(sql, orgId, query),
  }),
})

const beforeEnd = (sql: ISql, { date_to }: AuditListQuery) =>
  date_to === undefined ? sql`` : sql`and l.created_at < (${date_to}::date + 1)::timestamp at time zone 'UTC'`

const limitOf = (sql: ISql, { per_page }: AuditListQuery) => sql`${per_page}::bigint`

function firstPage(sql: ISql, orgId: string, query: AuditListQuery) {
  const before = beforeEnd(sql, query)
  const page = { columns: ENTRY_COLUMNS, before, limit: limitOf(sql, query), offset: sql`0` }
  return newest(sql, orgId, query, page)
}

/** The rollups have the day on which the page starts: it skips the entries of one day at most, in the index alone. */
function laterPage(sql: ISql, orgId: string, query: AuditListQuery) {
  const first = {
    columns: 'l.created_at',
    before: sql`and l.created_at < (b.bucket + 1)::timestamp at time zone 'UTC'`,
    limit: sql`1`,
    offset: sql`b.skip`,
  }
  const page = {
    columns: ENTRY_COLUMNS,
    before: sql`and l.created_at <= f.created_at`,
    limit: limitOf(sql, query),
    offset: sql`0`,
  }
  const isOneAction = query.action === undefined || prefixOf(query.action) === undefined
  const days = isOneAction
    ? sql`select r.bucket, r.entries as items ${matchingDays(sql, orgId, query)}`
    : sql`select r.bucket, sum(r.entries) as items ${matchingDays(sql, orgId, query)} group by r.bucket`
  return sql`
    select p.*
    from ${pageStart(sql, query, days)}
    cross join lateral (${newest(sql, orgId, query, first)}) f
    cross join lateral (${newest(sql, orgId, query, page)}) p`
}
