import type { ISql } from '../../database/client.ts'
import type { DerivedTable, OrgId } from '../../database/derived-tables.ts'
import { rollup } from '../../database/rollups.ts'

/** Scores by day; '' stands for all repositories, ratings or states. */
export const RISK_ROLLUP = rollup({
  name: 'risk_rollups',
  key: ['bucket', 'repo', 'rating', 'state'],
  sums: ['prs'],
  rows: (sql, orgId) => sql`
    from pr_risks s
    where s.org_id = ${orgId}`,
  count: (sql, rows) => sql`
    select p.repo, g.rating, t.state, k.bucket, count(*) as prs
    from (
      select s.repo, s.rating, s.state, (s.created_at at time zone 'UTC')::date as bucket
      ${rows}
    ) k
    cross join lateral (values (k.repo), ('')) as p (repo)
    cross join lateral (values (k.rating), ('')) as g (rating)
    cross join lateral (values (k.state), ('')) as t (state)
    group by 1, 2, 3, 4`,
  describe: ({ bucket, repo }) => `risk ${bucket} ${repo || 'all repositories'}`,
})

const commitsOf = (sql: ISql, orgId: OrgId) => sql`
  select distinct k.repo, k.pr_number, c.sha
  from pr_risks k
  cross join lateral json_array_elements_text(k.origin->'commits') as c (sha)
  where k.org_id = ${orgId}`

/** The counts of risk scores, and the commits of pull requests. */
export const RISK_TABLES: readonly DerivedTable[] = [
  RISK_ROLLUP,
  {
    name: 'pr_commits',
    columns: ['repo', 'pr_number', 'sha'],
    query: commitsOf,
    describe: ({ repo, pr_number }) => `commits of ${repo}#${pr_number}`,
  },
]
