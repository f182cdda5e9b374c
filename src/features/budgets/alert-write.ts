// Notes budgets that are exceeded after costs, limits or members changed, and emits their events once.

import { findZone } from '../../accounts/organizations/zone-queries.ts'
import { dayOf, monthOf } from '../../base/dates.ts'
import { MONEY_DECIMALS, unitsOf, unscaled } from '../../base/decimals.ts'
import type { ISql } from '../../database/client.ts'
import { personOf } from '../../database/member-addresses.ts'
import { unnest } from '../../database/rows.ts'
import type { EventData } from '../../webhooks/outbox/catalogue.ts'
import { emit, type NewEvent } from '../../webhooks/outbox/events.ts'
import { type BudgetScope, budgetIdOf, budgetInForce, costOfScope } from './scope-queries.ts'

/** A month whose cost is above its limit; amounts in dollars, exact to 6 decimals. */
export type BudgetExceeded = EventData['cost.budget_exceeded']

/** A month (its first day) in which something changed that counts for a scope; of a member an id or any address. */
export interface ChangedMonth extends BudgetScope {
  month: string
}

/**
 * Finds those of the months whose cost is above the limit in force, for each scope and the teams of its members, and stores an
 * alert for each. A limit of a month and scope is returned only once. Needs the
 * organization's lock, and the rollups and budgets as the request leaves them. Alerts are stored also without
 * a subscribed endpoint, so that an endpoint created later receives none for earlier months.
 */
export async function writeBudgetAlerts(
  tx: ISql,
  orgId: string,
  changed: readonly ChangedMonth[],
): Promise<BudgetExceeded[]> {
  if (changed.length === 0) return []
  const rows = await tx<(BudgetScope & { since: string; cost: string; limit: string })[]>`
    with given as materialized (
      select n.*
      from ${unnest(tx, changed, { month: 'date', scope: 'text', scope_key: 'text' })}
    ),
    people as materialized (
      select g.month, a.id, a.team
      from given g
      join members a
        on a.org_id = ${orgId}
        and a.id = ${personOf(tx, orgId, tx`g.scope_key`)}
      where g.scope = 'member'
        -- most organizations have none: their members are not read
        and exists (select from budgets b where b.org_id = ${orgId} and b.scope in ('member', 'team'))
    ),
    scopes as materialized (
      select g.month, g.scope, g.scope_key from given g where g.scope <> 'member'
      union
      select p.month, 'member', p.id from people p
      union
      select p.month, 'team', p.team from people p where p.team is not null
    ),
    above as materialized (
      select c.*
      from (
        select s.*, b.since, b.limit_usd, ${costOfScope(tx, orgId)} as cost
        from scopes s
        cross join lateral ${budgetInForce(tx, orgId)} b
      ) c
      where c.cost > c.limit_usd
    ),
    told as (
      insert into budget_alerts as a (org_id, scope, scope_key, month, limits)
      select ${orgId}, o.scope, o.scope_key, o.month, array[o.limit_usd]
      from above o
      on conflict (org_id, scope, scope_key, month) do update set limits = a.limits || excluded.limits
      where not a.limits @> excluded.limits
      returning a.scope, a.scope_key, a.month
    )
    select o.scope, o.scope_key, o.since::text as since, o.cost::text as cost, o.limit_usd::text as limit
    from told t
    join above o
      on o.scope = t.scope
      and o.scope_key = t.scope_key
      and o.month = t.month
    -- as before this statement: an older server, which tells a month once, stores no limit
    left join budget_alerts a
      on a.org_id = ${orgId}
      and a.scope = t.scope
      and a.scope_key = t.scope_key
      and a.month = t.month
    where a.limits is distinct from '{}'
    order by t.month, t.scope, t.scope_key`
  return rows.map(({ since, cost, limit, ...scope }) => ({
    budget_id: budgetIdOf(scope, since),
    current_cost: unscaled(unitsOf(cost), MONEY_DECIMALS),
    limit: unscaled(unitsOf(limit), MONEY_DECIMALS),
  }))
}

/** Notes exceeded limits without an event: costs have moved to other days. Needs the organization's lock. */
export async function noteExceededBudgets(tx: ISql, orgId: string): Promise<void> {
  const scopes = await tx<ChangedMonth[]>`
    select distinct r.bucket::text as month, b.scope, b.scope_key
    from usage_rollups r
    join budgets b on b.org_id = ${orgId} and b.month <= r.bucket
    where r.org_id = ${orgId}
      and r.dims = 'all'
      and r.grain = 'month'`
  await writeBudgetAlerts(tx, orgId, scopes)
}

export const budgetEvents = (exceeded: readonly BudgetExceeded[]): NewEvent[] =>
  exceeded.map((data) => ({ event: 'cost.budget_exceeded', data }))

/** Tells which budgets of these scopes this month's cost exceeds. */
export async function emitBudgetAlerts(tx: ISql, orgId: string, scopes: readonly BudgetScope[], now: Date) {
  const month = monthOf(dayOf(now, await findZone(tx, orgId)))
  const months = scopes.map((scope) => ({ ...scope, month }))
  await emit(tx, orgId, now, budgetEvents(await writeBudgetAlerts(tx, orgId, months)))
}
