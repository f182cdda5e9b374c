// Sums of commits and of the lines that agents wrote, for GET /v1/outcomes. All writers need the lock of the organization's
// history.

import type { Fragment, ISql } from '../../database/client.ts'
import type { OrgId } from '../../database/derived-tables.ts'
import { unnest } from '../../database/rows.ts'
import { countsOf, factRollup, measures } from '../usage/fact-rollup.ts'

const SUMS = [
  ...['commits', 'effective_lines', 'ai_lines'],
  // also of commits that are younger than these days
  ...['survival_14', 'of_14', 'survival_30', 'of_30'],
]

/** Commits that the last sync of their repository reached from its default branch, and those of which that was not said. */
const commitFacts = (sql: ISql, orgId: OrgId, only: Fragment): Fragment => {
  const of = (days: number) => `case when a.survival_${days} is null then 0 else coalesce(a.lines, 0) end`
  const counts = {
    ...{ commits: '1', effective_lines: 'coalesce(a.effective_lines, 0)', ai_lines: 'coalesce(a.lines, 0)' },
    ...{ survival_14: 'coalesce(a.survival_14, 0)', of_14: of(14) },
    ...{ survival_30: 'coalesce(a.survival_30, 0)', of_30: of(30) },
  }
  return sql`
    select
      c.day, c.project, c.author_email as member, '' as agent, false as by_agent,
      ${measures(sql, SUMS, counts)}
    from commits c
    left join commit_ai a
      on a.org_id = ${orgId}
      and a.project = c.project
      and a.sha = c.sha
    where c.org_id = ${orgId}
      and a.on_default_branch is not false
      ${only}
    union all
    select
      c.day, c.project, c.author_email, e.key, true, ${measures(sql, SUMS, { ai_lines: 'e.value' })}
    from commits c
    join commit_ai a
      on a.org_id = ${orgId}
      and a.project = c.project
      and a.sha = c.sha
    cross join lateral json_each_text(a.by_agent) as e
    where c.org_id = ${orgId}
      and a.on_default_branch is not false
      ${only}`
}

export const COMMIT_ROLLUP = factRollup({
  name: 'commit_rollups',
  keys: ['project', 'member', 'agent'],
  sums: SUMS,
  facts: (sql, orgId) => commitFacts(sql, orgId, sql``),
})

/** The counts of what is stored of these commits. */
export function countsOfCommits(
  sql: ISql,
  orgId: string,
  commits: readonly { project: string; sha: string }[],
): Fragment {
  const ids = unnest(sql, commits, { project: 'text', sha: 'text' })
  const only = sql`and (c.project, c.sha) in (select n.project, n.sha from ${ids})`
  return countsOf(sql, COMMIT_ROLLUP, commitFacts(sql, orgId, only))
}

export const countsOfProjects = (sql: ISql, orgId: string, projects: readonly string[]): Fragment =>
  countsOf(sql, COMMIT_ROLLUP, commitFacts(sql, orgId, sql`and c.project = any(${[...projects]}::text[])`))
