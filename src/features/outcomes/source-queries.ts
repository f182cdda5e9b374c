// Outcomes are summed from the sums of sessions, of pull requests with the parts of sessions in them, and of commits.

import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { addDays, daysOf, type Span, spansOf } from '../../base/dates.ts'
import type { Fragment, Sql } from '../../database/client.ts'
import { memberAddresses, personGiven } from '../../database/member-addresses.ts'
import { isOfTeam } from '../usage/member-queries.ts'
import { usageRows } from '../usage/sources.ts'
import { bucketOf, columnOfKey, inSpans, OTHERS, selected, sumsWith, teamTable } from '../usage/sums.ts'
import type { Group, OutcomesQuery } from './model.ts'

const OF_PULL_REQUESTS = ['open', 'merged', 'closed', 'linked_cost', 'linked_of_cost'] as const
const OF_SURVIVAL = ['survival_14', 'of_14', 'survival_30', 'of_30'] as const
const OF_COMMITS = ['commits', 'effective_lines', 'ai_lines', ...OF_SURVIVAL] as const

/** The measures of a source's row. */
export const OUTCOME_SUMS = ['cost', ...OF_PULL_REQUESTS, ...OF_COMMITS] as const

/** Measures that are columns of the source. */
const ownColumns = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, `r.${name}`]))

/** The columns of a source that it has; the others are 0. */
const measured = (sql: Sql, columns: Record<string, string>) =>
  sql.unsafe(OUTCOME_SUMS.map((name) => `${columns[name] ?? '0'} as ${name}`).join(', '))

export interface Context {
  sql: Sql
  orgId: string
  query: OutcomesQuery
  onlyMember: VisibleMember | null
  today: string
}

/** The person of a row: those of pull requests and commits have the address of the author. */
const PERSON = `coalesce((select i.of_address from ids i) ->> r.member, r.member)`

/** Selects the tables that several sources read: members by address, their teams, and the repository of each project. */
export const sharedTables = ({ sql, orgId }: Context): Fragment => sql`
  ids as materialized (
    select jsonb_object_agg(m.address, m.id) as of_address
    from ${memberAddresses(sql, orgId)} m
  ),
  ${teamTable(sql, orgId)},
  -- the repository that most pull requests of a project are in
  repos as materialized (
    select jsonb_object_agg(p.project, p.repo) as of_project
    from (
      select distinct on (n.project) n.project, r.repo
      from (
        select r.project, r.repo, sum(r.open + r.merged + r.closed) as pull_requests
        from outcome_rollups r
        where r.org_id = ${orgId}
          and r.dims = 'project'
          and r.grain = 'month'
          and r.repo <> ''
        group by r.project, r.repo
      ) r
      cross join lateral unnest(
        case when r.project = '' then array[r.repo, ${sql.unsafe(NAME_OF_REPO)}] else array[r.project] end
      ) as n (project)
      group by n.project, r.repo
      order by n.project, sum(r.pull_requests) desc, r.repo collate "C"
    ) p
  )`

/** The repository's name without its owner. */
const NAME_OF_REPO = "regexp_replace(r.repo, '^.*/', '')"

const repoOf = (project: string): string => `((select r.of_project from repos r) ->> ${project})`

/** The expressions of a row's project and repository. */
interface Columns {
  project: string
  repo: string
}

/** The key of a row. With `onlyMember` other members, and agents that they alone use, are one. */
function groupKeyOf({ sql, orgId, onlyMember }: Context, by: Group | null, { project, repo }: Columns) {
  if (by === null) return sql`null::text`
  if (by === 'month' || by === 'week') return sql`r.bucket::text`
  if (by === 'project') return sql`nullif(${sql.unsafe(project)}, '')`
  if (by === 'repo') return sql`${sql.unsafe(repo)}`
  const key = columnOfKey(sql, by)
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
      : sql`r.member = ${onlyMember.id}`
  return sql`case when ${isOwn} then ${key} else ${OTHERS} end`
}

