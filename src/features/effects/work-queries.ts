// Reads the sums that effects are measured from. A unit is a person: a member's id, else the address or id of the sessions.

import type { Used, WeekOfUnit } from '../../analysis/effects/notice.ts'
import { addDays, dayNumber } from '../../base/dates.ts'
import type { Fragment, ISql } from '../../database/client.ts'

export const weekOf = (date: string): number => Math.floor(dayNumber(date) / 7)
export const mondayOfWeek = (week: number): string => addDays('1969-12-29', week * 7)
/** No date is before it, to PostgreSQL too. */
const FIRST_WEEK = weekOf('0001-01-01')

/** The teams of members by their ids. */
export type Members = ReadonlyMap<string, string | null>

export async function readMembers(sql: ISql, orgId: string): Promise<Members> {
  const rows = await sql<{ id: string; team: string | null }[]>`
    select m.id, m.team
    from members m
    where m.org_id = ${orgId}`
  return new Map(rows.map(({ id, team }) => [id, team]))
}

const WEEK = `(r.week - date '1969-12-29') / 7`

/** The weeks of each unit that worked, by the models that it called. */
export async function readWeeks(sql: ISql, orgId: string): Promise<WeekOfUnit[]> {
  const units = new Map<string, Map<number, WeekOfUnit & { calls: Map<string, number> }>>()
  const weeksOf = (unit: string) => {
    const weeks = units.getOrInsertComputed(unit, () => new Map())
    return (week: number) => {
      let one = weeks.get(week)
      if (one === undefined) {
        one = { unit, week, all: 0, calls: new Map(), written: 0, writtenForHour: 0 }
        weeks.set(week, one)
      }
      return one
    }
  }
  // the text of arrays takes a third of the time of rows, or of JSON of more columns
  const called = await sql<{ member: string; model: string; weeks: string; calls: string; hour: string }[]>`
    select r.member, r.model, array_agg(${sql.unsafe(WEEK)})::text as weeks, array_agg(r.calls)::text as calls,
      sum_bigint(r.cache_creation_1h) as hour
    from work_rollups r
    where r.org_id = ${orgId}
      and r.member <> ''
    group by r.member, r.model`
  for (const { member, model, ...numbers } of called) {
    const weekOfUnit = weeksOf(member)
    const calls = numbersOf(numbers.calls)
    for (const [at, week] of numbersOf(numbers.weeks).entries()) {
      const one = weekOfUnit(week)
      const its = model === '' ? 0 : (calls[at] ?? 0)
      if (its > 0) one.calls.set(model, (one.calls.get(model) ?? 0) + its)
      one.all += its
    }
  }
  // who never writes to the cache for an hour has no share of it
  const writing = new Set(called.flatMap(({ member, hour }) => (Number(hour) > 0 ? [member] : [])))
  if (writing.size > 0) {
    const written = await sql<{ member: string; weeks: string; written: string; hour: string }[]>`
      select r.member, array_agg(${sql.unsafe(WEEK)})::text as weeks, array_agg(r.cache_creation)::text as written,
        array_agg(r.cache_creation_1h)::text as hour
      from work_rollups r
      where r.org_id = ${orgId}
        and r.member = any(${[...writing]}::text[])
        and r.cache_creation > 0
      group by r.member`
    for (const { member, ...numbers } of written) {
      const weekOfUnit = weeksOf(member)
      const [all, hour] = [numbersOf(numbers.written), numbersOf(numbers.hour)]
      for (const [at, week] of numbersOf(numbers.weeks).entries()) {
        const one = weekOfUnit(week)
        one.written += all[at] ?? 0
        one.writtenForHour += hour[at] ?? 0
      }
    }
  }
  return [...units.values()].flatMap((weeks) => [...weeks.values()])
}

/** The numbers of an array of PostgreSQL. */
const numbersOf = (array: string): number[] => JSON.parse(`[${array.slice(1, -1)}]`)

