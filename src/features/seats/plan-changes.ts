import { type Actor, recordEntries, recordEntry } from '../../accounts/audit-log/append.ts'
import { type PlanRecord, planProblem } from '../../analysis/records/plan.ts'
import { addDays } from '../../base/dates.ts'
import { fieldError, validationError } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import { deleteById } from '../../database/rows.ts'
import { getMemberId } from '../usage/member-queries.ts'
import type { NewPlanBody, Plan, PlanChangeBody } from './model.ts'
import { findInForce, getPlan, shownPlan } from './plan-queries.ts'
import { type PlanRow, upsertPlans, writePlans } from './plan-write.ts'

const detailsOf = ({ id, ...plan }: Plan) => ({ ids: [id], ...plan })

/** Throws VALIDATION_ERROR for what the fields of a plan have wrong together. */
function refuseProblem(plan: Omit<PlanRecord, 'type'>): void {
  const problem = planProblem(plan, '')
  if (problem !== undefined) throw validationError(problem)
}

/** Adds a plan, or changes the one of this name; with `replace` the one in force ends the day before. Throws VALIDATION_ERROR. */
export async function createPlan(tx: ISql, orgId: string, actor: Actor, body: NewPlanBody, replace: boolean) {
  refuseProblem(body)
  const { vendor, plan, from } = body
  const member = body.member == null ? '' : await getMemberId(tx, orgId, body.member, 'member')
  const before = replace ? await findInForce(tx, orgId, { vendor, plan, member, from }) : []
  const ended = before.map((row): PlanRow => ({ ...row, to: addDays(from, -1) }))
  await upsertPlans(tx, orgId, ended)
  const written = await writePlans(tx, orgId, [{ prefix: '', record: body }])
  const [id = ''] = written.ids
  const result = shownPlan(await getPlan(tx, orgId, id))
  await recordEntries(tx, orgId, actor, [
    ...ended.map((row) => ({ action: 'plan.updated', details: detailsOf(shownPlan(row)) })),
    ...(written.created > 0 ? [{ action: 'plan.created', details: detailsOf(result) }] : []),
    ...(written.updated > 0 ? [{ action: 'plan.updated', details: detailsOf(result) }] : []),
  ])
  return result
}

/** Changes the fields of a plan that are given. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function changePlan(tx: ISql, orgId: string, actor: Actor, id: string, change: PlanChangeBody) {
  const before = shownPlan(await getPlan(tx, orgId, id))
  const fields = { ...before, ...change }
  refuseProblem(fields)
  // written by its id, as another name would be another plan
  await deleteById(tx, orgId, id, 'plans')
  const written = await writePlans(tx, orgId, [{ prefix: '', record: fields }])
  const after = shownPlan(await getPlan(tx, orgId, written.ids[0] ?? ''))
  if (after.id !== id) throw fieldError('from', `is that of another plan: ${after.id}`)
  if (!Bun.deepEquals(after, before)) await recordEntry(tx, orgId, actor, 'plan.updated', detailsOf(after))
  return after
}

/** Deletes a plan. Throws NOT_FOUND. */
export async function deletePlan(tx: ISql, orgId: string, actor: Actor, id: string): Promise<void> {
  const plan = shownPlan(await getPlan(tx, orgId, id))
  await deleteById(tx, orgId, id, 'plans')
  await recordEntry(tx, orgId, actor, 'plan.deleted', detailsOf(plan))
}