/** The columns of a source's rows that a key is made of. */
function keyColumnsOf(sql: Sql, by: Group | null): Fragment[] {
  if (by === null) return []
  if (by === 'month' || by === 'week') return [sql`${bucketOf(sql, by, sql`r.bucket`)} as bucket`]
  if (by === 'member' || by === 'team') return [sql.unsafe(`${PERSON} as member`)]
  return [sql.unsafe(`r.${by === 'repo' ? 'project' : by}`)]
}

/** Rows `r`, the expressions of their measures, and their columns that make keys. */
interface Source {
  rows: Fragment
  sums: Record<string, string>
  columns: Columns
  /** The key of a project or repository is made of `repo` too. */
  hasRepo?: boolean
}

/** All sources, each with the key and the measures that it has. */
export const sourcesBy = (context: Context, by: Group | null): Fragment =>
  [sessionsBy(context, by), ...pullRequestsBy(context, by), ...commitsBy(context, by)]
    .map((source) => summedBy(context, by, source))
    .reduce((all, source) => context.sql`${all} union all ${source}`)

/** Sums the rows of a source before their keys are made and every measure is added to them, which takes longer than reading them. */
function summedBy(context: Context, by: Group | null, { rows, sums, columns, hasRepo }: Source): Fragment {
  const { sql } = context
  const isRepo = hasRepo === true && (by === 'project' || by === 'repo')
  const keys = [...keyColumnsOf(sql, by), ...(isRepo ? [sql`r.repo`] : [])]
  const summed = selected(sql, Object.keys(sums), (name) => `sum(${sums[name]})`)
  return sql`
    select ${groupKeyOf(context, by, columns)} as key, ${measured(sql, ownColumns(Object.keys(sums)))}
    from (
      select ${[...keys, summed].reduce((all, each) => sql`${all}, ${each}`)}
      ${rows}
      ${keys.length === 0 ? sql`` : sql`group by ${sql.unsafe(keys.map((_, at) => at + 1).join(', '))}`}
    ) r`
}

const OF_PROJECT = { project: 'r.project', repo: repoOf('r.project') }

/** The condition that a row's project is one of the repository's. An array, not a condition on each row: the index has it. */
const isOfRepo = ({ sql, query: { repo } }: Context): Fragment =>
  repo === undefined
    ? sql``
    : sql`
        and r.project = any (
          array(select p.key from repos r cross join jsonb_each_text(r.of_project) p where p.value = ${repo})
        )`

/** Sums the whole cost of sessions by the date on which they began, project, member and agent. */
function sessionsBy(context: Context, by: Group | null): Source {
  const { sql, orgId, query } = context
  const { by: _by, repo: _repo, page: _page, per_page: _size, ...filters } = query
  const buckets = by === 'week' ? 'day' : by === 'month' ? by : undefined
  const rows = usageRows(sql, orgId, filters, { columns: neededColumns(query, by), buckets })
  return {
    sums: { cost: 'r.begun_cost * 0.000001' },
    columns: OF_PROJECT,
    rows: sql`from (${rows}) r where r.main_sessions > 0 ${isOfRepo(context)}`,
  }
}

const isOfMembers = ({ member, team }: OutcomesQuery, by: Group | null): boolean =>
  by === 'member' || by === 'team' || member !== undefined || team !== undefined

/** The columns of the rollups that the key and the filters need. */
const neededColumns = (query: OutcomesQuery, by: Group | null): ('project' | 'member' | 'agent')[] => [
  ...(by === 'project' || by === 'repo' || query.project !== undefined || query.repo !== undefined
    ? (['project'] as const)
    : []),
  ...(isOfMembers(query, by) ? (['member'] as const) : []),
  ...(by === 'agent' ? (['agent'] as const) : []),
]

