import type { Sql } from '../db/client.ts'
import type { RiskListQuery, RiskScore } from './model.ts'

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

type ListRow = Omit<RiskRow, 'id'> & {
  total: string
  /** null in the only row of an empty page */
  id: string | null
}

const riskColumns = (sql: Sql) => sql`
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

/**
 * A page of the matching risk scores, newest first, and the number of all matching ones, from one snapshot. The rollups
 * contain the day on which the page starts, so that no page skips more than the risk scores of one day.
 */
export async function listRisks(
  sql: Sql,
  orgId: string,
  query: RiskListQuery,
): Promise<{ rows: RiskScore[]; total: number }> {
  const offset = (query.page - 1) * query.per_page
  const rows = await sql<ListRow[]>`
    with days as materialized (
      select r.bucket, r.prs, sum(r.prs) over (order by r.bucket desc) as through
      from risk_rollups r
      where r.org_id = ${orgId}
        and r.repo = ${query.repo ?? ''}
        and r.rating = ${query.rating ?? ''}
    ),
    start as (
      select d.bucket, (${offset}::bigint - (d.through - d.prs))::bigint as skip
      from days d
      where d.through > ${offset}::bigint
      order by d.through
      limit 1
    )
    select t.total, p.*
    from (select coalesce(sum(d.prs), 0) as total from days d) t
    left join (
      select p.*
      from start b
      cross join lateral (
        select ${riskColumns(sql)}
        from pr_risks k
        where k.org_id = ${orgId}
          ${query.repo === undefined ? sql`` : sql`and k.repo = ${query.repo}`}
          ${query.rating === undefined ? sql`` : sql`and k.rating = ${query.rating}`}
          and k.created_at < (b.bucket + 1)::timestamp at time zone 'UTC'
        order by k.created_at desc, k.id desc
        limit ${query.per_page}
        offset b.skip
      ) p
    ) p on true
    order by p.created_at desc, p.id desc`
  return {
    rows: rows.flatMap(({ total: _total, ...row }) =>
      row.id === null ? [] : [riskOf({ ...row, id: row.id })],
    ),
    total: Number(rows[0]?.total ?? 0),
  }
}

/** Records per page of an export. */
const PAGE = 1_000

/**
 * Pages of the organization's risk scores as records for sync, oldest first. They contain the computed scores and
 * contributions, so that an import gives the same scores whatever commits the other instance has.
 */
export async function* riskRecords(sql: Sql, orgId: string): AsyncGenerator<object[]> {
  let after = { position: '-infinity', id: '' }
  for (;;) {
    const rows = await sql<(RiskRow & { position: string })[]>`
      select ${riskColumns(sql)}, k.created_at::text as position
      from pr_risks k
      where k.org_id = ${orgId}
        and (k.created_at, k.id) > (${after.position}::timestamptz, ${after.id})
      order by k.created_at, k.id
      limit ${PAGE}`
    yield rows.map(({ position: _position, ...row }) => {
      const { risk_score: _score, rating: _rating, ...record } = riskOf(row)
      return { type: 'pr_risk', ...record }
    })
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = { position: last.position, id: last.id }
  }
}

/** The number of records that `riskRecords` yields. */
export async function countRisks(sql: Sql, orgId: string): Promise<number> {
  const [row] = await sql<{ prs: string }[]>`
    select coalesce(sum(r.prs), 0) as prs
    from risk_rollups r
    where r.org_id = ${orgId}
      and r.repo = ''
      and r.rating = ''`
  return Number(row?.prs ?? 0)
}
