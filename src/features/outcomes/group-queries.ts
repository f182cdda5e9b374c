import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import type { Fragment, Sql } from '../../database/client.ts'
import { usageRows } from '../usage/sources.ts'
import { keyOf } from '../usage/sums.ts'
import type { Group } from './model.ts'

/** The expressions of a row's project and repository. */
export interface Columns {
  project: string
  repo: string
}

/** The key of a row. With `onlyMember` other members, and agents that they alone use, are one. */
export function groupKeyOf(
  { sql, orgId, onlyMember }: { sql: Sql; orgId: string; onlyMember: VisibleMember | null },
  by: Group | null,
  { project, repo }: Columns,
): Fragment {
  if (by === null) return sql`null::text`
  if (by === 'month' || by === 'week') return sql`r.bucket::text`
  if (by === 'project') return sql`nullif(${sql.unsafe(project)}, '')`
  if (by === 'repo') return sql`${sql.unsafe(repo)}`
  const key = keyOf(sql, by)
  if (onlyMember === null) return key
  const isOwn =
    by === 'agent'
      ? sql`
          r.agent = any (
            array(
              select u.agent
              from (${usageRows(sql, orgId, { member: onlyMember.id }, { columns: ['agent'], buckets: undefined })}) u
            ) || ''::text
          )`
      : sql`r.member = any (${onlyMember.keys}::text[])`
  return sql`case when ${isOwn} then ${key} else '(others)' end`
}
