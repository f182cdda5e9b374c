import type { Fragment, ISql } from '../db/client.ts'
import type { DerivedTable, OrgId } from '../db/derived-tables.ts'
import type { RangeSort } from './range-rollup.ts'
import { DIRECTORIES, SESSION_ROLLUPS } from './rollup.ts'

/** The column by which sessions `s` are sorted, and its type. */
const valueOfSort = (sql: ISql, sort: RangeSort) =>
  sort === 'cost'
    ? { value: sql`s.estimated_cost`, type: sql`numeric` }
    : { value: sql`s.turns`, type: sql`integer` }

/** One statement for each sort, of each project and of all: each reads its own index. */
const unionOfLists = (
  sql: ISql,
  ofList: (sort: RangeSort, ofAllProjects: boolean) => Fragment,
  kinds: readonly boolean[] = [true, false],
): Fragment =>
  (['cost', 'turns'] as const)
    .flatMap((sort) => kinds.map((ofAllProjects) => ofList(sort, ofAllProjects)))
    .reduce((all, one) => sql`${all} union all ${one}`)

/** Recomputes the ranges of all sessions, each but the last with equally many. */
const rangesFromSessions = (sql: ISql, orgId: OrgId) =>
  rangesOf(
    sql,
    unionOfLists(sql, (sort, ofAllProjects) => placesOf(sql, orgId, sort, { ofAllProjects })),
  )

/** Recomputes the ranges of a project's sessions. */
export const rangesOfProject = (sql: ISql, orgId: string, project: string) =>
  rangesOf(
    sql,
    unionOfLists(sql, (sort) => placesOf(sql, orgId, sort, { ofAllProjects: false, project }), [false]),
  )

const rangesOf = (sql: ISql, places: Fragment) => sql`
  select
    p.sort, g.grain, p.project,
    case p.place when 0 then 0 else p.value end as from_value,
    case p.place when 0 then '' else p.id end as from_id,
    least(g.size, p.sessions - p.place) as sessions
  from (${places}) p
  cross join (values ('narrow', 1024), ('wide', 32768)) as g (grain, size)
  where p.place % g.size = 0`

/** Each session's place in its list. */
function placesOf(
  sql: ISql,
  orgId: OrgId,
  sort: RangeSort,
  { ofAllProjects, project }: { ofAllProjects: boolean; project?: string },
): Fragment {
  const { value } = valueOfSort(sql, sort)
  const partition = ofAllProjects ? sql`partition by s.org_id` : sql`partition by s.org_id, s.project`
  return sql`
    select
      ${sort} as sort, ${ofAllProjects ? sql`''` : sql`s.project`} as project, ${value}::numeric as value, s.id,
      row_number() over (${partition} order by ${value}, s.id collate "C") - 1 as place,
      count(*) over (${partition}) as sessions
    from sessions s
    where s.org_id = ${orgId}
      ${ofAllProjects ? sql`` : project === undefined ? sql`and s.project <> ''` : sql`and s.project = ${project}`}`
}

/**
 * Computes the counts of the stored ranges: their bounds depend on the order in which sessions came. The sessions of
 * a project that has no ranges are counted in its first ones.
 */
const rangesFromBounds = (sql: ISql, orgId: OrgId) => sql`
  with bounds as (
    select r.sort, r.grain, r.project, r.from_value, r.from_id
    from session_ranges r
    where r.org_id = ${orgId}
    union
    select v.sort, g.grain, p.project, 0, ''
    from (select distinct s.project from sessions s where s.org_id = ${orgId}) s
    cross join lateral (values (s.project), ('')) as p (project)
    cross join (values ('cost'), ('turns')) as v (sort)
    cross join (values ('narrow'), ('wide')) as g (grain)
  ),
  ranges as (
    select
      b.*,
      -- the values are above every cost, number of turns and id
      lead(b.from_value, 1, 2000000000) over w as to_value,
      lead(b.from_id, 1, '~') over w as to_id
    from bounds b
    window w as (partition by b.sort, b.grain, b.project order by b.from_value, b.from_id)
  )
  ${unionOfLists(sql, (sort, ofAllProjects) => {
    const { value, type } = valueOfSort(sql, sort)
    return sql`
      select r.sort, r.grain, r.project, r.from_value, r.from_id, c.sessions
      from ranges r
      cross join lateral (
        select count(*) as sessions
        from sessions s
        where s.org_id = ${orgId}
          ${ofAllProjects ? sql`` : sql`and s.project = r.project`}
          and (${value}, s.id collate "C") >= (r.from_value::${type}, r.from_id)
          and (${value}, s.id collate "C") < (r.to_value::${type}, r.to_id)
      ) c
      where r.sort = ${sort}
        and (r.project = '') = ${ofAllProjects}
        and c.sessions > 0`
  })}`

/** The rollups of sessions. */
export const SESSION_TABLES: readonly DerivedTable[] = [
  ...SESSION_ROLLUPS,
  {
    name: 'session_ranges',
    columns: ['sort', 'grain', 'project', 'from_value', 'from_id', 'sessions'],
    query: rangesFromSessions,
    compared: rangesFromBounds,
    count: 'sessions',
    describe: ({ sort, grain, project, from_value }) =>
      `${grain} range of ${sort} from ${Number(from_value)}, ${project || 'all projects'}`,
  },
]

/** Computing these reads the details of all sessions. */
export const ACTIVITY_TABLES: readonly DerivedTable[] = [DIRECTORIES]
