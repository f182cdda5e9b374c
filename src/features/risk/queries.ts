import { TIME_PATTERN } from '../../base/dates.ts'
import { type JsonText, pageText } from '../../base/json-text.ts'
import type { Fragment, Sql } from '../../database/client.ts'
import { pagesOf } from '../../database/rows.ts'
import type { RiskListQuery, RiskScore } from './model.ts'
import type { Lifecycle, Origin } from './prepare.ts'
import { lifecycleColumns, lifecycleOf, type StoredLifecycle } from './store-write.ts'

interface RiskRow
  extends Omit<
    RiskScore,
    'created_at' | 'impact_score' | 'regression_score' | 'security_score' | 'coupling_score'
  > {
  created_at: Date
  impact_score: string
  regression_score: string
  security_score: string
  coupling_score: string
}

export const riskColumns = (sql: Sql) => sql`
  k.id, k.repo, k.pr_number, k.pr_title, k.risk_score, k.impact_score, k.regression_score, k.security_score,
  k.coupling_score, k.files_changed, k.created_at, k.rating, k.contributions`

const riskOf = (row: RiskRow): RiskScore => ({
  id: row.id,
  repo: row.repo,
  pr_number: row.pr_number,
  pr_title: row.pr_title,
  risk_score: row.risk_score,
  impact_score: Number(row.impact_score),
  regression_score: Number(row.regression_score),
  security_score: Number(row.security_score),
  coupling_score: Number(row.coupling_score),
  files_changed: row.files_changed,
  created_at: row.created_at.toISOString(),
  rating: row.rating,
  contributions: row.contributions,
})

/** The row of a statement for a page: the number of all that match, and the JSON of its items, null for none. */
interface PageRow {
  total: string
  items: string | null
}

/** A row of `riskColumns` as JSON text, without its braces. */
export const RISK_FIELDS = `'"id":' || to_json(p.id) || ',"repo":' || to_json(p.repo) || ',"pr_number":' || p.pr_number
  || ',"pr_title":' || to_json(p.pr_title) || ',"risk_score":' || p.risk_score
  || ',"impact_score":' || trim_scale(p.impact_score) || ',"regression_score":' || trim_scale(p.regression_score)
  || ',"security_score":' || trim_scale(p.security_score) || ',"coupling_score":' || trim_scale(p.coupling_score)
  || ',"files_changed":' || p.files_changed
  || ',"created_at":"' || to_char(p.created_at at time zone 'UTC', '${TIME_PATTERN}')
  || '","rating":"' || p.rating || '","contributions":' || p.contributions`

const COST_FIELDS = ` || ',"cost":' || trim_scale(c.cost) || ',"sessions":' || c.sessions || ',"state":"' || p.state || '"'`

const itemOf = (sql: Sql, { include }: RiskListQuery) =>
  sql.unsafe(`'{' || ${RISK_FIELDS} ${include === undefined ? '' : COST_FIELDS} || '}'`)

const itemsOf = (sql: Sql, query: RiskListQuery) =>
  sql`string_agg(${itemOf(sql, query)}, ',' order by p.created_at desc, p.id desc) as items`

/** Joins the cost of the sessions of a pull request `p`, where it is asked for. */
const costOf = (sql: Sql, orgId: string, { include }: RiskListQuery) =>
  include === undefined
    ? sql``
    : sql`
        cross join lateral (
          select coalesce(sum(s.part), 0) as cost, count(*) as sessions
          from pr_sessions s
          where s.org_id = ${orgId}
            and s.repo = p.repo
            and s.pr_number = p.pr_number
        ) c`

const matchingDays = (sql: Sql, orgId: string, query: RiskListQuery) => sql`
  from risk_rollups r
  where r.org_id = ${orgId}
    and r.repo = ${query.repo ?? ''}
    and r.rating = ${query.rating ?? ''}
    and r.state = ${query.state ?? ''}`

const matchingRisks = (sql: Sql, orgId: string, query: RiskListQuery) => sql`
  select ${riskColumns(sql)}, k.state
  from pr_risks k
  where k.org_id = ${orgId}
    ${query.repo === undefined ? sql`` : sql`and k.repo = ${query.repo}`}
    ${query.rating === undefined ? sql`` : sql`and k.rating = ${query.rating}`}
    ${query.state === undefined ? sql`` : sql`and k.state = ${query.state}`}`

