import type { Fragment, Sql } from '../db/client.ts'
import { memberAddresses, memberKeys } from '../db/member-addresses.ts'
import type { Own } from '../people/visibility-queries.ts'
import { usageRows } from '../usage/sources.ts'
import type { Group, OutcomesQuery } from './model.ts'

// Outcomes are summed from sessions, their parts in pull requests, pull requests, and commits.

/** The measures of a source's row. */
export const SUMS = [
  ...[
    'open',
    'merged',
    'closed',
    'cost',
    'linked_cost',
    'linked_of_cost',
    'commits',
    'effective_lines',
    'ai_lines',
  ],
  ...['survival_14', 'of_14', 'survival_30', 'of_30'],
]

/** The columns of a source that it has; the others are 0. */
const measured = (sql: Sql, columns: Record<string, string>) =>
  sql.unsafe(SUMS.map((name) => `${columns[name] ?? '0'} as ${name}`).join(', '))

/** The columns of a source's row that make a key; null for one that the source has not. */
interface Columns {
  day: string
  project: string
  repo: string
  member: string
  agent: string
}

export interface Context {
  sql: Sql
  orgId: string
  query: OutcomesQuery
  own: Own | null
  now: Date
}

/**
 * Selects the tables that several sources read: the repository of each project, members by address, pull requests
 * that match, and parts.
 */
export function sharedTables({ sql, orgId, query }: Context): Fragment {
  const { project, repo, member, date_from, date_to } = query
  return sql`
    ids as materialized (
      select jsonb_object_agg(m.address, m.id) as of_address
      from ${memberAddresses(sql, orgId)} m
    ),
    -- the repository that most pull requests of a project are in
    repos as materialized (
      select jsonb_object_agg(p.project, p.repo) as of_project
      from (
        select distinct on (n.project) n.project, k.repo
        from pr_risks k
        cross join lateral unnest(k.projects) as n (project)
        where k.org_id = ${orgId}
        group by n.project, k.repo
        order by n.project, count(*) desc, k.repo collate "C"
      ) p
    ),
    parts as materialized (
      select s.repo, s.pr_number, s.agent, sum(s.part) as cost
      from pr_sessions s
      where s.org_id = ${orgId}
      group by s.repo, s.pr_number, s.agent
    ),
    prs as materialized (
      select k.*
      from (
        select
          k.repo, k.pr_number, k.state, coalesce(k.origin->>'project', regexp_replace(k.repo, '^.*/', '')) as project,
          coalesce(k.author_email, '') as member,
          (
            case k.state
              when 'merged' then coalesce(k.merged_at, k.closed_at, k.created_at)
              when 'closed' then coalesce(k.closed_at, k.created_at)
              else k.created_at
            end at time zone 'UTC'
          )::date as day
        from pr_risks k
        where k.org_id = ${orgId}
          ${project === undefined ? sql`` : sql`and ${project} = any (k.projects)`}
          ${repo === undefined ? sql`` : sql`and k.repo = ${repo}`}
          ${member === undefined ? sql`` : sql`and k.author_email = ${memberKeys(sql, orgId, member)}`}
      ) k
      where true ${inRange(sql, 'k.day', date_from, date_to)}
    )`
}

const inRange = (sql: Sql, column: string, from: string | undefined, to: string | undefined): Fragment => sql`
  ${from === undefined ? sql`` : sql`and ${sql.unsafe(column)} >= ${from}::date`}
  ${to === undefined ? sql`` : sql`and ${sql.unsafe(column)} <= ${to}::date`}`

/** The key of a row. Weeks begin on Monday, as 0001-01-01 did. */
function groupKeyOf({ sql, own }: Context, by: Group | null, columns: Columns): Fragment {
  const column = (name: keyof Columns) => sql`${sql.unsafe(columns[name])}`
  switch (by) {
    case null:
      return sql`null::text`
    case 'month':
      return sql`date_trunc('month', ${column('day')}::timestamp)::date::text`
    case 'week':
      return sql`(${column('day')} - (${column('day')} - '0001-01-01'::date) % 7)::text`
    case 'member':
      return own === null
        ? sql`coalesce((select i.of_address from ids i) ->> ${column('member')}, nullif(${column('member')}, ''))`
        : sql`case when ${column('member')} = any (${own.keys}::text[]) then ${own.id}::text else '(others)' end`
    case 'repo':
      return column('repo')
    default:
      return sql`nullif(${column(by)}, '')`
  }
}

const repoOf = (project: string): string => `((select r.of_project from repos r) ->> ${project})`

/** All sources, each with the key and the measures that it has. */
export function sourcesBy(context: Context, by: Group | null): Fragment {
  const { sql } = context
  const sources = [
    sessionsBy(context, by),
    linkedBy(context, by),
    pullRequestsBy(context, by),
    by === 'agent' ? linesByAgent(context) : commitsBy(context, by),
  ]
  return sources.reduce((all, source) => sql`${all} union all ${source}`)
}

