import type { Used, WeekOfUnit } from '../../analysis/effects/noticed.ts'
import { addDays, dayNumber } from '../../base/dates.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { memberAddresses } from '../../database/member-addresses.ts'

// Reads the sums that effects are measured from. A unit's id is that of the member, else the address or id of the sessions.

export const weekOf = (date: string): number => Math.floor(dayNumber(date) / 7)
export const mondayOfWeek = (week: number): string => addDays('1969-12-29', week * 7)

/** A member by each of their addresses and by their id. */
export type Members = ReadonlyMap<string, { id: string; team: string | null }>

export async function readMembers(sql: ISql, orgId: string): Promise<Members> {
  const rows = await sql<{ id: string; address: string; team: string | null }[]>`
    select a.id, a.address, a.team
    from ${memberAddresses(sql, orgId)} a`
  return new Map(
    rows.flatMap(({ id, address, team }) => [[id, { id, team }] as const, [address, { id, team }] as const]),
  )
}

const WEEK = `(r.week - date '1969-12-29') / 7`

/** The weeks of each unit that worked, ascending, by the models that it called. JSON of a member's weeks is read faster than rows. */
export async function readWeeks(sql: ISql, orgId: string, members: Members): Promise<WeekOfUnit[]> {
  const rows = await sql<{ member: string; weeks: [number, string, number, number, number][] }[]>`
    select q.member, json_agg(json_build_array(q.week, q.model, q.calls, q.written, q.hour)) as weeks
    from (
      select r.member, ${sql.unsafe(WEEK)} as week, r.model, sum_bigint(r.calls) as calls,
        sum_bigint(r.cache_creation) as written, sum_bigint(r.cache_creation_1h) as hour
      from work_rollups r
      where r.org_id = ${orgId}
        and r.member <> ''
      group by r.member, r.week, r.model
    ) q
    group by q.member
    order by q.member collate "C"`
  const units = new Map<string, Map<number, WeekOfUnit & { calls: Map<string, number> }>>()
  for (const { member, weeks } of rows) {
    const unit = members.get(member)?.id ?? member
    const own = units.getOrInsertComputed(unit, () => new Map())
    for (const [week, model, calls, written, hour] of weeks) {
      const one = own.getOrInsertComputed(week, () => ({
        ...{ unit, week, calls: new Map(), written: 0, writtenForHour: 0 },
      }))
      if (model !== '' && calls > 0) one.calls.set(model, (one.calls.get(model) ?? 0) + calls)
      one.written += written
      one.writtenForHour += hour
    }
  }
  return [...units.values()].flatMap((own) => [...own.values()]).sort((a, b) => a.week - b.week)
}

/** The weeks in which members used values of traits, in all: the first and the last. */
export async function readUsed(sql: ISql, orgId: string, members: Members): Promise<Used[]> {
  const rows = await sql<{ trait: string; value: string; used: [string, number, number][] }[]>`
    select q.trait, q.value, json_agg(json_build_array(q.member, q.first, q.last)) as used
    from (
      select r.trait, r.value, r.member, min(${sql.unsafe(WEEK)}) as first, max(${sql.unsafe(WEEK)}) as last
      from trait_rollups r
      where r.org_id = ${orgId}
        and r.member <> ''
      group by r.trait, r.value, r.member
    ) q
    group by q.trait, q.value
    order by q.trait, q.value collate "C"`
  return rows.flatMap(({ trait, value, used }) =>
    used.map(([member, first, last]) => ({
      trait,
      value,
      unit: members.get(member)?.id ?? member,
      first,
      last,
    })),
  )
}

/** Sums of a member's work on a project with a model, at one price, in a week or on a session's first day. */
export interface WorkRow {
  /** The week, or the day counted from the first one. */
  at: number
  member: string
  project: string
  model: string
  price: string
  /** In the order of `SUM`. */
  sums: number[]
  /** Tokens by kind that has tokens. */
  tokens: number[]
  /** Micro-dollars by kind, `other` at the end. */
  costs: number[]
}

