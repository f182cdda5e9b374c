import type { Component } from '../../analysis/records/risk.ts'
import { decimalText, SCORE_DECIMALS, scaled } from '../../base/decimals.ts'
import type { ISql } from '../../database/client.ts'
import { unnest } from '../../database/rows.ts'
import type { Lifecycle, Origin, RiskComponents } from './prepare.ts'
import { riskScoreOf } from './prepare.ts'

/** A score as it is stored. */
export interface RiskRow extends RiskComponents {
  id: string
  repo: string
  prNumber: number
  title: string
  filesChanged: number
  createdAt: string
  origin: Origin | null
  lifecycle: Lifecycle
  inputHash: string | null
}

export const lifecycleColumns = (sql: ISql) => sql`
  k.state, k.merged_at, k.closed_at, k.merge_commit, k.url, k.default_branch, k.author_email`

/** A row of `lifecycleColumns`. */
export interface StoredLifecycle extends Omit<Lifecycle, 'merged_at' | 'closed_at'> {
  merged_at: Date | null
  closed_at: Date | null
}

export const lifecycleOf = (row: StoredLifecycle): Lifecycle => ({
  state: row.state,
  merged_at: row.merged_at?.toISOString() ?? null,
  closed_at: row.closed_at?.toISOString() ?? null,
  merge_commit: row.merge_commit,
  url: row.url,
  default_branch: row.default_branch,
  author_email: row.author_email,
})

/** The stored scores of these pull requests, and those with one of these ids. */
export async function findRisks(
  tx: ISql,
  orgId: string,
  pullRequests: readonly Pick<RiskRow, 'repo' | 'prNumber'>[],
  ids: readonly string[],
): Promise<RiskRow[]> {
  const rows = await tx<
    (Omit<RiskRow, 'createdAt' | 'scores' | 'lifecycle'> & {
      createdAt: Date
      impact: string
      regression: string
      security: string
      coupling: string
    } & StoredLifecycle)[]
  >`
    select
      k.id, k.repo, k.pr_number as "prNumber", k.pr_title as title, k.files_changed as "filesChanged",
      k.created_at as "createdAt", encode(k.input_hash, 'hex') as "inputHash", k.impact_score as impact,
      k.regression_score as regression, k.security_score as security, k.coupling_score as coupling, k.contributions,
      k.origin, ${lifecycleColumns(tx)}
    from ${unnest(tx, pullRequests, { repo: 'text', pr_number: ['integer', ({ prNumber }) => prNumber] })}
    join pr_risks k on k.org_id = ${orgId} and k.repo = n.repo and k.pr_number = n.pr_number
    union all
    select
      k.id, k.repo, k.pr_number, k.pr_title, k.files_changed, k.created_at, encode(k.input_hash, 'hex'),
      k.impact_score, k.regression_score, k.security_score, k.coupling_score, k.contributions,
      k.origin, ${lifecycleColumns(tx)}
    from pr_risks k
    where k.org_id = ${orgId}
      and k.id = any(${[...ids]}::text[])`
  return rows.map(({ createdAt, impact, regression, security, coupling, contributions, ...row }) => ({
    id: row.id,
    repo: row.repo,
    prNumber: row.prNumber,
    title: row.title,
    filesChanged: row.filesChanged,
    createdAt: createdAt.toISOString(),
    origin: row.origin,
    lifecycle: lifecycleOf(row),
    inputHash: row.inputHash,
    scores: {
      impact: Number(impact),
      regression: Number(regression),
      security: Number(security),
      coupling: Number(coupling),
    },
    contributions,
  }))
}

