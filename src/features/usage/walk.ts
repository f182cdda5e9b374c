import type { Pricer } from '../../analysis/scoring/prices.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { counting } from '../../database/rollups.ts'
import { deleteOfSessions, pagesOf } from '../../database/rows.ts'
import { USAGE_ROLLUPS } from './rollup.ts'
import {
  insertUsage,
  type StoredSession,
  storedColumns,
  type UsedSession,
  usageOfAll,
  usedOf,
} from './write.ts'

// A walk divides by day the usage of sessions that were stored before usage was by day, in the order of their ids.

type DetailedSession = StoredSession & Pick<UsedSession, 'detail'>

/** The sessions with ids after one and up to another, in their order, some at a time. */
export const readSessions = (
  sql: ISql,
  orgId: string,
  size: number,
  { after = '', through }: { after?: string; through?: string | undefined } = {},
): AsyncGenerator<DetailedSession[]> =>
  pagesOf(
    size,
    { id: after },
    async ({ id }) =>
      await sql<DetailedSession[]>`
        select ${storedColumns(sql)}, d.detail
        from sessions s
        join session_details d
          on d.org_id = ${orgId}
          and d.session_id = s.id
        where s.org_id = ${orgId}
          and s.id > ${id}
          ${through === undefined ? sql`` : sql`and s.id <= ${through}`}
        order by s.id
        limit ${size}`,
  )

/** The last session that a walk has divided; undefined where all are. */
export async function findWalked(sql: ISql, orgId: string): Promise<string | undefined> {
  const [row] = await sql<{ session_id: string }[]>`
    select w.session_id
    from usage_walks w
    where w.org_id = ${orgId}`
  return row?.session_id
}

/** The organizations with sessions that are not divided yet. */
export async function listWalks(sql: Sql): Promise<string[]> {
  const rows = await sql<{ org_id: string }[]>`
    select o.org_id
    from organizations o
    where o.deleted_at is null
      and exists (select from usage_walks w where w.org_id = o.org_id)
    order by o.org_id`
  return rows.map(({ org_id }) => org_id)
}

/** The number of sessions that walks have to divide, and of all sessions of their organizations. */
export async function countWalks(sql: Sql): Promise<{ left: number; all: number }> {
  let [left, all] = [0, 0]
  for (const orgId of await listWalks(sql)) {
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
  const page = await readSessions(tx, orgId, size, { after }).next()
  const sessions = page.done === true ? [] : page.value
  const last = sessions.at(-1)
  if (last === undefined) return 0
  const ids = sessions.map(({ id }) => id)
  const of = tx`s.session_id = any(${ids}::text[])`
  const rows = await usageOfAll(tx, orgId, { sessions: sessions.map(usedOf), pricer })
  await counting(tx, orgId, USAGE_ROLLUPS, { before: of, after: of, isLarge: true }, async () => {
    await deleteOfSessions(tx, orgId, ids, 'session_usage')
    await insertUsage(tx, orgId, rows)
  })
  await tx`
    update usage_walks w
    set session_id = ${last.id}
    where w.org_id = ${orgId}`
  return sessions.length
}

/** Ends the walk: all sessions are divided. Needs the organization's lock. */
export async function endWalk(tx: ISql, orgId: string): Promise<void> {
  await tx`
    delete from usage_walks w
    where w.org_id = ${orgId}`
}