/** The weeks in which members used values of traits, in all: the first and the last. */
export async function readUsed(sql: ISql, orgId: string): Promise<Used[]> {
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
    used.map(([unit, first, last]) => ({ trait, value, unit, first, last })),
  )
}

/** Sums of a member's work on a project with a model, at one price, in a week or on a session's first day. */
export interface WorkRow {
  /** A week, or the day counted from the first one. */
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

/** Sums of `from` by `at` and names, in a fixed order. Names are read once for all that is of them. */
async function readRows(
  sql: ISql,
  { at, sessions, quality }: { at: Fragment; sessions: string; quality: string },
  from: Fragment,
): Promise<WorkRow[]> {
  const sums = [
    ...[sessions, 'r.prompts', 'r.calls', 'r.tool_results', 'r.tool_errors', quality],
    COSTS.join(' + '),
  ]
  const all = [...sums, ...TOKENS, ...COSTS]
  const rows = await sql<(Pick<WorkRow, 'member' | 'project' | 'model' | 'price'> & { numbers: string })[]>`
    select ${sql.unsafe(NAMES.map((name) => `q.${name}`).join(', '))},
      string_agg(concat_ws(',', q.at, ${sql.unsafe(all.map((_, nth) => `q.sum_${nth}`).join(', '))}), '],[') as numbers
    from (
      select ${at} as at, ${sql.unsafe(NAMES.map((name) => `r.${name}`).join(', '))},
        ${sql.unsafe(all.map((each, nth) => `sum_bigint(${each}) as sum_${nth}`).join(', '))}
      ${from}
      group by 1, ${sql.unsafe(NAMES.map((name) => `r.${name}`).join(', '))}
    ) q
    group by 1, 2, 3, 4
    order by ${sql.unsafe(NAMES.map((name) => `q.${name} collate "C"`).join(', '))}`
  return rows.flatMap(({ numbers, ...names }) =>
    (JSON.parse(`[[${numbers}]]`) as [number, ...number[]][])
      .sort(([a], [b]) => a - b)
      .map(([when, ...each]) => ({
        ...{ ...names, at: when },
        sums: each.slice(0, sums.length),
        tokens: each.slice(sums.length, sums.length + TOKENS.length),
        costs: each.slice(sums.length + TOKENS.length),
      })),
  )
}

/** The work of the weeks between each two of `cuts`, which are ascending, each under its first week. */
export async function readWork(sql: ISql, orgId: string, cuts: readonly number[]): Promise<WorkRow[]> {
  const days = cuts.map((cut) => mondayOfWeek(Math.max(cut, FIRST_WEEK)))
  const columns = {
    at: sql`width_bucket(r.week, ${days}::date[])`,
    sessions: 'r.sessions',
    quality: 'r.quality',
  }
  const from = sql`
    from work_rollups r
    where r.org_id = ${orgId}
      and r.week >= ${days[0] ?? ''}
      and r.week < ${days.at(-1) ?? ''}`
  const rows = await readRows(sql, columns, from)
  return rows.map((row) => ({ ...row, at: cuts[row.at - 1] ?? 0 }))
}

/** The whole sessions of these members that begin on the days `from` to `to`. */
export const readBegun = (sql: ISql, orgId: string, ids: readonly string[], from: string, to: string) =>
  readRows(
    sql,
    {
      at: sql`r.first_day - ${from}::date`,
      sessions: 'r.is_main::integer',
      quality: 'case when r.is_main then (r.quality_score * 100)::integer else 0 end',
    },
    sql`
      from session_usage r
      where r.org_id = ${orgId}
        and r.member = any(${[...ids]}::text[])
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
export async function readWeekVersions(sql: ISql, orgId: string) {
  const rows = await sql<{ week: string; version: string }[]>`
    select w.week::text as week, w.version::text as version
    from work_weeks w
    where w.org_id = ${orgId}
    order by w.week`
  return rows.map(({ week, version }) => ({ week: weekOf(week), version }))
}
