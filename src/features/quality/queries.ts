import { JsonText } from '../../base/json-text.ts'
import type { Sql } from '../../database/client.ts'
import { betweenDays } from '../../database/rollups.ts'
import { bucketOf, comparedRange, sessionSums } from '../usage/sums.ts'
import type { QualityQuery, QualityTrendQuery } from './model.ts'

/** PostgreSQL has these days whatever the zone. */
const [FIRST_DATE, LAST_DATE] = ['0001-01-01', '9999-12-31']
/** Means that differ by no more are called stable. */
const STABLE_WITHIN_POINTS = 1

/**
 * Mean score of the sessions that match, by day and in all, and its direction: the later half of the days with sessions
 * against the earlier half, the middle one of an odd number in neither; with `compare` the mean of the range before, too.
 * All of it is summed and put together by one statement from the rollups.
 */
export async function getQuality(sql: Sql, orgId: string, query: QualityQuery): Promise<JsonText> {
  const previous =
    query.compare === undefined
      ? sql`''`
      : sql`(
          select ',"previous":{"average_score":'
            || trim_scale(coalesce(round(sum(r.quality_sum) / nullif(sum(r.sessions), 0), 2), 0))
            || ',"total_sessions":' || coalesce(sum(r.sessions), 0) || '}'
          from (${sessionSums(sql, orgId, { ...query, ...comparedRange(query) }, 'month')}) r
        )`
  const [row] = await sql<{ head: string; days: string | null; previous: string }[]>`
    select
      '{"average_score":' || trim_scale(t.score) || ',"total_sessions":' || t.sessions || ',"trend":"'
        || case
          when abs(c.points) <= ${STABLE_WITHIN_POINTS} * (cardinality(t.scores) / 2) then 'stable'
          when c.points > 0 then 'up'
          else 'down'
        end as head,
      t.days, ${previous} as previous
    from (
      select
        coalesce(sum(d.sessions), 0) as sessions,
        coalesce(round(sum(d.quality_sum) / sum(d.sessions), 2), 0) as score,
        coalesce(array_agg(d.score order by d.bucket), '{}') as scores,
        string_agg('{"date":"' || d.bucket || '","score":' || trim_scale(d.score) || '}', ',' order by d.bucket) as days
      from (
        select r.bucket, r.sessions, r.quality_sum, round(r.quality_sum / r.sessions, 2) as score
        from (${sessionSums(sql, orgId, query, 'day')}) r
        order by r.bucket
      ) d
    ) t
    cross join lateral (
      select
        coalesce(sum(s.score) filter (where s.n > cardinality(t.scores) - cardinality(t.scores) / 2), 0)
          - coalesce(sum(s.score) filter (where s.n <= cardinality(t.scores) / 2), 0) as points
      from unnest(t.scores) with ordinality as s (score, n)
    ) c`
  return new JsonText(`${row?.head}","scores_by_date":[${row?.days ?? ''}]${row?.previous}}`)
}

/**
 * Mean, least and greatest score by day, week or month; buckets without sessions are left out. Quartiles are of the sessions
 * themselves: no sum has them.
 */
export async function getQualityTrend(sql: Sql, orgId: string, query: QualityTrendQuery): Promise<JsonText> {
  const { granularity, include, project, date_from, date_to } = query
  const quartiles =
    include === undefined
      ? sql``
      : sql`
          join (
            select
              ${bucketOf(sql, granularity, sql`s.day`)} as date,
              percentile_disc(array[0.25, 0.75]) within group (order by s.quality_score) as quartiles
            from sessions s
            where s.org_id = ${orgId}
              ${project === undefined ? sql`` : sql`and s.project = ${project}`}
              and ${betweenDays(sql, sql`${date_from ?? FIRST_DATE}::date`, sql`${date_to ?? LAST_DATE}::date + 1`)}
            group by 1
          ) q using (date)`
  const [row] = await sql<{ data: string | null }[]>`
    select string_agg(
      '{"date":"' || t.date || '","score":' || trim_scale(t.score) || ',"sessions":' || t.sessions
        || ',"min_score":' || trim_scale(t.min_score) || ',"max_score":' || trim_scale(t.max_score)
        ${include === undefined ? sql`` : sql`|| ',"lower_quartile":' || trim_scale(q.quartiles[1]) || ',"upper_quartile":' || trim_scale(q.quartiles[2])`}
        || '}',
      ',' order by t.date
    ) as data
    from (
      select
        ${bucketOf(sql, granularity, sql`r.bucket`)} as date,
        sum(r.sessions) as sessions,
        round(sum(r.quality_sum) / sum(r.sessions), 2) as score,
        min(r.quality_min) as min_score,
        max(r.quality_max) as max_score
      from (${sessionSums(sql, orgId, query, granularity)}) r
      group by 1
    ) t
    ${quartiles}`
  return new JsonText(`{"granularity":"${granularity}","data":[${row?.data ?? ''}]}`)
}