const COSTS = ['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'other'].map(
  (kind) => `r.cost_${kind}`,
)
const TOKENS = [
  ...['r.input', 'r.output', 'r.cache_read'],
  ...['r.cache_creation - r.cache_creation_1h', 'r.cache_creation_1h'],
]
const NAMES = ['member', 'project', 'model', 'price']

/** Rows of `from`, each as JSON of its names and sums, in a fixed order: a third of the time of rows of many columns. */
async function readRows(
  sql: ISql,
  { at, sessions, quality }: { at: string; sessions: string; quality: string },
  from: Fragment,
): Promise<WorkRow[]> {
  const sums = [
    sessions,
    'r.prompts',
    'r.calls',
    'r.tool_results',
    'r.tool_errors',
    quality,
    COSTS.join(' + '),
  ]
  const all = [...sums, ...TOKENS, ...COSTS]
  const [row] = await sql<{ rows: [number, string, string, string, string, ...number[]][] | null }[]>`
    select ('[' || string_agg(q.item, ',' order by q.at, ${sql.unsafe(NAMES.map((name) => `q.${name} collate "C"`).join(', '))}) || ']')::json as rows
    from (
      select ${sql.unsafe(at)} as at, ${sql.unsafe(NAMES.map((name) => `r.${name}`).join(', '))},
        concat(
          '[', ${sql.unsafe([at, ...NAMES.map((name) => `to_json(r.${name})`), ...all.map((each) => `sum(${each})::bigint`)].join(`, ',', `))}, ']'
        ) as item
      ${from}
      group by 1, ${sql.unsafe(NAMES.map((name) => `r.${name}`).join(', '))}
    ) q`
  return (row?.rows ?? []).map(([when, member, project, model, price, ...numbers]) => ({
    ...{ at: when, member, project, model, price },
    sums: numbers.slice(0, sums.length),
    tokens: numbers.slice(sums.length, sums.length + TOKENS.length),
    costs: numbers.slice(sums.length + TOKENS.length),
  }))
}

/** The work of the weeks `from` to `to`. */
export const readWork = (sql: ISql, orgId: string, from: number, to: number): Promise<WorkRow[]> =>
  readRows(
    sql,
    { at: WEEK, sessions: 'r.sessions', quality: 'r.quality' },
    sql`
      from work_rollups r
      where r.org_id = ${orgId}
        and r.week >= ${mondayOfWeek(from)}
        and r.week <= ${mondayOfWeek(to)}`,
  )

/** The whole sessions of these members (`keys`: ids and addresses) that begin on the days `from` to `to`. */
export const readBegun = (
  sql: ISql,
  orgId: string,
  keys: readonly string[],
  from: string,
  to: string,
): Promise<WorkRow[]> =>
  readRows(
    sql,
    {
      at: `(r.first_day - date '${from}')`,
      sessions: 'r.is_main::integer',
      quality: 'case when r.is_main then (r.quality_score * 100)::integer else 0 end',
    },
    sql`
      from session_usage r
      where r.org_id = ${orgId}
        and r.member = any(${[...keys]}::text[])
        and r.day >= ${from}
        and r.first_day >= ${from}
        and r.first_day <= ${to}`,
  )

/** The projects with work. */
export async function readProjects(sql: ISql, orgId: string): Promise<string[]> {
  const rows = await sql<{ project: string }[]>`
    select distinct r.project
    from work_rollups r
    where r.org_id = ${orgId}
      and r.project <> ''`
  return rows.map(({ project }) => project)
}

/** The number of changes of the work of each week. */
export async function readWeekVersions(
  sql: ISql,
  orgId: string,
): Promise<{ week: number; version: string }[]> {
  const rows = await sql<{ week: string; version: string }[]>`
    select w.week::text as week, w.version::text as version
    from work_weeks w
    where w.org_id = ${orgId}
    order by w.week`
  return rows.map(({ week, version }) => ({ week: weekOf(week), version }))
}
