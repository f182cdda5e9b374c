import { spansOf, TIME_PATTERN } from '../../base/dates.ts'
import type { Fragment, Sql } from '../../database/client.ts'
import { summedProject } from '../../database/rollups.ts'
import { unnest } from '../../database/rows.ts'
import { page } from '../../http/query.ts'
import { inSpans } from '../usage/sums.ts'
import { type Heatmap, type HeatmapFile, type HeatmapQuery, RISK_THRESHOLD } from './model.ts'

// Files by what was found in them.

interface HeatmapRow {
  files: string
  average_risk: string
  above: string
  /** null in the only row of an empty page */
  item: HeatmapFile | null
}

const fileItem = (sql: Sql): Fragment => sql`
  json_build_object(
    'file', k.file, 'project', nullif(k.project, ''), 'risk_score', k.risk_score,
    'findings', json_build_object(
      'critical', k.critical, 'high', k.high, 'medium', k.medium, 'low', k.low,
      'total', k.critical + k.high + k.medium + k.low
    ),
    'sessions', k.sessions,
    'first_seen_at', to_char(k.first_seen_at at time zone 'UTC', ${TIME_PATTERN}),
    'last_seen_at', to_char(k.last_seen_at at time zone 'UTC', ${TIME_PATTERN})
  ) as item`

/** A page of the files with findings, by risk descending, and the totals of all matching files, from one snapshot. */
export async function getHeatmap(sql: Sql, orgId: string, query: HeatmapQuery): Promise<Heatmap> {
  const isAllTime = query.date_from === undefined && query.date_to === undefined
  const rows = isAllTime ? await pageOfAllTime(sql, orgId, query) : await pageOfRange(sql, orgId, query)
  const [first] = rows
  const files = Number(first?.files ?? 0)
  return {
    ...page(
      rows.flatMap(({ item }) => item ?? []),
      query,
      files,
    ),
    summary: {
      files,
      average_risk: Number(first?.average_risk ?? 0),
      files_above_threshold: Number(first?.above ?? 0),
      threshold: RISK_THRESHOLD,
    },
  }
}

/** The files with these keys (ids.ts) that have findings; of a file of several projects the one with the highest risk score. */
export async function filesInHeatmap(
  sql: Sql,
  orgId: string,
  fileKeys: readonly string[],
  project: string | undefined,
): Promise<HeatmapFile[]> {
  const keys = fileKeys.map((fileKey) => ({ fileKey }))
  const rows = await sql<{ item: HeatmapFile }[]>`
    select ${fileItem(sql)}
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
    ) k`
  return rows.map(({ item }) => item)
}

/** The minimum risk score as an integer: scores are integers, so 12.5 means 13. */
const leastRisk = ({ min_score = 0 }: HeatmapQuery): number => Math.ceil(min_score)
const offsetOf = (query: HeatmapQuery): number => (query.page - 1) * query.per_page

/**
 * Reads file_risks by its index. risk_levels (at most 101 rows) contains the totals and the risk score at which the page
 * starts, so that no page skips more index entries than there are files with one score.
 */
function pageOfAllTime(sql: Sql, orgId: string, query: HeatmapQuery): Promise<HeatmapRow[]> {
  const { project, per_page } = query
  // the index of one project does not contain the project, so the order must not either
  const order =
    project === undefined
      ? sql`k.risk_score desc, left(k.file, 300) collate "C", k.project collate "C", k.file_key`
      : sql`k.risk_score desc, left(k.file, 300) collate "C", k.file_key`
  return sql<HeatmapRow[]>`
    with levels as materialized (
      select l.risk_score, l.files, sum(l.files) over (order by l.risk_score desc) as through
      from risk_levels l
      where l.org_id = ${orgId}
        and l.project = ${summedProject(project)}
        and l.risk_score >= ${leastRisk(query)}
    ),
    start as (
      select l.risk_score, ${offsetOf(query)}::bigint - (l.through - l.files) as skip
      from levels l
      where l.through > ${offsetOf(query)}::bigint
      order by l.through
      limit 1
    )
    select t.files, t.average_risk, t.above, k.item
    from (
      select
        coalesce(sum(l.files), 0) as files,
        coalesce(round(sum(l.files * l.risk_score) / sum(l.files), 2), 0) as average_risk,
        coalesce(sum(l.files) filter (where l.risk_score > ${RISK_THRESHOLD}), 0) as above
      from levels l
    ) t
    left join (
      select p.*
      from start b
      cross join lateral (
        select k.file, k.file_key, k.project, k.risk_score, ${fileItem(sql)}
        from file_risks k
        where k.org_id = ${orgId}
          ${project === undefined ? sql`` : sql`and k.project = ${project}`}
          and k.risk_score <= b.risk_score
          and k.risk_score >= ${leastRisk(query)}
        order by ${order}
        limit ${per_page}
        offset b.skip
      ) p
    ) k on true
    order by ${order}`
}

/**
 * Reads whole months by month and the ends of the range by day: the number of rows is bounded by the findings (distinct per
 * file) times the months and at most 60 days, not by sessions. Counts of sessions can be summed over buckets, since a
 * session is in exactly one.
 */
function pageOfRange(sql: Sql, orgId: string, query: HeatmapQuery): Promise<HeatmapRow[]> {
  const ofFile = sql`and r.project = p.project and r.file_key = p.file_key`
  return sql<HeatmapRow[]>`
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
      select c.*, least(100, 25 * c.critical + 15 * c.high + 8 * c.medium + 3 * c.low)::integer as risk_score
      from counted c
    ),
    paged as (
      select c.*, n.file
      from scored c
      join file_risks n on n.org_id = ${orgId} and n.project = c.project and n.file_key = c.file_key
      where c.risk_score >= ${leastRisk(query)}
      order by c.risk_score desc, left(n.file, 300) collate "C", c.project collate "C", c.file_key
      limit ${query.per_page}
      offset ${offsetOf(query)}::bigint
    )
    select t.*, k.item
    from (
      select
        count(*) as files,
        coalesce(round(avg(c.risk_score), 2), 0) as average_risk,
        count(*) filter (where c.risk_score > ${RISK_THRESHOLD}) as above
      from scored c
      where c.risk_score >= ${leastRisk(query)}
    ) t
    left join (
      select k.risk_score, k.file, k.project, k.file_key, ${fileItem(sql)}
      from (
        select p.*, s.*
        from paged p
        cross join lateral (
          select
            sum(r.sessions) as sessions, min(r.first_seen_at) as first_seen_at, max(r.last_seen_at) as last_seen_at
          from (
            ${rowsIn(sql, orgId, 'file_rollups', query, 'r.sessions, r.first_seen_at, r.last_seen_at', ofFile)}
          ) r
        ) s
      ) k
    ) k on true
    order by k.risk_score desc, left(k.file, 300) collate "C", k.project collate "C", k.file_key`
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
