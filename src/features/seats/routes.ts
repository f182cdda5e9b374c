// Routes of /seats (the use of what is paid for each member) and of /plans (what is paid).

import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { dayOf } from '../../base/dates.ts'
import type { ReadDeps, RouteDeps } from '../../http/api.ts'
import { fixedFields } from '../../http/declared.ts'
import { MySeats, NewPlanBody, NewPlanQuery, Plan, PlanChangeBody } from './model.ts'
import { changePlan, createPlan, deletePlan } from './plan-changes.ts'
import { findMySeats, planList } from './plan-queries.ts'
import { seatList } from './seat-queries.ts'

const members = ({ member }: { member?: string }) => (member === undefined ? 'left out' : true)

export const seatRoutes = ({ api, read, now }: ReadDeps) => {
  // windows end, and plans are new for some days
  const minute = () => ({ now: now().toISOString().slice(0, 16) })
  return new Elysia({ prefix: '/seats', tags: ['Cost'] })
    .use(api)
    .get('', ({ page }) => page(minute), {
      ...seatList(now),
      scope: 'admin',
      members,
      detail: {
        operationId: 'listSeats',
        summary: 'List seats: what they cost, and what the same work would have cost by the price list',
        description:
          'Of the last 30 whole days without dates, those with the largest use first. `paid` is money, `cost` is not: they are ' +
          'never added. A seat is idle when no call came, also when its machine sends nothing.',
      },
    })
    .get(
      '/mine',
      ({ orgId, access, inZone }) => {
        const at = now()
        return inZone((zone) => read(orgId, (sql) => findMySeats(sql, access, dayOf(at, zone), at)))
      },
      {
        scope: 'sessions:write or cost:read',
        response: MySeats,
        detail: {
          operationId: 'listMySeats',
          summary: 'One’s own plans and limits',
          description: 'Of the member that the key is bound to, or the person; without prices.',
        },
      },
    )
}

export const planRoutes = ({ api, inTurn }: RouteDeps) =>
  new Elysia({ prefix: '/plans', tags: ['Settings'] })
    .use(api)
    .get('', ({ page }) => page(), {
      ...planList,
      scope: 'admin',
      members,
      detail: { operationId: 'listPlans', summary: 'List the plans, those that began last first' },
    })
    .post(
      '',
      ({ body, query, orgId, actor, hidesMembers }) =>
        inTurn(orgId, async (tx) => {
          const plan = await createPlan(tx, orgId, actor, body, query.replace === 'true')
          return hidesMembers ? { ...plan, member: null } : plan
        }),
      {
        scope: 'admin',
        members: 'left out',
        query: NewPlanQuery,
        body: NewPlanBody,
        response: { 201: Plan },
        detail: {
          operationId: 'createPlan',
          summary: 'Add a plan',
          description:
            'Vendor, plan, member and first day name it: one of that name is changed. Plans of a member and vendor do not overlap.',
        },
      },
    )
    .patch(
      '/:plan_id',
      ({ params, body, orgId, actor, hidesMembers }) =>
        inTurn(orgId, async (tx) => {
          const plan = await changePlan(tx, orgId, actor, params.plan_id, body)
          return hidesMembers ? { ...plan, member: null } : plan
        }),
      {
        scope: 'admin',
        members: 'left out',
        body: PlanChangeBody,
        response: Plan,
        ignores: fixedFields(Plan, PlanChangeBody),
        detail: { operationId: 'updatePlan', summary: 'Change the fields of the plan that are given' },
      },
    )
    .delete(
      '/:plan_id',
      ({ params, orgId, actor }) => inTurn(orgId, (tx) => deletePlan(tx, orgId, actor, params.plan_id)),
      {
        scope: 'admin',
        response: { 204: Type.Void({ description: 'Removed' }) },
        detail: { operationId: 'deletePlan', summary: 'Remove a plan as if it had never been paid' },
      },
    )
