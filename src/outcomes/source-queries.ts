import { dateOf, daysOf, spansOf } from '../dates.ts'
import type { Fragment, Sql } from '../db/client.ts'
import { memberAddresses, memberKeys } from '../db/member-addresses.ts'
import type { Own } from '../people/visibility-queries.ts'
import { usageRows } from '../usage/sources.ts'
import type { Group, OutcomesQuery } from './model.ts'

// Outcomes are summed from the sums of sessions, of pull requests with the parts of sessions in them, and of commits.

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

/** Selects the tables that several sources read: members by address, and the repository of each project. */
export const sharedTables = ({ sql, orgId }: Context): Fragment => sql`
  ids as materialized (
    select jsonb_object_agg(m.address, m.id) as of_address
    from ${memberAddresses(sql, orgId)} m
  ),
  -- the repository that most pull requests of a project are in
  repos as materialized (
    select jsonb_object_agg(p.project, p.repo) as of_project
    from (
      select distinct on (n.project) n.project, r.repo
      from outcome_rollups r
      cross join lateral unnest(
        case r.project when '' then array[r.repo, ${sql.unsafe(NAME_OF_REPO)}] else array[r.project] end
      ) as n (project)
      where r.org_id = ${orgId}
        and r.dims = 'project'
        and r.grain = 'month'
        and r.repo <> ''
      group by n.project, r.repo
      order by n.project, sum(r.open + r.merged + r.closed) desc, r.repo collate "C"
    ) p
  )`

/** The repository's name without its owner. */
const NAME_OF_REPO = "regexp_replace(r.repo, '^.*/', '')"

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

const DAY_MS = 86_400_000

const repoOf = (project: string): string => `((select r.of_project from repos r) ->> ${project})`

/** All sources, each with the key and the measures that it has. */
export function sourcesBy(context: Context, by: Group | null): Fragment {
  const sources = [sessionsBy(context, by), pullRequestsBy(context, by), ...commitsBy(context, by)]
  return sources.reduce((all, source) => context.sql`${all} union all ${source}`)
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

/** The smallest grouping of the rollups that has the columns of the key and of the filters. */
function dimsOf({ project, repo, member }: OutcomesQuery, by: Group | null): string {
  const hasProject = by === 'project' || by === 'repo' || project !== undefined || repo !== undefined
  const hasMember = by === 'member' || member !== undefined
  if (by === 'agent') return hasProject || hasMember ? 'project_member_agent' : 'agent'
  if (hasProject) return hasMember ? 'project_member' : 'project'
  return hasMember ? 'member' : 'all'
}

/** `from … where …`: the rows of months and days that match, but for project and repository. */
function rollupRows(
  { sql, orgId, query }: Context,
  table: string,
  by: Group | null,
  byDays = by === 'week',
): Fragment {
  const { member, date_from, date_to } = query
  const spans = byDays ? [daysOf(date_from, date_to)] : spansOf(date_from, date_to)
  const inSpans = spans
    .map(
      ({ grain, from, before }) => sql`
        (
          r.grain = ${sql.unsafe(`'${grain}'`)}
          ${from === undefined ? sql`` : sql`and r.bucket >= ${from}::date`}
          ${before === undefined ? sql`` : sql`and r.bucket < ${before}::date`}
        )`,
    )
    .reduce((all, span) => sql`${all} or ${span}`)
  return sql`
    from ${sql(table)} r
    where r.org_id = ${orgId}
      -- a literal, as in usageRows
      and r.dims = ${sql.unsafe(`'${dimsOf(query, by)}'`)}
      and (${inSpans})
      ${member === undefined ? sql`` : sql`and r.member = ${memberKeys(sql, orgId, member)}`}`
}

/** Pull requests with what belongs to them, and the part of the sessions' cost that is linked to one. */
function pullRequestsBy(context: Context, by: Group | null): Fragment {
  const { sql, query } = context
  const { project, repo } = query
  const named = {
    day: 'r.bucket',
    project: `case when r.repo = '' then r.project else coalesce(nullif(r.project, ''), ${NAME_OF_REPO}) end`,
    repo: `case when r.repo = '' then ${repoOf('r.project')} else r.repo end`,
    ...{ member: 'r.member', agent: 'r.agent' },
  }
  const sums = ['open', 'merged', 'closed', 'linked_cost', 'linked_of_cost']
  const isOfProject = (name: string) => sql`
    and (
      r.project = ${name}
      or (r.project = '' and r.repo <> '' and ${name} in (r.repo, ${sql.unsafe(NAME_OF_REPO)}))
    )`
  return sql`
    select
      ${groupKeyOf(context, by, named)} as key,
      ${measured(sql, Object.fromEntries(sums.map((name) => [name, `r.${name}`])))}
    ${rollupRows(context, 'outcome_rollups', by)}
    ${project === undefined ? sql`` : isOfProject(project)}
    ${repo === undefined ? sql`` : sql`and ${sql.unsafe(named.repo)} = ${repo}`}`
}

/** Commits, less what is left of those that are too young. */
function commitsBy(context: Context, by: Group | null): Fragment[] {
  const { sql, query, now } = context
  const { project, repo } = query
  const named = {
    ...{ day: 'r.bucket', project: 'r.project', repo: repoOf('r.project'), member: 'r.member' },
    agent: 'r.agent',
  }
  const rows = (summed: Record<string, string>, from: Fragment) => sql`
    select ${groupKeyOf(context, by, named)} as key, ${measured(sql, summed)}
    ${from}
    ${project === undefined ? sql`` : sql`and r.project = ${project}`}
    ${repo === undefined ? sql`` : sql`and ${sql.unsafe(named.repo)} = ${repo}`}`
  const ofSurvival = ['survival_14', 'of_14', 'survival_30', 'of_30']
  const sums = by === 'agent' ? ['ai_lines'] : ['commits', 'effective_lines', 'ai_lines', ...ofSurvival]
  const all = rows(
    Object.fromEntries(sums.map((name) => [name, `r.${name}`])),
    rollupRows(context, 'commit_rollups', by),
  )
  if (by === 'agent') return [all]
  const lastOld = (days: number) => dateOf(new Date(now.getTime() - days * DAY_MS))
  const young = Object.fromEntries(
    ofSurvival.map((name) => {
      const days = Number(name.slice(-2))
      return [name, `case when r.bucket > '${lastOld(days)}'::date then -r.${name} else 0 end`]
    }),
  )
  const { date_from: from = '' } = query
  const date_from = [from, lastOld(30)].toSorted().at(-1) ?? from
  const days = rollupRows({ ...context, query: { ...query, date_from } }, 'commit_rollups', by, true)
  return [all, rows(young, days)]
}