/** Sums the cost of sessions by their own date, project, member and agent. */
function sessionsBy(context: Context, by: Group | null): Fragment {
  const { sql, orgId, query } = context
  const { project, repo, member, date_from, date_to } = query
  const isByRepo = by === 'repo' || repo !== undefined
  const filters = {
    ...(project === undefined ? {} : { project }),
    ...(member === undefined ? {} : { member }),
    ...(date_from === undefined ? {} : { date_from }),
    ...(date_to === undefined ? {} : { date_to }),
  }
  const columns = [
    ...(by === 'project' || isByRepo ? (['project'] as const) : []),
    ...(by === 'member' ? (['member'] as const) : []),
    ...(by === 'agent' ? (['agent'] as const) : []),
  ]
  const rows = usageRows(sql, orgId, filters, { columns, byDays: by === 'week' })
  const named = {
    day: 'r.bucket',
    project: 'r.project',
    repo: repoOf('r.project'),
    member: 'r.member',
    agent: 'r.agent',
  }
  return sql`
    select ${groupKeyOf(context, by, named)} as key, ${measured(sql, { cost: 'r.cost' })}
    from (${rows}) r
    ${repo === undefined ? sql`` : sql`where ${sql.unsafe(named.repo)} = ${repo}`}`
}

/** Sums the part of the sessions' cost that is linked to a pull request. */
function linkedBy(context: Context, by: Group | null): Fragment {
  const { sql, orgId, query } = context
  const { project, repo, member, date_from, date_to } = query
  const named = {
    day: 's.day',
    project: 's.project',
    repo: repoOf('s.project'),
    member: 's.member',
    agent: 's.agent',
  }
  return sql`
    select ${groupKeyOf(context, by, named)} as key, ${measured(sql, { linked_of_cost: 's.part' })}
    from pr_sessions s
    where s.org_id = ${orgId}
      ${project === undefined ? sql`` : sql`and s.project = ${project}`}
      ${member === undefined ? sql`` : sql`and s.member = ${memberKeys(sql, orgId, member)}`}
      ${repo === undefined ? sql`` : sql`and ${sql.unsafe(named.repo)} = ${repo}`}
      ${inRange(sql, 's.day', date_from, date_to)}`
}

/** Pull requests with what belongs to them; by agent each with each of its agents. */
function pullRequestsBy(context: Context, by: Group | null): Fragment {
  const { sql } = context
  const named = { day: 'k.day', project: 'k.project', repo: 'k.repo', member: 'k.member', agent: 'a.agent' }
  const measures = {
    open: "(k.state = 'open')::integer",
    merged: "(k.state = 'merged')::integer",
    closed: "(k.state = 'closed')::integer",
    linked_cost: 'coalesce(a.cost, 0)',
  }
  const parts =
    by === 'agent'
      ? sql`join parts a on a.repo = k.repo and a.pr_number = k.pr_number`
      : sql`
          left join (
            select a.repo, a.pr_number, sum(a.cost) as cost
            from parts a
            group by a.repo, a.pr_number
          ) a on a.repo = k.repo and a.pr_number = k.pr_number`
  return sql`
    select ${groupKeyOf(context, by, named)} as key, ${measured(sql, measures)}
    from prs k
    ${parts}`
}

/** Commits that the last sync of their repository reached from its default branch, and those of which that was not said. */
const commitsThatMatch = ({ sql, orgId, query }: Context, isInner: boolean): Fragment => {
  const { project, repo, member, date_from, date_to } = query
  return sql`
    from (
      select c.project, c.sha, c.author_email, (c.committed_at at time zone 'UTC')::date as day, c.committed_at
      from commits c
      where c.org_id = ${orgId}
        ${project === undefined ? sql`` : sql`and c.project = ${project}`}
        ${member === undefined ? sql`` : sql`and c.author_email = ${memberKeys(sql, orgId, member)}`}
        ${repo === undefined ? sql`` : sql`and ${sql.unsafe(repoOf('c.project'))} = ${repo}`}
    ) c
    ${isInner ? sql`join` : sql`left join`} commit_ai a
      on a.org_id = ${orgId}
      and a.project = c.project
      and a.sha = c.sha
    where a.on_default_branch is not false
      ${inRange(sql, 'c.day', date_from, date_to)}`
}

/** Commits by their date, author and project. */
function commitsBy(context: Context, by: Group | null): Fragment {
  const { sql, now } = context
  const named = {
    ...{ day: 'c.day', project: 'c.project', repo: repoOf('c.project'), member: 'c.author_email' },
    agent: "''",
  }
  const isOld = (days: number) =>
    `a.survival_${days} is not null and c.committed_at <= '${now.toISOString()}'::timestamptz - interval '${days} days'`
  const left = (days: number) => ({
    [`survival_${days}`]: `case when ${isOld(days)} then a.survival_${days} else 0 end`,
    [`of_${days}`]: `case when ${isOld(days)} then coalesce(a.lines, 0) else 0 end`,
  })
  const measures = {
    commits: '1',
    effective_lines: 'coalesce(a.effective_lines, 0)',
    ai_lines: 'coalesce(a.lines, 0)',
    ...left(14),
    ...left(30),
  }
  return sql`
    select ${groupKeyOf(context, by, named)} as key, ${measured(sql, measures)}
    ${commitsThatMatch(context, false)}`
}

/** The lines that each agent wrote. */
const linesByAgent = (context: Context): Fragment => context.sql`
  select l.agent as key, ${measured(context.sql, { ai_lines: 'l.lines' })}
  from (
    select e.key as agent, e.value::bigint as lines
    from (select a.by_agent ${commitsThatMatch(context, true)}) a
    cross join lateral json_each_text(a.by_agent) as e
  ) l`
