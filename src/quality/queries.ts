import type { Sql } from '../db/client.ts'
import { roundedQuotient, SCORE_DECIMALS, unitsOf, unscaled } from '../decimals.ts'
import type { QualityOverview, QualityQuery, QualityTrend, QualityTrendQuery } from './model.ts'

/** Means that differ by no more are called stable. */
const STABLE_WITHIN_POINTS = 1

/** Days of the organization's rollup: one project's, or all projects' (''). */
const matchingDays = (sql: Sql, orgId: string, query: QualityQuery) => sql`
  from session_rollups r
  where r.org_id = ${orgId}
    and r.grain = 'day'
    and r.project = ${query.project ?? ''}
    ${query.date_from === undefined ? sql`` : sql`and r.bucket >= ${query.date_from}`}
    ${query.date_to === undefined ? sql`` : sql`and r.bucket <= ${query.date_to}`}`

/** Mean score of the sessions that match, by day and in all, read from the rollups. */
export async function getQuality(sql: Sql, orgId: string, query: QualityQuery): Promise<QualityOverview> {
  const rows = await sql<{ bucket: string; sessions: string; quality_sum: string }[]>`
    select r.bucket, r.sessions, r.quality_sum
    ${matchingDays(sql, orgId, query)}
    order by r.bucket`
  let sessions = 0n
  let sum = 0n
  const scores_by_date = rows.map((row) => {
    const daySessions = BigInt(row.sessions)
    const daySum = unitsOf(row.quality_sum)
    sessions += daySessions
    sum += daySum
    return { date: row.bucket, score: meanScore(daySum, daySessions) }
  })
  return {
    average_score: meanScore(sum, sessions),
    total_sessions: Number(sessions),
    trend: trendOf(scores_by_date.map((day) => day.score)),
    scores_by_date,
  }
}

/** Hundredths summed over a count, as a score with 2 decimals; 0 for none. */
const meanScore = (sum: bigint, count: bigint): number =>
  count === 0n ? 0 : unscaled(roundedQuotient(sum, count), SCORE_DECIMALS)

/** Direction of the scores in order of time: later half against earlier half, the middle one of an odd number in neither. */
function trendOf(scores: readonly number[]): QualityOverview['trend'] {
  const half = Math.floor(scores.length / 2)
  // in hundredths: as doubles, 2.14 - 1.14 is more than 1
  const sum = (part: readonly number[]) => part.reduce((total, score) => total + Math.round(score * 100), 0)
  const change = half === 0 ? 0 : sum(scores.slice(-half)) - sum(scores.slice(0, half))
  if (Math.abs(change) <= STABLE_WITHIN_POINTS * 100 * half) return 'stable'
  return change > 0 ? 'up' : 'down'
}

/** Mean, least and greatest score by day, week or month; buckets without sessions are left out. */
export async function getQualityTrend(
  sql: Sql,
  orgId: string,
  query: QualityTrendQuery,
): Promise<QualityTrend> {
  const rows = await sql<
    { date: string; sessions: string; score: string; min_score: string; max_score: string }[]
  >`
    select
      date_trunc(${query.granularity}, r.bucket::timestamp)::date as date,
      sum(r.sessions) as sessions,
      round(sum(r.quality_sum) / sum(r.sessions), 2) as score,
      min(r.quality_min) as min_score,
      max(r.quality_max) as max_score
    ${matchingDays(sql, orgId, query)}
    group by 1
    order by 1`
  return {
    granularity: query.granularity,
    data: rows.map((row) => ({
      date: row.date,
      score: Number(row.score),
      sessions: Number(row.sessions),
      min_score: Number(row.min_score),
      max_score: Number(row.max_score),
    })),
  }
}
