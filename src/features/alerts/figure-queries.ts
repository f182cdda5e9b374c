// Reads the figures of alerts that are not sums of sessions (silent machines, failing endpoints, limits), and names.

import { DAY_MS } from '../../base/dates.ts'
import type { ISql } from '../../database/client.ts'
import { personGiven, personOf } from '../../database/member-addresses.ts'
import { fromMachines } from '../members/machine-queries.ts'
import type { Watched } from './model.ts'

const SILENCE_DAYS = { day: 1, week: 7, month: 30 }

/** The machines that have sent nothing for a day, 7 or 30 days, and when the next one is silent so long. */
export async function countSilentMachines(sql: ISql, orgId: string, { window, scope }: Watched, now: Date) {
  const ms = SILENCE_DAYS[window] * DAY_MS
  const since = new Date(now.getTime() - ms)
  const [row] = await sql<{ silent: number; next: Date | null }[]>`
    select
      (count(*) filter (where k.last_seen_at <= ${since}))::integer as silent,
      min(k.last_seen_at) filter (where k.last_seen_at > ${since}) as next
    ${fromMachines(sql, orgId)}
      ${scope.member === undefined ? sql`` : sql`and ${personOf(sql, orgId, sql`k.user_key`)} = ${personGiven(sql, orgId, scope.member)}`}`
  const next = row?.next ?? undefined
  return { silent: row?.silent ?? 0, next: next && new Date(next.getTime() + ms) }
}

const FAILURES = 3

/** The enabled endpoints whose latest three deliveries failed, for ever or until their next attempt. */
export async function countFailingEndpoints(sql: ISql, orgId: string): Promise<number> {
  const [row] = await sql<{ failing: number }[]>`
    select count(*)::integer as failing
    from webhook_endpoints e
    where e.org_id = ${orgId}
      and e.owner is null
      and e.enabled
      and (
        select count(*) filter (where l.status <> 'success')
        from (
          select d.status
          from webhook_deliveries d
          where d.org_id = ${orgId}
            and d.endpoint_id = e.id
            and d.status in ('success', 'failed', 'pending_retry')
          order by d.created_at desc, d.id desc
          limit ${FAILURES}
        ) l
      ) = ${FAILURES}`
  return row?.failing ?? 0
}

/** The limit in force in a month, of a key; undefined without a budget. */
type LimitOf = (key: string, month: string) => number | undefined

/** The budgets of an alert's scope, or of each of its keys. A scope that no budget can have has none. */
export async function findLimits(sql: ISql, orgId: string, { scope, each }: Watched): Promise<LimitOf> {
  const [only, ...others] = Object.entries(scope)
  const kind = each ?? only?.[0] ?? 'organization'
  // a member is in one team, whose budget is another one
  const isKnown =
    each === 'member'
      ? only === undefined || only[0] === 'team' || only[0] === 'member'
      : only === undefined || only[0] === kind
  if (!isKnown || others.length > 0) return () => undefined
  const onlyKey = each === null ? (only?.[1] ?? '') : undefined
  const rows = await sql<{ scope_key: string; month: string; limit: string }[]>`
    select b.scope_key, b.month::text as month, b.limit_usd::text as limit
    from budgets b
    where b.org_id = ${orgId}
      and b.scope = ${kind}
      ${onlyKey === undefined ? sql`` : sql`and b.scope_key = ${onlyKey}`}
    order by b.month desc`
  const byKey = Map.groupBy(rows, ({ scope_key }) => scope_key)
  return (key, month) => {
    const inForce = byKey.get(onlyKey ?? key)?.find((budget) => budget.month <= month)
    return inForce === undefined ? undefined : Number(inForce.limit)
  }
}

export async function findNames(sql: ISql, orgId: string, keys: readonly (string | null)[]) {
  const rows = await sql<{ id: string; display_name: string }[]>`
    select m.id, m.display_name
    from members m
    where m.org_id = ${orgId}
      and m.id = any (${keys.filter((key) => key !== null)}::text[])`
  return new Map(rows.map(({ id, display_name }) => [id, display_name]))
}
