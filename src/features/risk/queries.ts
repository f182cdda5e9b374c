import { TIME_PATTERN } from '../../base/dates.ts'
import { type JsonText, type PageRow, pageText } from '../../base/json-text.ts'
import type { Fragment, Sql } from '../../database/client.ts'
import { pagesOf } from '../../database/rows.ts'
import type { RiskListQuery } from './model.ts'
import { timeOf } from './store-write.ts'

export const riskColumns = (sql: Sql) => sql`
  k.id, k.repo, k.pr_number, k.pr_title, k.risk_score, k.impact_score, k.regression_score, k.security_score,
  k.coupling_score, k.files_changed, k.created_at, k.rating, k.contributions`

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

/** Risk scores as records, oldest first, with scores and contributions: an import needs no commits. */
export async function* riskRecords(sql: Sql, orgId: string): AsyncGenerator<object[]> {
  // a field without a value is left out, so that exports of scores without it stay as they were
  const risksAfter = async ({ position, id }: { position: string; id: string }) =>
    await sql<{ position: string; id: string; record: object }[]>`
      select
        k.created_at::text as position, k.id,
        json_strip_nulls(
          json_build_object(
            'type', 'pr_risk', 'id', k.id, 'repo', k.repo, 'pr_number', k.pr_number, 'pr_title', k.pr_title,
            'impact_score', k.impact_score, 'regression_score', k.regression_score, 'security_score', k.security_score,
            'coupling_score', k.coupling_score, 'files_changed', k.files_changed,
            'created_at', ${timeOf(sql, 'created_at')}, 'contributions', k.contributions,
            'project', k.origin->'project', 'branch', k.origin->'branch',
            'commits', case when json_array_length(k.origin->'commits') > 0 then k.origin->'commits' end,
            'state', k.state, 'merged_at', ${timeOf(sql, 'merged_at')}, 'closed_at', ${timeOf(sql, 'closed_at')},
            'merge_commit', k.merge_commit, 'url', k.url, 'default_branch', k.default_branch, 'author_email', k.author_email
          )
        ) as record
      from pr_risks k
      where k.org_id = ${orgId}
        and (k.created_at, k.id) > (${position}::timestamptz, ${id})
      order by k.created_at, k.id
      limit ${PAGE}`
  for await (const rows of pagesOf(PAGE, { position: '-infinity', id: '' }, risksAfter))
    yield rows.map(({ record }) => record)
}

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
