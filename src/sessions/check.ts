import type { Fragment, ISql } from '../db/client.ts'
import type { DerivedTable, OrgId } from '../db/derived-tables.ts'
import { RANGE_SORTS, type RangeSort } from './range-rollup.ts'

/** The rollups, computed from the sessions. */
const fromSessions = (sql: ISql, orgId: OrgId) => sql`
  with days as (
    select
      s.project, s.day, count(*) as sessions, sum(s.estimated_cost) as cost,
      sum(s.unpriced_tokens) as unpriced_tokens,
      sum(s.quality_score) as quality_sum, min(s.quality_score) as quality_min, max(s.quality_score) as quality_max,
      sum(s.security_score) as security_sum, min(s.security_score) as security_min, max(s.security_score) as security_max
    from sessions s
    where s.org_id = ${orgId}
    group by s.project, s.day
  )
  select
    g.grain,
    p.project,
    case g.grain when 'day' then d.day else date_trunc('month', d.day::timestamp)::date end as bucket,
    sum(d.sessions)::bigint as sessions,
    sum(d.cost) as cost,
    sum(d.unpriced_tokens)::bigint as unpriced_tokens,
    sum(d.quality_sum) as quality_sum, min(d.quality_min) as quality_min, max(d.quality_max) as quality_max,
    sum(d.security_sum) as security_sum, min(d.security_min) as security_min, max(d.security_max) as security_max
  from days d
  cross join (values ('day'), ('month')) as g (grain)
  cross join lateral (select d.project union select '') as p (project)
  group by g.grain, p.project, 3`

const SORTS = Object.keys(RANGE_SORTS) as RangeSort[]

/** One statement for each sort, of each project and of all: each reads its own index. */
const unionOfLists = (
  sql: ISql,
  ofList: (sort: RangeSort, ofAllProjects: boolean) => Fragment,
  kinds: readonly boolean[] = [true, false],
): Fragment =>
  SORTS.flatMap((sort) => kinds.map((ofAllProjects) => ofList(sort, ofAllProjects))).reduce(
    (all, one) => sql`${all} union all ${one}`,
  )

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
  const value = sql`s.${sql(sort)}`
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
    cross join unnest(${SORTS}::text[]) as v (sort)
    cross join (values ('narrow'), ('wide')) as g (grain)
  ),
  ranges as (
    select
      b.*,
      -- the values are above every value and id
      lead(b.from_value, 1, 2000000000) over w as to_value,
      lead(b.from_id, 1, '~') over w as to_id
    from bounds b
    window w as (partition by b.sort, b.grain, b.project order by b.from_value, b.from_id)
  )
  ${unionOfLists(sql, (sort, ofAllProjects) => {
    const value = sql`s.${sql(sort)}`
    const type = sql.unsafe(RANGE_SORTS[sort])
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
  {
    name: 'session_rollups',
    columns: [
      ...['grain', 'project', 'bucket', 'sessions', 'cost', 'unpriced_tokens'],
      ...['quality_sum', 'quality_min', 'quality_max', 'security_sum', 'security_min', 'security_max'],
    ],
    query: fromSessions,
    describe: ({ grain, bucket, project }) => `${grain} ${bucket} ${project || 'all projects'}`,
  },
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
