import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import type { Fragment, Sql } from '../../database/client.ts'
import type { Group } from './model.ts'

/** The columns of a source's row that make a key; null for one that the source has not. */
export interface Columns {
  project: string
  repo: string
  member: string
  agent: string
}

/** The key of a row. With `onlyMember` other members, and agents that they alone use, are one. */
export function groupKeyOf(
  { sql, orgId, onlyMember }: { sql: Sql; orgId: string; onlyMember: VisibleMember | null },
  by: Group | null,
  columns: Columns,
): Fragment {
  const column = (name: keyof Columns) => sql`${sql.unsafe(columns[name])}`
  switch (by) {
    case null:
      return sql`null::text`
    case 'month':
    case 'week':
      return sql`r.bucket::text`
    case 'member':
      return onlyMember === null
        ? sql`coalesce((select i.of_address from ids i) ->> ${column('member')}, nullif(${column('member')}, ''))`
        : sql`case when ${column('member')} = any (${onlyMember.keys}::text[]) then ${onlyMember.id}::text else '(others)' end`
    case 'team':
      return onlyMember === null
        ? sql`(select t.of_key from teams t) ->> ${column('member')}`
        : sql`case when ${column('member')} = any (${onlyMember.keys}::text[]) then (select t.of_key from teams t) ->> ${onlyMember.id}::text else '(others)' end`
    case 'agent':
      if (onlyMember === null) return sql`nullif(${column('agent')}, '')`
      return sql`
        case
          when ${column('agent')} = any (
            array(
              select u.agent
              from usage_rollups u
              where u.org_id = ${orgId}
                and u.dims = 'member_agent_model'
                and u.grain = 'month'
                and u.member = any (${onlyMember.keys}::text[])
            ) || ''::text
          ) then nullif(${column('agent')}, '')
          else '(others)'
        end`
    case 'repo':
      return column('repo')
    default:
      return sql`nullif(${column(by)}, '')`
  }
}
