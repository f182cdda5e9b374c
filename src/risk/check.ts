import type { ISql } from '../db/client.ts'
import type { DerivedTable } from '../db/derived-tables.ts'

/** The counts, computed from the scores. */
const fromRisks = (sql: ISql, orgId: string) => sql`
  select p.repo, g.rating, (k.created_at at time zone 'UTC')::date as bucket, count(*) as prs
  from pr_risks k
  cross join lateral (values (k.repo), ('')) as p (repo)
  cross join lateral (values (k.rating), ('')) as g (rating)
  where k.org_id = ${orgId}
  group by 1, 2, 3`

/** The counts of risk scores. */
export const RISK_TABLES: readonly DerivedTable[] = [
  {
    name: 'risk_rollups',
    columns: ['bucket', 'repo', 'rating', 'prs'],
    query: fromRisks,
    describe: ({ bucket, repo }) => `risk ${bucket} ${repo || 'all repositories'}`,
  },
]
