// Divides usage by day: of sessions stored before it was by day, by id (a walk), and of all where the time zone changes.

import { findZone } from '../../accounts/organizations/zone-queries.ts'
import type { Pricer } from '../../analysis/scoring/prices.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import { addDifference, counting } from '../../database/rollups.ts'
import { dayIn, deleteFrom, deleteOfSessions, pagesOf } from '../../database/rows.ts'
import { FACET_ROLLUPS, USAGE_ROLLUPS } from './rollup.ts'
import { touchWeeks } from './work-rollup.ts'
import {
  FACET_COLUMNS,
  insertUsage,
  type SessionRow,
  storedColumns,
  USAGE_COLUMNS,
  type UsedSession,
  usageOfAll,
  usedSession,
} from './write.ts'

/** Sessions with their details read at a time: some MB. */
const PAGE = 500

type DetailedSession = SessionRow & Pick<UsedSession, 'detail'>

const detailed = (sql: ISql, orgId: string, condition: Fragment) => sql<DetailedSession[]>`
  select ${storedColumns(sql)}, d.detail
  from sessions s
  join session_details d
    on d.org_id = ${orgId}
    and d.session_id = s.id
  where s.org_id = ${orgId}
    ${condition}
  order by s.id`

/** The sessions with ids after one and up to another, in their order, some at a time. */
export const readStoredSessions = (
  sql: ISql,
  orgId: string,
  size: number,
  { after = '', through }: { after?: string; through?: string | undefined } = {},
): AsyncGenerator<DetailedSession[]> => {
  const upTo = through === undefined ? sql`` : sql`and s.id <= ${through}`
  // twice the same: a merge join would read the details of all sessions before
  const page = (id: string) => detailed(sql, orgId, sql`and s.id > ${id} and d.session_id > ${id} ${upTo}`)
  return pagesOf(
    size,
    { id: after },
    async ({ id }) =>
      await sql<DetailedSession[]>`
      ${page(id)}
      limit ${size}`,
  )
}

/** The last session that a walk has divided; undefined where all are. */
export async function findWalked(sql: ISql, orgId: string): Promise<string | undefined> {
  const [row] = await sql<{ session_id: string }[]>`
    select w.session_id
    from usage_walks w
    where w.org_id = ${orgId}`
  return row?.session_id
}

/** The organizations with sessions that are not divided yet, or whose tickets wait. */
export async function listWaitingOrganizations(
  sql: Sql,
  table: 'usage_walks' | 'ticket_waiting',
): Promise<string[]> {
  const rows = await sql<{ org_id: string }[]>`
    select o.org_id
    from organizations o
    where o.deleted_at is null
      and o.org_id in (select w.org_id from ${sql(table)} w)
    order by o.org_id`
  return rows.map(({ org_id }) => org_id)
}

/** When usage began to be by day; undefined for an organization that had none before. */
export async function findMovedAt(sql: Sql, orgId: string): Promise<Date | undefined> {
  const [migration] = await sql<{ applied_at: Date }[]>`
    select m.applied_at
    from schema_migrations m
    where m.name = 'usage_days'`
  const at = migration?.applied_at ?? null
  const rows = await sql`
    select
    from organizations o
    join sessions s on s.org_id = o.org_id
    where o.org_id = ${orgId}
      and o.created_at < ${at}
      and s.org_id = ${orgId}
      and s.created_at < ${at}
    limit 1`
  return rows.length === 0 ? undefined : migration?.applied_at
}

/** The number of sessions that walks have to divide, and of all sessions of their organizations. */
export async function countWalks(sql: Sql): Promise<{ left: number; all: number }> {
  let [left, all] = [0, 0]
  for (const orgId of await listWaitingOrganizations(sql, 'usage_walks')) {
    const [row] = await sql<{ left: number; all: number }[]>`
      select count(*) filter (where s.id > w.session_id)::integer as left, count(*)::integer as all
      from usage_walks w
      join sessions s on s.org_id = w.org_id
      where w.org_id = ${orgId}`
    left += row?.left ?? 0
    all += row?.all ?? 0
  }
  return { left, all }
}

/** Divides the next sessions; returns how many. Needs the organization's lock. */
export async function divideNext(tx: ISql, orgId: string, pricer: Pricer, size: number): Promise<number> {
  const after = await findWalked(tx, orgId)
  if (after === undefined) return 0
  const page = await readStoredSessions(tx, orgId, size, { after }).next()
  const sessions = page.done === true ? [] : page.value
  const last = sessions.at(-1)
  if (last === undefined) return 0
  const ids = sessions.map(({ id }) => id)
  const of = tx`s.session_id = any(${ids}::text[])`
  const rows = await usageOfAll(tx, orgId, { sessions: sessions.map(usedSession), pricer })
  await counting(tx, orgId, USAGE_ROLLUPS, { before: of, after: of, isLarge: true }, async () => {
    await touchWeeks(tx, orgId, ids)
    await deleteOfSessions(tx, orgId, ids, 'session_usage', 'session_facets')
    await insertUsage(tx, orgId, rows)
    await touchWeeks(tx, orgId, ids)
  })
  await tx`
    update usage_walks w
    set session_id = ${last.id}
    where w.org_id = ${orgId}`
  return sessions.length
}

