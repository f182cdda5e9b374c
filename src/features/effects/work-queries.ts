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

/** The weeks of each unit that worked, ascending, by the models that it called. */
export async function readWeeks(sql: ISql, orgId: string, members: Members): Promise<WeekOfUnit[]> {
  const rows = await sql<
    { member: string; week: string; model: string; calls: number; written: number; hour: number }[]
  >`
    select r.member, r.week::text as week, r.model, sum(r.calls)::float8 as calls,
      sum(r.cache_creation)::float8 as written, sum(r.cache_creation_1h)::float8 as hour
    from work_rollups r
    where r.org_id = ${orgId}
      and r.member <> ''
    group by r.week, r.member, r.model
    order by r.week`
  const weeks = new Map<string, WeekOfUnit & { calls: Map<string, number> }>()
  for (const { member, week, model, calls, written, hour } of rows) {
    const unit = members.get(member)?.id ?? member
    const one = weeks.getOrInsertComputed(`${week} ${unit}`, () => ({
      ...{ unit, week: weekOf(week), calls: new Map(), written: 0, writtenForHour: 0 },
    }))
    if (model !== '' && calls > 0) one.calls.set(model, (one.calls.get(model) ?? 0) + calls)
    one.written += written
    one.writtenForHour += hour
  }
  return [...weeks.values()]
}

/** The weeks in which members used values of traits, in all: the first and the last. */
export async function readUsed(sql: ISql, orgId: string, members: Members): Promise<Used[]> {
  const rows = await sql<{ trait: string; value: string; member: string; first: string; last: string }[]>`
    select r.trait, r.value, r.member, min(r.week)::text as first, max(r.week)::text as last
    from trait_rollups r
    where r.org_id = ${orgId}
      and r.member <> ''
    group by r.trait, r.value, r.member
    order by r.trait, r.value collate "C", r.member collate "C"`
  return rows.map(({ member, first, last, ...row }) => ({
    ...{ ...row, unit: members.get(member)?.id ?? member, first: weekOf(first), last: weekOf(last) },
  }))
}

/** Sums of a member's work on a project with a model, at one price, in a week or on a session's first day. */
export interface WorkRow {
  at: string
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
  (kind) => `cost_${kind}`,
)
/** Expressions of sums in the order of `SUM`, and of the quantities of kinds. */
const columnsOf = (sql: ISql, sessions: string, quality: string): Fragment => {
  const sum = (expression: string) => `sum(${expression})::float8`
  const sums = [sessions, 'r.prompts', 'r.calls', 'r.tool_results', 'r.tool_errors', quality]
  const cost = COSTS.map((column) => `r.${column}`).join(' + ')
  const tokens = [
    'r.input',
    'r.output',
    'r.cache_read',
    'r.cache_creation - r.cache_creation_1h',
    'r.cache_creation_1h',
  ]
  return sql.unsafe(`
    array[${[...sums, cost].map(sum).join(', ')}] as sums, array[${tokens.map(sum).join(', ')}] as tokens,
    array[${COSTS.map((column) => sum(`r.${column}`)).join(', ')}] as costs`)
}

/** The work of the weeks `from` to `to`, in a fixed order. */
export const readWork = async (sql: ISql, orgId: string, from: number, to: number): Promise<WorkRow[]> =>
  await sql<WorkRow[]>`
    select r.week::text as at, r.member, r.project, r.model, r.price, ${columnsOf(sql, 'r.sessions', 'r.quality')}
    from work_rollups r
    where r.org_id = ${orgId}
      and r.week >= ${mondayOfWeek(from)}
      and r.week <= ${mondayOfWeek(to)}
    group by r.week, r.member, r.project, r.model, r.price
    order by r.week, r.member collate "C", r.project collate "C", r.model collate "C", r.price collate "C"`

/** The whole sessions of these members (`keys`: ids and addresses) that begin on the days `from` to `to`, by that day. */
export const readBegun = async (
  sql: ISql,
  orgId: string,
  keys: readonly string[],
  from: string,
  to: string,
): Promise<WorkRow[]> =>
  await sql<WorkRow[]>`
    select r.first_day::text as at, r.member, r.project, r.model, r.price,
      ${columnsOf(sql, 'r.is_main::integer', 'case when r.is_main then r.quality_score * 100 else 0 end')}
    from session_usage r
    where r.org_id = ${orgId}
      and r.member = any(${[...keys]}::text[])
      and r.day >= ${from}
      and r.first_day >= ${from}
      and r.first_day <= ${to}
    group by r.first_day, r.member, r.project, r.model, r.price
    order by r.first_day, r.member collate "C", r.project collate "C", r.model collate "C", r.price collate "C"`

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
