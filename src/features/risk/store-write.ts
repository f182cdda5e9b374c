// Reads and writes the rows of pull requests' scores, of their commits and of GitHub's events, without sums.

import { findZone } from '../../accounts/organizations/zone-queries.ts'
import { dayOf, TIME_PATTERN } from '../../base/dates.ts'
import type { ISql } from '../../database/client.ts'
import { insert, unnest, upsert } from '../../database/rows.ts'
import type { PullRequestId } from '../usage/pull-request-write.ts'
import { type Lifecycle, type PreparedRisk, type RiskComponents, riskScoreOf } from './prepare.ts'

/** The state of a pull request, as its repository's host reported it. */
export interface PullRequestEvent extends PullRequestId {
  /** Time of the host's last change: an earlier event that comes later changes nothing. */
  updatedAt: string
  title: string
  branch: string | null
  lifecycle: Omit<Lifecycle, 'author_email'>
}

/** Keeps the event unless a later one, or the same, is known; returns whether it is kept. Needs the organization's lock. */
export async function keepEvent(tx: ISql, orgId: string, event: PullRequestEvent): Promise<boolean> {
  const { repo, pr_number, updatedAt, ...told } = event
  const { count } = await tx`
    insert into pr_events as e (org_id, repo, pr_number, updated_at, told)
    values (${orgId}, ${repo}, ${pr_number}, ${updatedAt}, ${JSON.stringify(told)}::text::json)
    on conflict (org_id, repo, pr_number) do update set
      updated_at = excluded.updated_at,
      told = excluded.told
    where e.updated_at < excluded.updated_at`
  return count > 0
}

export async function findEvents(
  sql: ISql,
  orgId: string,
  pullRequests: readonly PullRequestId[],
): Promise<PullRequestEvent[]> {
  if (pullRequests.length === 0) return []
  const rows = await sql<(PullRequestId & { updatedAt: Date; told: Omit<PullRequestEvent, 'updatedAt'> })[]>`
    select e.repo, e.pr_number, e.updated_at as "updatedAt", e.told
    from ${unnest(sql, pullRequests, { repo: 'text', pr_number: 'integer' })}
    join pr_events e
      on e.org_id = ${orgId}
      and e.repo = n.repo
      and e.pr_number = n.pr_number`
  return rows.map(({ told, updatedAt, ...row }) => ({ ...told, ...row, updatedAt: updatedAt.toISOString() }))
}

/** A score as it is stored, but for what follows from its parts; times are RFC 3339. */
export interface RiskRow
  extends Omit<PreparedRisk, 'id' | 'lifecycle' | 'given' | 'change'>,
    Lifecycle,
    RiskComponents {
  id: string
}

export const timeText = (sql: ISql, column: 'created_at' | 'merged_at' | 'closed_at') =>
  sql`to_char(k.${sql(column)} at time zone 'UTC', ${TIME_PATTERN})`

export async function findRisks(
  tx: ISql,
  orgId: string,
  pullRequests: readonly PullRequestId[],
  ids: readonly string[],
): Promise<RiskRow[]> {
  const columns = tx`
    k.id, k.repo, k.pr_number, k.pr_title, k.files_changed, ${timeText(tx, 'created_at')} as created_at,
    encode(k.input_hash, 'hex') as input_hash, k.contributions, k.origin, k.state, ${timeText(tx, 'merged_at')} as merged_at,
    ${timeText(tx, 'closed_at')} as closed_at, k.merge_commit, k.url, k.default_branch, k.author_email,
    json_build_object(
      'impact', k.impact_score, 'regression', k.regression_score, 'security', k.security_score, 'coupling', k.coupling_score
    ) as scores`
  return await tx<RiskRow[]>`
    select ${columns}
    from ${unnest(tx, pullRequests, { repo: 'text', pr_number: 'integer' })}
    join pr_risks k on k.org_id = ${orgId} and k.repo = n.repo and k.pr_number = n.pr_number
    union all
    select ${columns}
    from pr_risks k
    where k.org_id = ${orgId}
      and k.id = any(${[...ids]}::text[])`
}

/** Writes the scores; their commits are written by `replaceCommits`. */
export async function upsertRisks(tx: ISql, orgId: string, rows: readonly RiskRow[]): Promise<void> {
  const zone = await findZone(tx, orgId)
  await upsert(tx, orgId, { table: 'pr_risks', key: ['repo', 'pr_number'] }, rows, {
    repo: 'text',
    pr_number: 'integer',
    id: 'text',
    pr_title: 'text',
    files_changed: 'integer',
    created_at: 'timestamptz',
    impact_score: ['numeric', ({ scores }) => scores.impact],
    regression_score: ['numeric', ({ scores }) => scores.regression],
    security_score: ['numeric', ({ scores }) => scores.security],
    coupling_score: ['numeric', ({ scores }) => scores.coupling],
    risk_score: ['smallint', ({ scores }) => riskScoreOf(scores)],
    contributions: ['json', ({ contributions }) => JSON.stringify(contributions)],
    input_hash: 'bytea',
    origin: ['json', ({ origin }) => origin && JSON.stringify(origin)],
    state: 'text',
    merged_at: 'timestamptz',
    closed_at: 'timestamptz',
    merge_commit: 'text',
    url: 'text',
    default_branch: 'text',
    author_email: 'text',
    day: ['date', (row) => dayOf(countedAt(row), zone)],
  })
}

/** When a pull request was merged or closed, else opened. */
function countedAt({ state, merged_at, closed_at, created_at }: RiskRow): string {
  if (state === 'open') return created_at
  return (state === 'merged' ? merged_at : null) ?? closed_at ?? created_at
}

/** Replaces the commits of the pull requests by those of their origins. */
export async function replaceCommits(tx: ISql, orgId: string, rows: readonly RiskRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx`
    delete from pr_commits g
    using ${unnest(tx, rows, { repo: 'text', pr_number: 'integer' })}
    where g.org_id = ${orgId}
      and g.repo = n.repo
      and g.pr_number = n.pr_number`
  const commits = rows.flatMap(({ repo, pr_number, origin }) =>
    [...new Set(origin?.commits)].map((sha) => ({ repo, pr_number, sha })),
  )
  await insert(tx, orgId, 'pr_commits', commits, { repo: 'text', pr_number: 'integer', sha: 'text' })
}
