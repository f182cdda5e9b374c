// Lists scores of pull requests, for GET /risk and for the export.

import { TIME_PATTERN } from '../../base/dates.ts'
import type { Sql } from '../../database/client.ts'
import { pageStart, pagesOf } from '../../database/rows.ts'
import { listOf } from '../../http/list-queries.ts'
import { csvColumns } from '../../http/responses/csv.ts'
import { RiskListQuery, RiskPage, RiskScore } from './model.ts'
import { timeText } from './store-write.ts'

export const riskColumns = (sql: Sql) => sql`
  k.id, k.repo, k.pr_number, k.pr_title, k.risk_score, k.impact_score, k.regression_score, k.security_score,
  k.coupling_score, k.files_changed, k.created_at, k.rating, k.contributions`

/** A row of `riskColumns` as JSON text, without its braces. */
export const riskFields = (
  row: string,
) => `'"id":' || to_json(${row}.id) || ',"repo":' || to_json(${row}.repo) || ',"pr_number":' || ${row}.pr_number
  || ',"pr_title":' || to_json(${row}.pr_title) || ',"risk_score":' || ${row}.risk_score
  || ',"impact_score":' || trim_scale(${row}.impact_score) || ',"regression_score":' || trim_scale(${row}.regression_score)
  || ',"security_score":' || trim_scale(${row}.security_score) || ',"coupling_score":' || trim_scale(${row}.coupling_score)
  || ',"files_changed":' || ${row}.files_changed
  || ',"created_at":"' || to_char(${row}.created_at at time zone 'UTC', '${TIME_PATTERN}')
  || '","rating":"' || ${row}.rating || '","contributions":' || ${row}.contributions`

const ITEM = `'{' || ${riskFields('r')} || '}'`
const ITEM_WITH_COST = `'{' || ${riskFields('r')} || ',"cost":' || trim_scale(c.cost) || ',"sessions":' || c.sessions
  || ',"state":"' || r.state || '"}'`

/** The risk scores, newest first. The number of each day is summed. */
export const riskList = listOf({
  query: RiskListQuery,
  page: RiskPage,
  columns: ({ include }) => csvColumns(RiskScore, include !== undefined),
  parts: (sql, orgId, { repo, rating, state, include, ...pages }) => {
    const rows = sql`
      select ${riskColumns(sql)}, k.state
      from pr_risks k
      where k.org_id = ${orgId}
        ${repo === undefined ? sql`` : sql`and k.repo = ${repo}`}
        ${rating === undefined ? sql`` : sql`and k.rating = ${rating}`}
        ${state === undefined ? sql`` : sql`and k.state = ${state}`}`
    return {
      tables: sql`
        with days as materialized (
          select d.bucket, d.prs as items
          from risk_rollups d
          where d.org_id = ${orgId}
            and d.repo = ${repo ?? ''}
            and d.rating = ${rating ?? ''}
            and d.state = ${state ?? ''}
        )`,
      total: sql`select coalesce(sum(d.items), 0) from days d`,
      ...{ rows, order: sql`r.created_at desc, r.id desc` },
      item: sql.unsafe(include === undefined ? ITEM : ITEM_WITH_COST),
      joins:
        include === undefined
          ? sql``
          : sql`
              cross join lateral (
                select coalesce(sum(s.part), 0) as cost, count(*) as sessions
                from pr_sessions s
                where s.org_id = ${orgId}
                  and s.repo = r.repo
                  and s.pr_number = r.pr_number
              ) c`,
      // no page passes over more than the scores of one day
      ...(pages.page > 1 && {
        page: sql`
          select p.*
          from ${pageStart(sql, pages, sql`select d.bucket, d.items from days d`)}
          cross join lateral (
            ${rows}
              and k.created_at < (b.bucket + 1)::timestamp at time zone 'UTC'
            order by k.created_at desc, k.id desc
            limit ${pages.per_page}
            offset b.skip
          ) p`,
      }),
    }
  },
})

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
            'created_at', ${timeText(sql, 'created_at')}, 'contributions', k.contributions,
            'project', k.origin->'project', 'branch', k.origin->'branch',
            'commits', case when json_array_length(k.origin->'commits') > 0 then k.origin->'commits' end,
            'state', k.state, 'merged_at', ${timeText(sql, 'merged_at')}, 'closed_at', ${timeText(sql, 'closed_at')},
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
