// Reads the data of a digest that is sent on a day, and the mean score of the seven days before; null: no sessions.

import { addDays, monthOf } from '../../base/dates.ts'
import { MONEY_DECIMALS, unscaled } from '../../base/decimals.ts'
import type { ISql } from '../../database/client.ts'
import { inDays } from '../../database/rows.ts'
import type { EventData } from '../../webhooks/outbox/catalogue.ts'
import { forecastOf } from '../budgets/forecast.ts'
import { findBudgets, ORGANIZATION } from '../budgets/scope-queries.ts'
import { costRows, usageRows } from '../usage/sources.ts'
import { sessionSums } from '../usage/sums.ts'
import { weekBefore } from './digest-model.ts'

/** Models and projects that an event names, by their cost. */
const MAX_KEYS = 50

async function costBy(
  sql: ISql,
  orgId: string,
  by: 'model' | 'project',
  range: { from: string; to: string },
) {
  const filters = { date_from: range.from, date_to: range.to }
  const rows = await sql<{ key: string; cost: string }[]>`
    select r.${sql(by)} as key, (sum(r.micros) * 0.000001)::text as cost
    from (${usageRows(sql, orgId, filters, { columns: [by], buckets: 'day' })}) r
    group by 1
    order by sum(r.micros) desc, r.${sql(by)} collate "C"
    limit ${MAX_KEYS}`
  return rows.map(({ key, cost }) => ({ key: key === '' ? null : key, cost: Number(cost) }))
}

async function readSpent(sql: ISql, orgId: string, today: string) {
  const [row] = await sql<[{ before: string; today: string }]>`
    select
      coalesce(sum(r.micros) filter (where r.bucket < ${today}), 0) as before,
      coalesce(sum(r.micros) filter (where r.bucket = ${today}), 0) as today
    from (${costRows(sql, orgId, { date_from: monthOf(today), date_to: today })}) r`
  return { before: BigInt(row.before), today: BigInt(row.today) }
}

export async function readDigest(
  sql: ISql,
  orgId: string,
  digestId: string,
  today: string,
  zone: string,
): Promise<{ data: Omit<EventData['digest.ready'], 'effects'>; previousQuality: number | null }> {
  const { from, to } = weekBefore(today)
  const days = { date_from: addDays(from, -7), date_to: to }
  const [spent] = await sql<[{ cost: string; previous_cost: string }]>`
    select
      coalesce(sum(r.micros) filter (where r.bucket >= ${from}), 0) * 0.000001 as cost,
      coalesce(sum(r.micros) filter (where r.bucket < ${from}), 0) * 0.000001 as previous_cost
    from (${costRows(sql, orgId, days)}) r`
  const [figures] = await sql<Record<'quality' | 'previous_quality', string | null>[]>`
    select
      round(
        sum(r.quality_sum) filter (where r.bucket >= ${from}) / sum(r.sessions) filter (where r.bucket >= ${from}), 2
      )::text as quality,
      round(
        sum(r.quality_sum) filter (where r.bucket < ${from}) / sum(r.sessions) filter (where r.bucket < ${from}), 2
      )::text as previous_quality
    from (${sessionSums(sql, orgId, days, 'day')}) r
    where r.sessions > 0`
  const [outcome] = await sql<{ merged: string | null; cost: string | null }[]>`
    select sum(r.merged)::text as merged, sum(r.linked_cost)::text as cost
    from outcome_rollups r
    where r.org_id = ${orgId}
      and r.dims = 'all'
      and r.grain = 'day'
      and r.bucket >= ${from}
      and r.bucket <= ${to}`
  const [row] = await sql<{ findings: number }[]>`
    select count(*)::integer as findings
    from (
      select f.project, f.file_key, f.fingerprint
      from findings f
      where f.org_id = ${orgId}
        and f.status = 'open'
        ${inDays(sql, sql`f.created_at`, { date_from: from, date_to: to }, zone)}
      except
      select f.project, f.file_key, f.fingerprint
      from findings f
      where f.org_id = ${orgId}
        ${inDays(sql, sql`f.created_at`, { date_to: addDays(from, -1) }, zone)}
    ) n`
  const [budget] = await findBudgets(sql, orgId, [ORGANIZATION], monthOf(today))
  const scoreOf = (score: string | null | undefined) => (score == null ? null : Number(score))
  const data = {
    ...{ digest_id: digestId, from, to },
    cost: Number(spent.cost),
    previous_cost: Number(spent.previous_cost),
    by_model: await costBy(sql, orgId, 'model', { from, to }),
    by_project: await costBy(sql, orgId, 'project', { from, to }),
    budget:
      budget === undefined
        ? null
        : {
            limit: unscaled(budget.limit, MONEY_DECIMALS),
            projected_cost: forecastOf(await readSpent(sql, orgId, today), today).cost,
          },
    pull_requests: { merged: Number(outcome?.merged ?? 0), cost: Number(outcome?.cost ?? 0) },
    average_quality: scoreOf(figures?.quality),
    new_findings: row?.findings ?? 0,
  }
  return { data, previousQuality: scoreOf(figures?.previous_quality) }
}
