import type { ISql } from '../db/client.ts'
import type { DerivedTable, OrgId } from '../db/derived-tables.ts'

/** The counts, computed from the scores. */
const fromRisks = (sql: ISql, orgId: OrgId) => sql`
  select p.repo, g.rating, t.state, (k.created_at at time zone 'UTC')::date as bucket, count(*) as prs
  from pr_risks k
  cross join lateral (values (k.repo), ('')) as p (repo)
  cross join lateral (values (k.rating), ('')) as g (rating)
  cross join lateral (values (k.state), ('')) as t (state)
  where k.org_id = ${orgId}
  group by 1, 2, 3, 4`

const commitsOf = (sql: ISql, orgId: OrgId) => sql`
  select distinct k.repo, k.pr_number, c.sha
  from pr_risks k
  cross join lateral json_array_elements_text(k.origin->'commits') as c (sha)
  where k.org_id = ${orgId}`

/** The counts of risk scores, and the commits of pull requests. */
export const RISK_TABLES: readonly DerivedTable[] = [
  {
    name: 'risk_rollups',
    columns: ['bucket', 'repo', 'rating', 'state', 'prs'],
    query: fromRisks,
    describe: ({ bucket, repo }) => `risk ${bucket} ${repo || 'all repositories'}`,
  },
  {
    name: 'pr_commits',
    columns: ['repo', 'pr_number', 'sha'],
    query: commitsOf,
    describe: ({ repo, pr_number }) => `commits of ${repo}#${pr_number}`,
  },
]