/**
 * Moves the usage of all sessions, and its sums, to the days of the time zone in force, which was `before`. What is of one day by
 * both is divided as it was. Needs the organization's lock.
 */
export async function moveUsage(tx: ISql, orgId: string, pricer: Pricer, before: string): Promise<void> {
  const zone = await findZone(tx, orgId)
  const rows = await tx<{ day: string }[]>`
    select distinct (t.at at time zone 'UTC')::date as day
    from session_usage u
    cross join lateral (values (u.first_at), (u.last_at)) as t (at)
    where u.org_id = ${orgId}
      and t.at is not null`
  const days = rows.map(({ day }) => day)
  const first = (by: string) => dayIn(tx, tx`u.first_at`, days, by)
  const last = (by: string) => dayIn(tx, tx`u.last_at`, days, by)
  const isOfOneDay = tx`${first(before)} = ${last(before)} and ${first(zone)} = ${last(zone)}`
  const sessions = await tx<{ id: string; is_moved: boolean }[]>`
    select distinct u.session_id as id, (${isOfOneDay}) is true as is_moved
    from session_usage u
    where u.org_id = ${orgId}
      and (u.day <> ${first(zone)} or (${isOfOneDay}) is not true)
    order by u.session_id`
  const idsOf = (isMoved: boolean) => sessions.filter((each) => each.is_moved === isMoved).map(({ id }) => id)
  const [moved, others] = [idsOf(true), idsOf(false)]
  const listed = (alias: 'u' | 'f', columns: object) =>
    tx.unsafe(
      Object.keys(columns)
        .filter((name) => name !== 'day')
        .map((name) => `${alias}.${name}`)
        .join(', '),
    )
  /** The usage of sessions, or its facets, as on these days. */
  const onDays = (isOfFacets: boolean, day: Fragment, ids: readonly string[]) => tx`
    (
      select u.org_id, ${day} as day, ${isOfFacets ? listed('f', FACET_COLUMNS) : listed('u', USAGE_COLUMNS)}
      from session_usage u
      ${isOfFacets ? tx`join session_facets f on f.org_id = u.org_id and f.session_id = u.session_id and f.nth = u.nth` : tx``}
      where u.org_id = ${orgId}
        and u.session_id = any(${[...ids]}::text[])
    )`
  for (const sums of USAGE_ROLLUPS) {
    const counts = (day: Fragment, ids: readonly string[]) =>
      sums.countRows(tx, sums.rows(tx, orgId, onDays(FACET_ROLLUPS.includes(sums), day, ids)))
    await addDifference(tx, orgId, sums, {
      before: counts(tx`u.day`, [...moved, ...others]),
      after: counts(first(zone), moved),
    })
  }
  await tx`
    update session_usage u
    set day = ${first(zone)}, first_day = ${first(zone)}
    where u.org_id = ${orgId}
      and u.session_id = any(${moved}::text[])`
  await tx`
    update session_facets f
    set day = u.day
    from session_usage u
    where f.org_id = ${orgId}
      and f.session_id = any(${moved}::text[])
      and u.org_id = ${orgId}
      and u.session_id = f.session_id
      and u.nth = f.nth`
  for (let start = 0; start < others.length; start += PAGE) {
    const ids = others.slice(start, start + PAGE)
    const stored = await detailed(tx, orgId, tx`and s.id = any(${ids}::text[])`)
    await deleteOfSessions(tx, orgId, ids, 'session_usage', 'session_facets')
    await insertUsage(tx, orgId, await usageOfAll(tx, orgId, { sessions: stored.map(usedSession), pricer }))
  }
  for (const sums of USAGE_ROLLUPS) {
    const ofOthers = tx`${sums.rows(tx, orgId)} and s.session_id = any(${others}::text[])`
    await addDifference(tx, orgId, sums, { before: undefined, after: sums.countRows(tx, ofOthers) })
  }
  // A change by the days of one zone may be of another week by those of the other
  await tx`
    update work_weeks w
    set version = w.version + 1
    where w.org_id = ${orgId}`
}

/** Ends the walk: all sessions are divided. Needs the organization's lock. */
export async function endWalk(tx: ISql, orgId: string): Promise<void> {
  await deleteFrom(tx, orgId, 'usage_walks')
}
