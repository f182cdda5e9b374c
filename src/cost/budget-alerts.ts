import type { ISql } from '../db/client.ts'
import { MONEY_DECIMALS, unitsOf, unscaled } from '../decimals.ts'
import { derivedId } from '../ids.ts'

/** A month whose cost is above its limit; amounts in dollars, exact to 6 decimals. */
export interface BudgetExceeded {
  budgetId: string
  cost: number
  limit: number
}

/**
 * Finds those of `months` (given by their first days) whose cost is above the limit in force, and stores an
 * alert for each. A month is returned only once, also when its limit is raised and exceeded again. Needs the
 * organization's lock, and the rollups and budgets as the request leaves them. Alerts are stored also without
 * a subscribed endpoint, so that an endpoint created later receives none for earlier months.
 */
export async function writeBudgetAlerts(
  tx: ISql,
  orgId: string,
  months: readonly string[],
): Promise<BudgetExceeded[]> {
  if (months.length === 0) return []
  const rows = await tx<{ since: string; cost: string; limit: string }[]>`
    with above as materialized (
      select m.month, r.cost, b.since, b.limit_usd
      from unnest(${[...months]}::date[]) as m (month)
      join session_rollups r
        on r.org_id = ${orgId}
        and r.grain = 'month'
        and r.project = ''
        and r.bucket = m.month
      cross join lateral (
        select b.month as since, b.limit_usd
        from budgets b
        where b.org_id = ${orgId}
          and b.month <= m.month
        order by b.month desc
        limit 1
      ) b
      where r.cost > b.limit_usd
    ),
    first as (
      insert into budget_alerts as a (org_id, month)
      select ${orgId}, o.month
      from above o
      on conflict do nothing
      returning a.month
    )
    select o.since::text as since, o.cost::text as cost, o.limit_usd::text as limit
    from first f
    join above o on o.month = f.month
    order by f.month`
  return rows.map(({ since, cost, limit }) => ({
    budgetId: derivedId('budget', since),
    cost: unscaled(unitsOf(cost), MONEY_DECIMALS),
    limit: unscaled(unitsOf(limit), MONEY_DECIMALS),
  }))
}
