import { findLastChanges } from '../../analysis/records/changes.ts'
import type { PlanRecord } from '../../analysis/records/plan.ts'
import { decimalText, scaled } from '../../base/decimals.ts'
import { fieldError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { ISql } from '../../database/client.ts'
import { deleteFrom, unnest, upsert } from '../../database/rows.ts'
import { findMemberIds, NO_MEMBER } from '../usage/member-queries.ts'

/** A plan as it is stored; amounts are texts of 12 decimals. */
export interface PlanRow {
  id: string
  vendor: PlanRecord['vendor']
  plan: string
  /** A member's id; '' for seats of everybody without a plan of the vendor. */
  member: string
  quantity: number
  from: string
  to: string | null
  price_month: string
  currency: string
  usd_rate: string | null
  included_credits: string | null
}

/** A plan as somebody sends it. */
type PlanFields = Omit<PlanRecord, 'type'>

const DECIMALS = 12
const amount = (value: number): string => decimalText(scaled(value, DECIMALS), DECIMALS)

const keyOf = ({ vendor, plan, member, from }: PlanRow) => JSON.stringify([vendor, plan, member, from])

export const planColumns = (sql: ISql) => sql`
  p.id, p.vendor, p.plan, p.member, p.quantity, p.first_day::text as "from", p.last_day::text as "to",
  p.price_month::text as price_month, p.currency, p.usd_rate::text as usd_rate,
  p.included_credits::text as included_credits`

/**
 * Writes plans by what names them. Needs the organization's lock, after members are written. Throws VALIDATION_ERROR for a member
 * who does not exist, and for plans of a member and vendor that overlap.
 */
export async function writePlans(
  tx: ISql,
  orgId: string,
  sent: readonly { prefix: string; record: PlanFields }[],
) {
  const members = sent.flatMap(({ record }) => record.member ?? [])
  const ids = await findMemberIds(tx, orgId, members)
  const plans = sent.map(({ prefix, record }) => {
    const member = record.member == null ? '' : ids.get(record.member)
    if (member === undefined) throw fieldError(`${prefix}member`, NO_MEMBER)
    const { id = null, vendor, plan, from, to = null, currency, usd_rate, included_credits } = record
    return {
      ...{ id: id ?? '', vendor, plan, member, quantity: record.quantity ?? 1, from, to },
      price_month: amount(record.price_month),
      currency: currency ?? 'USD',
      usd_rate: (currency ?? 'USD') === 'USD' || usd_rate == null ? null : amount(usd_rate),
      included_credits: included_credits == null ? null : amount(included_credits),
    }
  })
  const stored = await findStored(tx, orgId, plans)
  const planIds = new Map([...stored].map(([key, { id }]) => [key, id]))
  const usedIds = new Set(planIds.values())
  const rows = plans.map((row): PlanRow => {
    const idOf = () => (row.id === '' || usedIds.has(row.id) ? newId('plan') : row.id)
    return { ...row, id: planIds.getOrInsertComputed(keyOf(row), idOf) }
  })
  const isSame = (row: PlanRow, other: PlanRow) => Bun.deepEquals(row, other)
  const changes = findLastChanges(rows, stored, { keyOf, idOf: ({ id }) => id, isSame })
  await upsertPlans(tx, orgId, changes.rows)
  const fieldOf = ({ id }: PlanRow) => sent[rows.findIndex((row) => row.id === id)]?.prefix ?? ''
  await refuseOverlaps(tx, orgId, changes.rows, fieldOf)
  return { ...changes, ids: rows.map(({ id }) => id) }
}

export async function upsertPlans(tx: ISql, orgId: string, rows: readonly PlanRow[]): Promise<void> {
  await upsert(tx, orgId, { table: 'plans', key: ['id'] }, rows, {
    id: 'text',
    vendor: 'text',
    plan: 'text',
    member: 'text',
    quantity: 'integer',
    first_day: ['date', ({ from }) => from],
    last_day: ['date', ({ to }) => to],
    price_month: 'numeric',
    currency: 'text',
    usd_rate: 'numeric',
    included_credits: 'numeric',
  })
}

/** The stored plans with the name, or the id, of one of these, by their names. */
async function findStored(tx: ISql, orgId: string, plans: readonly PlanRow[]): Promise<Map<string, PlanRow>> {
  const rows = await tx<PlanRow[]>`
    select ${planColumns(tx)}
    from plans p
    where p.org_id = ${orgId}
      and (
        p.id = any (${plans.map(({ id }) => id)}::text[])
        or (p.vendor, p.plan, p.member, p.first_day) in (
          select n.vendor, n.plan, n.member, n.first_day
          from ${unnest(tx, plans, {
            vendor: 'text',
            plan: 'text',
            member: 'text',
            first_day: ['date', ({ from }) => from],
          })}
        )
      )`
  return new Map(rows.map((row) => [keyOf(row), row]))
}

/** Throws VALIDATION_ERROR where a member has two plans of a vendor on a day, one of which is of these. */
export async function refuseOverlaps(
  tx: ISql,
  orgId: string,
  written: readonly PlanRow[],
  fieldOf: (row: PlanRow) => string,
): Promise<void> {
  const [overlap] = await tx<{ id: string; other: string }[]>`
    select p.id, o.id as other
    from plans p
    join plans o
      on o.org_id = ${orgId}
      and o.member = p.member
      and o.vendor = p.vendor
      and o.id <> p.id
      and o.first_day <= coalesce(p.last_day, 'infinity')
      and p.first_day <= coalesce(o.last_day, 'infinity')
    where p.org_id = ${orgId}
      and p.member <> ''
      and p.id = any (${written.map(({ id }) => id)}::text[])
    order by p.first_day desc, p.id
    limit 1`
  const row = written.find(({ id }) => id === overlap?.id)
  if (row === undefined || overlap === undefined) return
  const message = `the member has a plan of this vendor then: ${overlap.other}`
  throw fieldError(`${fieldOf(row)}from`, message)
}

/** Deletes the plans of a member who is gone. Needs the organization's lock. */
export async function deletePlansOf(tx: ISql, orgId: string, member: string): Promise<void> {
  await deleteFrom(tx, orgId, 'plans', tx`and t.member = ${member}`)
}
