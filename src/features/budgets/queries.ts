// Reads budgets for the API: the list of limits, what the caller has used of theirs, and exceeded ones; deletes a limit.

import type { Access } from '../../accounts/people/callers.ts'
import { monthOf } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { deleteFrom, readPage } from '../../database/rows.ts'
import type { Viewer } from '../../http/whole-list.ts'
import { forecastOf, usedOf } from './forecast.ts'
import type { BudgetListQuery, BudgetPage, MyBudgets, ScopedBudget, UsedBudget } from './model.ts'
import {
  type BudgetScope,
  findBudgets,
  findScope,
  isOfScope,
  ORGANIZATION,
  shownScope,
} from './scope-queries.ts'

type BudgetRow = { month: string; limit: string } & BudgetScope

const budgetOf = ({ month, limit, ...scope }: BudgetRow): ScopedBudget => ({
  month,
  limit: Number(limit),
  scope: shownScope(scope),
})

/** A page of the monthly limits, newest first, those of the organization before others; of one scope where one is named. With `onlyMember` without those of other members. */
export async function listBudgetPage(
  sql: ISql,
  orgId: string,
  query: BudgetListQuery,
  { hidesMembers, onlyMember }: Viewer,
  today: string,
): Promise<BudgetPage> {
  const wantedScope = await findScope(sql, orgId, query)
  const from = sql`
    from budgets b
    where b.org_id = ${orgId}
      ${wantedScope === ORGANIZATION ? sql`` : sql`and ${isOfScope(sql, wantedScope)}`}
      ${hidesMembers ? sql`and b.scope <> 'member'` : sql``}
      ${onlyMember === null ? sql`` : sql`and (b.scope <> 'member' or b.scope_key = ${onlyMember.id})`}`
  const { data, pagination } = await readPage<BudgetRow>(sql, query, {
    columns: sql`to_char(b.month, 'YYYY-MM') as month, b.limit_usd::text as limit, b.scope, b.scope_key`,
    from,
    order: sql`b.month desc, b.scope <> 'organization', b.scope, b.scope_key collate "C"`,
  })
  if (query.include === undefined) return { data: data.map(budgetOf), pagination }
  // a developer may see only their own part of a team's cost
  const visible = data.filter(({ scope }) => onlyMember === null || scope !== 'team')
  const month = query.month === undefined ? monthOf(today) : `${query.month}-01`
  const isOver = month < monthOf(today)
  const budgets =
    month > monthOf(today) ? [] : await findBudgets(sql, orgId, visible, month, isOver ? undefined : today)
  const inForce = new Map(budgets.map((one) => [JSON.stringify([one.since, one.scope, one.scope_key]), one]))
  const used = (row: BudgetRow) => {
    const one = inForce.get(JSON.stringify([row.month, row.scope, row.scope_key]))
    if (one === undefined) return null
    const { limit: _limit, ...spent } = usedOf(one.limit, one.cost)
    if (isOver) return { ...spent, projected_cost: spent.current_cost, projected_exceed_date: null }
    const { cost, exceedsOn } = forecastOf({ before: one.cost - one.today, today: one.today }, today)
    return { ...spent, projected_cost: cost, projected_exceed_date: exceedsOn(one.limit) }
  }
  return { data: data.map((row) => ({ ...budgetOf(row), used: used(row) })), pagination }
}

/** Deletes the limit of this month, so that the one before it holds. Throws NOT_FOUND. */
export async function deleteBudgetRow(tx: ISql, orgId: string, scope: BudgetScope, month: string) {
  const isIt = tx`and ${isOfScope(tx, scope)} and t.month = ${`${month}-01`}`
  if ((await deleteFrom(tx, orgId, 'budgets', isIt)) === 0) throw noBudget()
}

export const noBudget = () => new ApiError('NOT_FOUND', 'There is no budget of this month')

/** The month's budgets of the organization, the caller's member, their team and the project, as far as there are any. */
export async function findMyBudgets(
  sql: Sql,
  { orgId, person, memberEmail }: Pick<Access, 'orgId' | 'person' | 'memberEmail'>,
  project: string | undefined,
  today: string,
): Promise<MyBudgets> {
  const [row] = await sql<{ action: MyBudgets['action']; id: string | null; team: string | null }[]>`
    select o.budget_action as action, m.id, m.team
    from organizations o
    left join members m on m.org_id = ${orgId} and m.email = ${person?.email ?? memberEmail}
    where o.org_id = ${orgId}`
  if (row === undefined) throw new ApiError('UNAUTHORIZED', 'The organization was deleted')
  const { action, id, team } = row
  const scopes: BudgetScope[] = [
    ORGANIZATION,
    ...(id === null ? [] : [{ scope: 'member' as const, scope_key: id }]),
    ...(team === null ? [] : [{ scope: 'team' as const, scope_key: team }]),
    ...(project ? [{ scope: 'project' as const, scope_key: project }] : []),
  ]
  return { action, budgets: await findUsed(sql, orgId, scopes, today) }
}

async function findUsed(sql: Sql, orgId: string, scopes: readonly BudgetScope[], today: string) {
  const budgets = await findBudgets(sql, orgId, scopes, monthOf(today))
  return budgets.map(({ limit, cost, ...scope }) => ({ scope: shownScope(scope), ...usedOf(limit, cost) }))
}

/** Exceeded budgets of this month; with `onlyMember` those of projects: what teams and others cost is not shown. */
export async function findExceeded(
  sql: Sql,
  orgId: string,
  { hidesMembers, onlyMember }: Viewer,
  today: string,
): Promise<UsedBudget[]> {
  const scopes = await sql<BudgetScope[]>`
    select distinct b.scope, b.scope_key collate "C" as scope_key
    from budgets b
    where b.org_id = ${orgId}
      and b.scope <> 'organization'
      ${hidesMembers ? sql`and b.scope <> 'member'` : sql``}
      ${onlyMember === null ? sql`` : sql`and b.scope = 'project'`}
    order by 1, 2`
  const used = await findUsed(sql, orgId, scopes, today)
  return used.filter(({ status }) => status === 'exceeded')
}
