// Lists files by what was found in them, with their risk, for the heatmap and the tools for agents.

import { spansOf, TIME_PATTERN } from '../../base/dates.ts'
import type { Fragment, Sql } from '../../database/client.ts'
import { summedProject } from '../../database/rollups.ts'
import { pageStart, unnest } from '../../database/rows.ts'
import { type ListParts, listOf } from '../../http/list-queries.ts'
import { inSpans } from '../usage/sums.ts'
import { Heatmap, type HeatmapFile, HeatmapQuery, RISK_THRESHOLD } from './model.ts'

/** A file `r` as JSON; `times` has its sessions and their times. */
const fileItem = (sql: Sql, times: Fragment): Fragment => sql`
  json_build_object(
    'file', r.file, 'project', nullif(r.project, ''), 'risk_score', r.risk_score,
    'findings', json_build_object(
      'critical', r.critical, 'high', r.high, 'medium', r.medium, 'low', r.low,
      'total', r.critical + r.high + r.medium + r.low
    ),
    'sessions', ${times}.sessions,
    'first_seen_at', to_char(${times}.first_seen_at at time zone 'UTC', ${TIME_PATTERN}),
    'last_seen_at', to_char(${times}.last_seen_at at time zone 'UTC', ${TIME_PATTERN})
  )`

/** The files with findings, by risk descending, and the totals of all that match. */
export const fileRiskList = listOf({
  query: HeatmapQuery,
  page: Heatmap,
  parts: (sql, orgId, query) =>
    query.date_from === undefined && query.date_to === undefined
      ? partsOfAllTime(sql, orgId, query)
      : partsOfRange(sql, orgId, query),
  text: ({ items, more }, pagination) =>
    JSON.stringify({
      data: JSON.parse(`[${items}]`),
      pagination,
      summary: { files: pagination.total, ...JSON.parse(more), threshold: RISK_THRESHOLD },
    }),
})

/** The files with these keys (ids.ts) that have findings; of a file of several projects the one with the highest risk score. */
export async function filesInHeatmap(
  sql: Sql,
  orgId: string,
  fileKeys: readonly string[],
  project: string | undefined,
): Promise<HeatmapFile[]> {
  const keys = fileKeys.map((fileKey) => ({ fileKey }))
  const rows = await sql<{ item: HeatmapFile }[]>`
    select ${fileItem(sql, sql`r`)} as item
    from ${unnest(sql, keys, { file_key: ['bytea', ({ fileKey }) => fileKey] })}
    cross join lateral (
      select
        k.file, k.project, k.risk_score, k.critical, k.high, k.medium, k.low, k.sessions, k.first_seen_at, k.last_seen_at
      from file_risks k
      where k.org_id = ${orgId}
        and k.project = any (${project === undefined ? sql`array(select distinct l.project from risk_levels l where l.org_id = ${orgId})` : sql`array[${project}]::text[]`})
        and k.file_key = n.file_key
      order by k.risk_score desc, k.project
      limit 1
    ) r`
  return rows.map(({ item }) => item)
}

/** The minimum risk score as an integer: scores are integers, so 12.5 means 13. */
const leastRisk = ({ min_score = 0 }: HeatmapQuery): number => Math.ceil(min_score)

const fileOrder = (sql: Sql, row: 'k' | 'r'): Fragment =>
  sql.unsafe(
    `${row}.risk_score desc, left(${row}.file, 300) collate "C", ${row}.project collate "C", ${row}.file_key`,
  )

/**
 * Reads file_risks by its index. risk_levels (at most 101 rows) contains the totals and the risk score at which the page
 * starts, so that no page skips more index entries than there are files with one score.
 */
