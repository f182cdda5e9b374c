// Finds and sums sessions with tokens whose price is not known, by the index sessions_unpriced.

import type { ISql, Sql } from '../../database/client.ts'
import { exportedColumns, type SessionRow, sessionLine } from './export.ts'

/** A session's record as JSON, and the hash of what is stored. */
export interface UnpricedSession {
  id: string
  line: string
  hash: Uint8Array
}

/** Sessions in a page, which may be fewer: MAX_PAGE_BYTES limits their details as they are stored, compressed. */
const PAGE = 50
const MAX_PAGE_BYTES = 1024 * 1024
/** Sessions whose models are named. */
const MAX_LOOKED_AT = 1_000

/** Lists some sessions with unpriced tokens that follow the id, in the order of ids; at least one if there is one. */
export async function findUnpriced(sql: Sql, orgId: string, afterId: string): Promise<UnpricedSession[]> {
  const rows = await sql<(SessionRow & { hash: Uint8Array })[]>`
    select ${exportedColumns(sql, orgId)}, s.content_hash as hash
    from (
      select k.*, sum(k.size) over (order by k.id) - k.size as before
      from (
        select
          s.*,
          (
            select pg_column_size(d.detail)
            from session_details d
            where d.org_id = ${orgId}
              and d.session_id = s.id
          ) as size
        from sessions s
        where s.org_id = ${orgId}
          and s.unpriced_tokens > 0
          and s.id > ${afterId}
        order by s.id
        limit ${PAGE}
      ) k
    ) s
    where s.before < ${MAX_PAGE_BYTES}
    order by s.id`
  return rows.map(({ hash, ...row }) => ({ id: row.id, line: sessionLine(row), hash }))
}

/** Ids of those sessions that are still stored with these hashes. */
export async function findUnchanged(
  tx: ISql,
  orgId: string,
  sessions: readonly Pick<UnpricedSession, 'id' | 'hash'>[],
): Promise<Set<string>> {
  const hashes = new Map(sessions.map(({ id, hash }) => [id, hash]))
  const rows = await tx<{ id: string; hash: Uint8Array }[]>`
    select s.id, s.content_hash as hash
    from sessions s
    where s.org_id = ${orgId}
      and s.id = any(${[...hashes.keys()]}::text[])`
  const isUnchanged = ({ id, hash }: { id: string; hash: Uint8Array }) => {
    const before = hashes.get(id)
    return before !== undefined && Buffer.compare(before, hash) === 0
  }
  return new Set(rows.filter(isUnchanged).map(({ id }) => id))
}

/** The usage of an organization without a price. `models` and `undivided` are of its first 1,000 such sessions. */
interface Unpriced {
  sessions: number
  tokens: bigint
  /** The models of the tokens, with their tiers as `tieredName` has them; `unknown` for none. */
  models: string[]
  /** Sessions whose cost covers some of their tokens, and of which nothing tells which: no price would apply. */
  undivided: number
}

/** The organization's tokens without a price, and whose they are. */
export async function sumUnpriced(sql: Sql, orgId: string): Promise<Unpriced> {
  const [row] = await sql<[Omit<Unpriced, 'tokens'> & { tokens: string }]>`
    with named as (
      select m.model
      from (
        select s.id, s.unpriced_tokens
        from sessions s
        where s.org_id = ${orgId}
          and s.unpriced_tokens > 0
        order by s.id
        limit ${MAX_LOOKED_AT}
      ) k
      join session_details d on d.org_id = ${orgId} and d.session_id = k.id
      left join lateral (
        select coalesce(t.turn->>'model', d.detail->>'model', 'unknown')
          || coalesce(' (' || (t.turn->>'tier') || ')', '') as model
        from json_array_elements(d.detail->'turn_records') as t (turn)
        where t.turn->>'cost' is null
          and t.turn->>'tokens' is not null
        union
        select coalesce(d.detail->>'model', 'unknown')
        where k.unpriced_tokens = (
            select sum(c.count::bigint)
            from json_each_text(d.detail->'tokens') as c (kind, count)
            where c.kind <> 'cache_creation_1h'
          )
          and not exists (
            select
            from json_array_elements(d.detail->'turn_records') as t (turn)
            where coalesce(t.turn->>'tokens', t.turn->>'cost') is not null
          )
      ) m on d.detail->>'cost_source' = 'estimated'
    )
    select
      count(*)::integer as sessions,
      coalesce(sum(s.unpriced_tokens), 0)::text as tokens,
      (
        select coalesce(array_agg(distinct n.model order by n.model) filter (where n.model is not null), '{}')
        from named n
      ) as models,
      (
        select count(*)::integer
        from named n
        where n.model is null
      ) as undivided
    from sessions s
    where s.org_id = ${orgId}
      and s.unpriced_tokens > 0`
  return { ...row, tokens: BigInt(row.tokens) }
}
