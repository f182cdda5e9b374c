import type { ISql } from '../../database/client.ts'
import type { DerivedTable, OrgId } from '../../database/derived-tables.ts'
import { RISK_ROLLUP } from './rollup.ts'

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
