import { Elysia } from 'elysia'
import { dayOf } from '../../base/dates.ts'
import type { RouteDeps } from '../../http/api.ts'
import { listEndpoints } from '../../webhooks/queries.ts'
import { findNames } from '../alerts/figure-queries.ts'
import type { Alert } from '../alerts/model.ts'
import { listRules } from '../alerts/rule-queries.ts'
import { ALERTS } from '../alerts/rules.ts'
import type { UsedBudget } from '../budgets/model.ts'
import { findExceeded, findMyBudgets } from '../budgets/queries.ts'
import { Attention } from './model.ts'

const scopeOf = ({ scope }: UsedBudget): string => JSON.stringify(scope)

export const attentionRoutes = ({ read, now, api }: RouteDeps) =>
  new Elysia({ tags: ['Alerts'] }).use(api).get(
    '/attention',
    ({ orgId, access, seen, inZone }) =>
      inZone((zone) =>
        read(orgId, async (sql) => {
          const at = { now: now(), zone }
          const today = dayOf(at.now, zone)
          const { onlyMember, hidesMembers } = seen
          const stored = hidesMembers ? [] : await listRules(sql, orgId, 'alert')
          const alerts: Alert[] = []
          for (const one of stored) {
            const rule = await ALERTS.seenBy(sql, orgId, one, onlyMember, at)
            if (rule !== undefined) alerts.push(ALERTS.show(rule) as Alert)
          }
          const own = (await findMyBudgets(sql, access, undefined, today)).budgets.filter(
            ({ scope: { member, team } }) => member !== undefined || team !== undefined,
          )
          const exceeded = await findExceeded(sql, orgId, seen, today)
          const known = new Set(exceeded.map(scopeOf))
          const ownExceeded = own.filter((one) => one.status === 'exceeded' && !known.has(scopeOf(one)))
          const names = await findNames(
            sql,
            orgId,
            [...own, ...exceeded].map(({ scope }) => scope.member ?? null),
          )
          const named = (budget: UsedBudget) => {
            const { project, member = '', team } = budget.scope
            return { ...budget, name: project ?? team ?? names.get(member) ?? member }
          }
          const endpoints = access.scopes.includes('webhooks') ? await listEndpoints(sql, orgId) : []
          return {
            alerts: alerts.filter(({ state, enabled }) => enabled && state !== 'ok'),
            budgets: [...exceeded, ...ownExceeded].map(named),
            mine: own.map(named),
            endpoints: endpoints.filter(({ health }) => health.consecutive_failures > 0),
          }
        }),
      ),
    {
      scope: 'cost:read',
      members: 'left out',
      response: Attention,
      detail: {
        operationId: 'getAttention',
        summary: 'List what needs attention: alerts that fire, exceeded budgets, endpoints that fail',
      },
    },
  )
