import { Elysia } from 'elysia'
import type { Own } from '../../accounts/people/visibility-queries.ts'
import { ApiError, validationError } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import type { RouteDeps } from '../../http/api.ts'
import { IdempotencyHeader, idempotencyOf } from '../../webhooks/idempotency.ts'
import { findMemberIds, NO_MEMBER } from '../usage/scope-queries.ts'
import { alertNotice } from './alert-notice.ts'
import { createRule, type Rules, updateRule, type Wanted } from './changes.ts'
import { shownDestination } from './destinations.ts'
import { keysOf, summaryOf } from './evaluate.ts'
import { Alert, AlertChangeBody, AlertList, changed, NewAlertBody, watchedProblems } from './model.ts'
import { getRule, listRules, type Rule } from './rule-queries.ts'
import { type RuleRouteDeps, sharedRoutes } from './rule-routes.ts'

type AlertRule = Rule<'alert'>

/** The fields that a new alert has unless they are given; the first ones are required. */
const DEFAULTS: AlertRule['definition'] = {
  ...{ name: '', metric: 'cost', window: 'day', destinations: [] },
  ...{ scope: {}, each: null, no_data: 'ok', renotify_minutes: null },
}

function alertOf({ id, definition, enabled, states, created_at }: AlertRule): Alert {
  const { destinations, ...fields } = definition
  return {
    ...{ id, ...fields, enabled, destinations: destinations.map(shownDestination) },
    ...summaryOf(definition, states, created_at),
  }
}

/** The alert as somebody sees it who sees only their own figures; undefined where it is about another member. */
function visible(rule: AlertRule, own: Own | null): AlertRule | undefined {
  if (own === null) return rule
  const { scope, each } = rule.definition
  if (scope.member !== undefined && scope.member !== own.id) return undefined
  if (each !== 'member') return rule
  return {
    ...rule,
    states: Object.fromEntries(Object.entries(rule.states).filter(([key]) => key === own.id)),
  }
}

const ALERTS: Rules<'alert', Alert> = {
  ...{ kind: 'alert', most: 100, show: alertOf },
  firstDue: (_definition, now) => now,
  // states of other keys say nothing
  renewed: (before, after) => (before.definition.each === after.definition.each ? {} : { states: {} }),
}

/** Reads the alert that a body asks for. `define` throws VALIDATION_ERROR for an unknown member. */
function wantedOf(body: AlertChangeBody, orgId: string, before?: AlertRule): Wanted<'alert'> {
  const { destinations, enabled, ...change } = body
  const { destinations: stored, ...said } = before?.definition ?? DEFAULTS
  const definition = changed(said, change)
  const problems = watchedProblems(definition, change)
  if (problems.length > 0) throw validationError(...problems)
  const define = async (tx: ISql) => {
    const { member } = change.scope ?? {}
    if (member === undefined) return definition
    const id = (await findMemberIds(tx, orgId, [member])).get(member)
    if (id === undefined) throw validationError({ field: 'scope.member', message: NO_MEMBER })
    return { ...definition, scope: { ...definition.scope, member: id } }
  }
  return {
    define,
    destinations: destinations ?? stored.map(shownDestination),
    enabled: enabled ?? before?.enabled ?? true,
  }
}

export const alertRoutes = (routeDeps: RouteDeps, deps: RuleRouteDeps) => {
  const { sql, api } = routeDeps
  const read = { scope: 'admin or cost:read', members: true } as const
  const change = { scope: 'admin', members: true } as const
  return new Elysia()
    .use(
      sharedRoutes(routeDeps, deps, {
        kind: 'alert',
        // the test tells that it fires at its last value
        noticeOf: (from, orgId, rule, how) => {
          const { definition, states, created_at } = rule
          const { last_value: value } = summaryOf(definition, states, created_at)
          const threshold = definition.above ?? definition.below ?? definition.times ?? 0
          const told = { key: '', state: 'firing', value: value ?? threshold, threshold } as const
          return alertNotice(from, orgId, rule, [told], how)
        },
      }),
    )
    .use(
      new Elysia({ prefix: '/alerts', tags: ['Alerts'] })
        .use(api)
        .get(
          '',
          async ({ access: { orgId, own } }) => {
            const rules = await listRules(sql, orgId, 'alert')
            return { data: rules.flatMap((rule) => visible(rule, own) ?? []).map(alertOf) }
          },
          {
            ...read,
            response: AlertList,
            detail: { operationId: 'listAlerts', summary: 'List alerts, oldest first' },
          },
        )
        .post(
          '',
          async ({ body, headers, path, set, status, access: { orgId, actor } }) => {
            const idempotency = idempotencyOf(headers['idempotency-key'], body)
            const made = await createRule(deps, ALERTS, { orgId, actor, idempotency }, wantedOf(body, orgId))
            set.headers.location = `${path}/${made.id}`
            return status(201, made)
          },
          {
            ...change,
            headers: IdempotencyHeader,
            body: NewAlertBody,
            response: { 201: Alert },
            detail: { operationId: 'createAlert', summary: 'Add an alert' },
          },
        )
        .get(
          '/:alert_id',
          async ({ params, access: { orgId, own } }) => {
            const rule = visible(await getRule(sql, orgId, 'alert', params.alert_id), own)
            if (rule === undefined) throw new ApiError('NOT_FOUND', 'no such alert')
            const { definition, states } = rule
            return { ...alertOf(rule), ...(definition.each !== null && { keys: keysOf(states) }) }
          },
          {
            ...read,
            response: Alert,
            detail: { operationId: 'getAlert', summary: 'One alert, with the states of its keys' },
          },
        )
        .patch(
          '/:alert_id',
          async ({ params, body, access: { orgId, actor } }) => {
            const before = await getRule(sql, orgId, 'alert', params.alert_id)
            return await updateRule(deps, ALERTS, { orgId, actor, before }, (rule) =>
              wantedOf(body, orgId, rule),
            )
          },
          {
            ...change,
            body: AlertChangeBody,
            response: Alert,
            detail: {
              operationId: 'updateAlert',
              summary: 'Change an alert',
              description:
                'Changes the fields that are given; one of `above`, `below` and `times` replaces another, and an address of a destination that is sent as it is shown stays.',
            },
          },
        ),
    )
}