function partsOfAllTime(sql: Sql, orgId: string, query: HeatmapQuery): ListParts<HeatmapFile> {
  const { project, per_page } = query
  const rows = sql`
    select k.*
    from file_risks k
    where k.org_id = ${orgId}
      ${project === undefined ? sql`` : sql`and k.project = ${project}`}
      and k.risk_score >= ${leastRisk(query)}`
  // the index of one project does not contain the project, so the order must not either
  const order =
    project === undefined
      ? fileOrder(sql, 'k')
      : sql`k.risk_score desc, left(k.file, 300) collate "C", k.file_key`
  return {
    tables: sql`
      with levels as materialized (
        select l.risk_score, l.files
        from risk_levels l
        where l.org_id = ${orgId}
          and l.project = ${summedProject(project)}
          and l.risk_score >= ${leastRisk(query)}
      )`,
    rows,
    page: sql`
      select p.*
      from ${pageStart(sql, query, sql`select l.risk_score as bucket, l.files as items from levels l`)}
      cross join lateral (
        ${rows}
          and k.risk_score <= b.bucket
        order by ${order}
        limit ${per_page}
        offset b.skip
      ) p`,
    ...{ order: fileOrder(sql, 'r'), item: fileItem(sql, sql`r`) },
    total: sql`select coalesce(sum(l.files), 0) from levels l`,
    more: sql`
      select json_build_object(
        'average_risk', coalesce(round(sum(l.files * l.risk_score) / sum(l.files), 2), 0),
        'files_above_threshold', coalesce(sum(l.files) filter (where l.risk_score > ${RISK_THRESHOLD}), 0)
      )
      from levels l`,
  }
}

/**
 * Reads whole months by month and the ends of the range by day: the number of rows is bounded by the findings (distinct per
 * file) times the months and at most 60 days, not by sessions. Counts of sessions can be summed over buckets, since a
 * session is in exactly one.
 */
function partsOfRange(sql: Sql, orgId: string, query: HeatmapQuery): ListParts<HeatmapFile> {
  const ofFile = sql`and r.project = p.project and r.file_key = p.file_key`
  return {
    tables: sql`
      with found as (
        select
          r.project, r.file_key, bool_or(r.critical > 0) as critical, bool_or(r.high > 0) as high,
          bool_or(r.medium > 0) as medium
        from (
          ${rowsIn(sql, orgId, 'finding_rollups', query, 'r.project, r.file_key, r.fingerprint, r.critical, r.high, r.medium')}
        ) r
        group by r.project, r.file_key, r.fingerprint
      ),
      counted as (
        select
          f.project, f.file_key,
          count(*) filter (where f.critical) as critical,
          count(*) filter (where not f.critical and f.high) as high,
          count(*) filter (where not f.critical and not f.high and f.medium) as medium,
          count(*) filter (where not f.critical and not f.high and not f.medium) as low
        from found f
        group by f.project, f.file_key
      ),
      scored as materialized (
        select c.*
        from (
          select c.*, least(100, 25 * c.critical + 15 * c.high + 8 * c.medium + 3 * c.low)::integer as risk_score
          from counted c
        ) c
        where c.risk_score >= ${leastRisk(query)}
      )`,
    rows: sql`
      select c.*, n.file
      from scored c
      join file_risks n on n.org_id = ${orgId} and n.project = c.project and n.file_key = c.file_key`,
    joins: sql`
      cross join lateral (select r.project, r.file_key) p
      cross join lateral (
        select
          sum(r.sessions) as sessions, min(r.first_seen_at) as first_seen_at, max(r.last_seen_at) as last_seen_at
        from (
          ${rowsIn(sql, orgId, 'file_rollups', query, 'r.sessions, r.first_seen_at, r.last_seen_at', ofFile)}
        ) r
      ) s`,
    ...{ order: fileOrder(sql, 'r'), item: fileItem(sql, sql`s`) },
    total: sql`select count(*) from scored c`,
    more: sql`
      select json_build_object(
        'average_risk', coalesce(round(avg(c.risk_score), 2), 0),
        'files_above_threshold', count(*) filter (where c.risk_score > ${RISK_THRESHOLD})
      )
      from scored c`,
  }
}

/** These columns of the table's rows `r` that cover the range: of the months in it, and of the days before and after them. */
const rowsIn = (
  sql: Sql,
  orgId: string,
  table: 'finding_rollups' | 'file_rollups',
  { date_from, date_to, project }: HeatmapQuery,
  columns: string,
  condition = sql``,
): Fragment => {
  const rows = sql`
    select ${sql.unsafe(columns)}
    from ${sql(table)} r
    where r.org_id = ${orgId}
      ${project === undefined ? sql`` : sql`and r.project = ${project}`}
      ${condition}`
  return inSpans(sql, spansOf(date_from, date_to), rows)
}