/** All matching risk scores, newest first: `item`, as JSON. */
export const allRisks = (sql: Sql, orgId: string, query: RiskListQuery): Fragment => sql`
  select ${itemOf(sql, query)} as item
  from (${matchingRisks(sql, orgId, query)}) p
  ${costOf(sql, orgId, query)}
  order by p.created_at desc, p.id desc`

/** A page of the matching risk scores, newest first, and the number of all matching ones, from one snapshot. */
export async function listRisks(sql: Sql, orgId: string, query: RiskListQuery): Promise<JsonText> {
  const [row] = query.page === 1 ? await firstPage(sql, orgId, query) : await laterPage(sql, orgId, query)
  return pageText(row?.items ?? null, query, row?.total ?? '0')
}

const firstPage = (sql: Sql, orgId: string, query: RiskListQuery) => sql<PageRow[]>`
  select (select coalesce(sum(r.prs), 0) ${matchingDays(sql, orgId, query)}) as total, ${itemsOf(sql, query)}
  from (
    ${matchingRisks(sql, orgId, query)}
    order by k.created_at desc, k.id desc
    limit ${query.per_page}
  ) p
  ${costOf(sql, orgId, query)}`

/** The rollups contain the day on which the page starts, so that no page skips more than the risk scores of one day. */
function laterPage(sql: Sql, orgId: string, query: RiskListQuery) {
  const offset = (query.page - 1) * query.per_page
  return sql<PageRow[]>`
    with days as materialized (
      select r.bucket, r.prs, sum(r.prs) over (order by r.bucket desc) as through
      ${matchingDays(sql, orgId, query)}
    ),
    start as (
      select d.bucket, (${offset}::bigint - (d.through - d.prs))::bigint as skip
      from days d
      where d.through > ${offset}::bigint
      order by d.through
      limit 1
    )
    select (select coalesce(sum(d.prs), 0) from days d) as total, ${itemsOf(sql, query)}
    from (
      select p.*
      from start b
      cross join lateral (
        ${matchingRisks(sql, orgId, query)}
          and k.created_at < (b.bucket + 1)::timestamp at time zone 'UTC'
        order by k.created_at desc, k.id desc
        limit ${query.per_page}
        offset b.skip
      ) p
    ) p
    ${costOf(sql, orgId, query)}`
}

/** Records per page of an export. */
const PAGE = 1_000

/**
 * Pages of the organization's risk scores as records for sync, oldest first. They contain the computed scores and
 * contributions, so that an import gives the same scores whatever commits the other instance has.
 */
export async function* riskRecords(sql: Sql, orgId: string): AsyncGenerator<object[]> {
  const risksAfter = async ({ position, id }: { position: string; id: string }) =>
    await sql<(RiskRow & StoredLifecycle & { position: string; origin: Origin | null })[]>`
      select ${riskColumns(sql)}, ${lifecycleColumns(sql)}, k.origin, k.created_at::text as position
      from pr_risks k
      where k.org_id = ${orgId}
        and (k.created_at, k.id) > (${position}::timestamptz, ${id})
      order by k.created_at, k.id
      limit ${PAGE}`
  for await (const rows of pagesOf(PAGE, { position: '-infinity', id: '' }, risksAfter))
    yield rows.map(({ position: _position, origin, ...row }) => {
      const { risk_score: _score, rating: _rating, ...record } = riskOf(row)
      return { type: 'pr_risk', ...record, ...recordedOrigin(origin), ...recordedLifecycle(row) }
    })
}

/** The fields of a record that have a value: exports of scores without them stay as they were. */
function recordedOrigin(origin: Origin | null): Partial<Origin> {
  if (origin === null) return {}
  const { project, branch, commits } = origin
  return {
    ...(project === null ? {} : { project }),
    ...(branch === null ? {} : { branch }),
    ...(commits.length === 0 ? {} : { commits }),
  }
}

const recordedLifecycle = (row: StoredLifecycle): Partial<Lifecycle> =>
  Object.fromEntries(Object.entries(lifecycleOf(row)).filter(([, value]) => value !== null))

/** The number of records that `riskRecords` yields. */
export async function countRisks(sql: Sql, orgId: string): Promise<number> {
  const [row] = await sql<{ prs: string }[]>`
    select coalesce(sum(r.prs), 0) as prs
    from risk_rollups r
    where r.org_id = ${orgId}
      and r.repo = ''
      and r.rating = ''
      and r.state = ''`
  return Number(row?.prs ?? 0)
}
