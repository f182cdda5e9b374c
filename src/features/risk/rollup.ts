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
