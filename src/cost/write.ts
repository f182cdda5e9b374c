import type { ISql } from '../db/client.ts'
import { decimalText, MONEY_DECIMALS, scaled } from '../decimals.ts'
import { derivedId } from '../ids.ts'
import type { SyncRecord } from '../records/records.ts'
import type { Tally } from '../records/tally.ts'

/** Writes the batch's budget records, one limit a month. Needs the organization's lock. */
export async function writeBudgets(tx: ISql, orgId: string, records: readonly SyncRecord[]): Promise<Tally> {
  const tally: Tally = { created: 0, updated: 0, unchanged: 0 }
  const budgets = records.flatMap((record) =>
    record.type === 'budget'
      ? [
          {
            month: `${record.month}-01`,
            limit: decimalText(scaled(record.limit, MONEY_DECIMALS), MONEY_DECIMALS),
          },
        ]
      : [],
  )
  if (budgets.length === 0) return tally
  const limits = await findLimits(
    tx,
    orgId,
    budgets.map((budget) => budget.month),
  )
  const stored = new Set(limits.keys())
  const changed = new Map<string, string>()
  // twice in one request: only the last counts
  for (const [month, limit] of new Map(budgets.map((budget) => [budget.month, budget.limit]))) {
    const known = limits.get(month)
    if (known === limit) continue
    tally[known === undefined ? 'created' : 'updated'] += 1
    changed.set(month, limit)
  }
  tally.unchanged = budgets.length - changed.size
  if (changed.size > 0) await upsertLimits(tx, orgId, changed)
  const idsOf = (isStored: boolean) =>
    [...changed.keys()].flatMap((month) =>
      stored.has(month) === isStored ? [derivedId('budget', month)] : [],
    )
  return { ...tally, createdIds: idsOf(false), updatedIds: idsOf(true) }
}

async function findLimits(tx: ISql, orgId: string, months: string[]): Promise<Map<string, string>> {
  const rows = await tx<{ month: string; limit: string }[]>`
    select b.month::text as month, b.limit_usd::text as limit
    from budgets b
    where b.org_id = ${orgId}
      and b.month = any(${months}::date[])`
  return new Map(rows.map((row) => [row.month, row.limit]))
}

async function upsertLimits(tx: ISql, orgId: string, limits: ReadonlyMap<string, string>): Promise<void> {
  await tx`
    insert into budgets (org_id, month, limit_usd)
    select ${orgId}, n.*
    from unnest(${[...limits.keys()]}::date[], ${[...limits.values()]}::numeric[]) as n
    on conflict (org_id, month) do update set limit_usd = excluded.limit_usd`
}