const spansBy = ({ date_from, date_to }: OutcomesQuery, byDays: boolean): Span[] =>
  byDays ? [daysOf(date_from, date_to)] : spansOf(date_from, date_to)

/** `from … where …`: the rows of months and days that match, but for project and repository. */
function rollupRows(
  context: Context,
  table: 'outcome_rollups' | 'commit_rollups',
  by: Group | null,
  byDays = by === 'week',
): Fragment {
  const { sql, orgId, query } = context
  const { member, team } = query
  const rows = sql`
    select r.*
    from ${sql(table)} r
    where r.org_id = ${orgId}
      -- a literal, as in inSpans
      and r.dims = ${sql.unsafe(`'${sumsWith([table], 'month', neededColumns(query, by))?.dims}'`)}
      ${member === undefined ? sql`` : sql`and ${sql.unsafe(PERSON)} = ${personGiven(sql, orgId, member)}`}
      ${team === undefined ? sql`` : sql`and ${isOfTeam(sql, orgId, sql.unsafe(PERSON), team)}`}`
  return sql`from (${inSpans(sql, spansBy(query, byDays), rows)}) r where true`
}

/** Pull requests with what belongs to them, and the part of the sessions' cost that is linked to one. */
function pullRequestsBy(context: Context, by: Group | null): Source[] {
  const { sql, orgId, query } = context
  const { project, repo } = query
  const columns = {
    project: `case when r.repo = '' then r.project else coalesce(nullif(r.project, ''), ${NAME_OF_REPO}) end`,
    repo: `case when r.repo = '' then ${repoOf('r.project')} else r.repo end`,
  }
  const sums = ownColumns(OF_PULL_REQUESTS)
  // rows that name the project or repository, and those of which it is found by the other: each by the index
  const ofProject =
    project === undefined
      ? [sql``]
      : [
          // one without a project is of the repository's name
          sql`and r.project = ${project} and (r.project <> '' or r.repo = '')`,
          sql`
            and r.project = ''
            and r.repo = any (
              array(
                select distinct r.repo
                from outcome_rollups r
                where r.org_id = ${orgId}
                  and r.dims = 'project'
                  and r.grain = 'month'
                  and r.project = ''
                  and r.repo <> ''
                  and ${sql.unsafe(NAME_OF_REPO)} = ${project}
              )
            )`,
        ]
  const ofRepo =
    repo === undefined ? [sql``] : [sql`and r.repo = ${repo}`, sql`and r.repo = '' ${isOfRepo(context)}`]
  return ofProject.flatMap((first) =>
    ofRepo.map((second) => ({
      ...{ sums, columns, hasRepo: true },
      rows: sql`${rollupRows(context, 'outcome_rollups', by)} ${first} ${second}`,
    })),
  )
}

/** Commits, less what is left of those that are too young. */
function commitsBy(context: Context, by: Group | null): Source[] {
  const { sql, query, today } = context
  const { project } = query
  const source = (sums: Record<string, string>, from: Fragment) => ({
    ...{ sums, columns: OF_PROJECT },
    rows: sql`
      ${from}
      ${project === undefined ? sql`` : sql`and r.project = ${project}`}
      ${isOfRepo(context)}`,
  })
  const sums = ownColumns(by === 'agent' ? ['ai_lines'] : OF_COMMITS)
  const all = source(sums, rollupRows(context, 'commit_rollups', by))
  if (by === 'agent') return [all]
  const lastOld = (days: number) => addDays(today, -days)
  const young = Object.fromEntries(
    OF_SURVIVAL.map((name) => {
      const days = Number(name.slice(-2))
      return [name, `case when r.bucket > '${lastOld(days)}'::date then -r.${name} else 0 end`]
    }),
  )
  const { date_from: from = '' } = query
  const date_from = [from, lastOld(30)].toSorted().at(-1) ?? from
  const days = rollupRows({ ...context, query: { ...query, date_from } }, 'commit_rollups', by, true)
  return [all, source(young, days)]
}