/** Writes the scores; their commits are written by `replaceCommits`. */
export async function upsertRisks(tx: ISql, orgId: string, rows: readonly RiskRow[]): Promise<void> {
  if (rows.length === 0) return
  const score = (row: RiskRow, part: Component) =>
    decimalText(scaled(row.scores[part], SCORE_DECIMALS), SCORE_DECIMALS)
  await tx`
    insert into pr_risks (
      org_id, repo, pr_number, id, pr_title, files_changed, created_at,
      impact_score, regression_score, security_score, coupling_score, risk_score, contributions, input_hash, origin,
      state, merged_at, closed_at, merge_commit, url, default_branch, author_email
    )
    select
      ${orgId}, n.repo, n.pr_number, n.id, n.pr_title, n.files_changed, n.created_at,
      n.impact, n.regression, n.security, n.coupling, n.risk_score, n.contributions::json, n.input_hash, n.origin::json,
      n.state, n.merged_at, n.closed_at, n.merge_commit, n.url, n.default_branch, n.author_email
    from ${unnest(tx, rows, {
      repo: 'text',
      pr_number: ['integer', ({ prNumber }) => prNumber],
      id: 'text',
      pr_title: ['text', ({ title }) => title],
      files_changed: ['integer', ({ filesChanged }) => filesChanged],
      created_at: ['timestamptz', ({ createdAt }) => createdAt],
      impact: ['numeric', (row) => score(row, 'impact')],
      regression: ['numeric', (row) => score(row, 'regression')],
      security: ['numeric', (row) => score(row, 'security')],
      coupling: ['numeric', (row) => score(row, 'coupling')],
      risk_score: ['smallint', ({ scores }) => riskScoreOf(scores)],
      contributions: ['text', ({ contributions }) => JSON.stringify(contributions)],
      input_hash: ['bytea', ({ inputHash }) => inputHash],
      origin: ['text', ({ origin }) => (origin === null ? null : JSON.stringify(origin))],
      state: ['text', ({ lifecycle }) => lifecycle.state],
      merged_at: ['timestamptz', ({ lifecycle }) => lifecycle.merged_at],
      closed_at: ['timestamptz', ({ lifecycle }) => lifecycle.closed_at],
      merge_commit: ['text', ({ lifecycle }) => lifecycle.merge_commit],
      url: ['text', ({ lifecycle }) => lifecycle.url],
      default_branch: ['text', ({ lifecycle }) => lifecycle.default_branch],
      author_email: ['text', ({ lifecycle }) => lifecycle.author_email],
    })}
    on conflict (org_id, repo, pr_number) do update set
      pr_title = excluded.pr_title,
      files_changed = excluded.files_changed,
      created_at = excluded.created_at,
      impact_score = excluded.impact_score,
      regression_score = excluded.regression_score,
      security_score = excluded.security_score,
      coupling_score = excluded.coupling_score,
      risk_score = excluded.risk_score,
      contributions = excluded.contributions,
      input_hash = excluded.input_hash,
      origin = excluded.origin,
      state = excluded.state,
      merged_at = excluded.merged_at,
      closed_at = excluded.closed_at,
      merge_commit = excluded.merge_commit,
      url = excluded.url,
      default_branch = excluded.default_branch,
      author_email = excluded.author_email`
}

/** Replaces the commits of the pull requests by those of their origins. */
export async function replaceCommits(tx: ISql, orgId: string, rows: readonly RiskRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx`
    delete from pr_commits g
    using ${unnest(tx, rows, { repo: 'text', pr_number: ['integer', ({ prNumber }) => prNumber] })}
    where g.org_id = ${orgId}
      and g.repo = n.repo
      and g.pr_number = n.pr_number`
  const commits = rows.flatMap(({ repo, prNumber, origin }) =>
    [...new Set(origin?.commits)].map((sha) => ({ repo, pr_number: prNumber, sha })),
  )
  if (commits.length === 0) return
  await tx`
    insert into pr_commits (org_id, repo, pr_number, sha)
    select ${orgId}, n.repo, n.pr_number, n.sha
    from ${unnest(tx, commits, { repo: 'text', pr_number: 'integer', sha: 'text' })}`
}
