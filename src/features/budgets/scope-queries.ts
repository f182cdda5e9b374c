// Finds the budgets in force of an organization, its projects, members and teams, and what each costs by month or day.

import type { NamedScope } from '../../analysis/records/budget.ts'
import { unitsOf } from '../../base/decimals.ts'
import { derivedId } from '../../base/ids.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { unnest } from '../../database/rows.ts'
import { getMemberId, selectMemberIds } from '../usage/member-queries.ts'

/** Names whose sessions a budget is for: `scope_key` is a project, a member's id or a team; '' for the organization. */
export interface BudgetScope {
  scope: 'organization' | 'project' | 'member' | 'team'
  scope_key: string
}

export const ORGANIZATION: BudgetScope = { scope: 'organization', scope_key: '' }

export function scopeOf({ project, member, team }: NamedScope): BudgetScope {
  if (project != null) return { scope: 'project', scope_key: project }
  if (member != null) return { scope: 'member', scope_key: member }
  if (team != null) return { scope: 'team', scope_key: team }
  return ORGANIZATION
}

/** The same of a request's query. Throws VALIDATION_ERROR naming `member` for one that does not exist. */
export async function findScope(sql: ISql, orgId: string, names: NamedScope): Promise<BudgetScope> {
  const scope = scopeOf(names)
  if (scope.scope !== 'member') return scope
  return { scope: 'member', scope_key: await getMemberId(sql, orgId, scope.scope_key, 'member') }
}

export const shownScope = ({ scope, scope_key }: BudgetScope) =>
  scope === 'organization' ? {} : { [scope]: scope_key }

/** The condition that a row of `budgets` or `budget_alerts` is of the scope. */
export const isOfScope = (sql: ISql, { scope, scope_key }: BudgetScope): Fragment =>
  sql`scope = ${scope} and scope_key = ${scope_key}`

/** The budget that holds for a row `s` of a scope and a month, for a lateral join: `since`, its first month, and `limit_usd`. */
export const budgetInForce = (sql: ISql, orgId: string): Fragment => sql`
  (
    select b.month as since, b.limit_usd
    from budgets b
    where b.org_id = ${orgId}
      and b.scope = s.scope
      and b.scope_key = s.scope_key
      and b.month <= s.month
    order by b.month desc
    limit 1
  )`

/** The ids of the members of a row `s` of a scope that is a member or a team. */
const idsOfScope = (sql: ISql, orgId: string): Fragment =>
  selectMemberIds(sql, orgId, sql`case when s.scope = 'team' then m.team else m.id end = s.scope_key`)

/** The cost of a row `s` of a scope and a month, or a day, from the sums of these; US dollars with 6 decimals. */
export const costOfScope = (sql: ISql, orgId: string, grain: 'month' | 'day' = 'month'): Fragment => sql`
  (coalesce(
    case
      when s.scope in ('organization', 'project') then (
        select r.micros
        from usage_rollups r
        where r.org_id = ${orgId}
          and r.dims = case when s.scope = 'project' then 'project' else 'all' end
          and r.grain = ${sql.unsafe(`'${grain}'`)}
          and r.bucket = s.${sql.unsafe(grain)}
          and r.project = s.scope_key
      )
      else (
        select sum(r.micros)
        from usage_rollups r
        where r.org_id = ${orgId}
          and r.dims = 'member'
          and r.grain = ${sql.unsafe(`'${grain}'`)}
          and r.bucket = s.${sql.unsafe(grain)}
          and r.member = any ${idsOfScope(sql, orgId)}
      )
    end,
    0
  ) * 0.000001)`

/** Rows with `day` and `micros`: the cost of each day of a row `s` of a scope and a month. */
export const daysOfScope = (sql: ISql, orgId: string): Fragment => sql`
  (
    select r.bucket as day, sum(r.micros) as micros
    from usage_rollups r
    where r.org_id = ${orgId}
      and r.dims = case when s.scope = 'organization' then 'all' when s.scope = 'project' then 'project' else 'member' end
      and r.grain = 'day'
      and r.bucket >= s.month
      and r.bucket < (s.month + interval '1 month')::date
      and case
        when s.scope in ('organization', 'project') then r.project = s.scope_key
        else r.member = any ${idsOfScope(sql, orgId)}
      end
    group by r.bucket
  )`

/**
 * The budgets of those of the scopes that have one in force in the month, given by its first day; in the order of `scopes`.
 * Amounts are in micro-dollars; `today` is the cost of `day`, 0 without one. `since` is the budget's first month, `2026-11`.
 */
export async function findBudgets(
  sql: ISql,
  orgId: string,
  scopes: readonly BudgetScope[],
  month: string,
  day?: string,
) {
  const rows = await sql<(BudgetScope & { since: string; limit: string; cost: string; today: string })[]>`
    select
      s.scope, s.scope_key, to_char(b.since, 'YYYY-MM') as since, b.limit_usd::text as limit,
      ${costOfScope(sql, orgId)}::text as cost, ${day === undefined ? sql`'0.000000'` : sql`${costOfScope(sql, orgId, 'day')}::text`} as today
    from (
      select n.*, ${month}::date as month, ${day ?? month}::date as day
      from ${unnest(sql, [...scopes.entries()], {
        position: ['integer', ([position]) => position],
        scope: ['text', ([, { scope }]) => scope],
        scope_key: ['text', ([, { scope_key }]) => scope_key],
      })}
    ) s
    cross join lateral ${budgetInForce(sql, orgId)} b
    order by s.position`
  return rows.map(({ limit, cost, today, ...row }) => ({
    ...row,
    ...{ limit: unitsOf(limit), cost: unitsOf(cost), today: unitsOf(today) },
  }))
}

/** The id of the budget that holds from the month `since` on. */
export const budgetIdOf = ({ scope, scope_key }: BudgetScope, since: string): string =>
  scope === 'organization' ? derivedId('budget', since) : derivedId('budget', since, scope, scope_key)
