// Routes of /alerts and /digests: the same ones for both kinds of rules, with their tests and deliveries.

import { type TObject, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { recordEntry } from '../../accounts/audit-log/append.ts'
import { findZone } from '../../accounts/organizations/zone-queries.ts'
import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { ApiError } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import type { RouteDeps } from '../../http/api.ts'
import { fixedFields } from '../../http/declared.ts'
import { PageOf, PageQuery, page } from '../../http/query.ts'
import { getDelivery, getHistory } from '../../webhooks/deliveries/history-queries.ts'
import { DeliveryListQuery } from '../../webhooks/deliveries/model.ts'
import type { RedeliveryDeps } from '../../webhooks/deliveries/redelivery.ts'
import type { TestLimit } from '../../webhooks/deliveries/routes.ts'
import { IdempotencyHeader, idempotencyOf } from '../../webhooks/idempotency-queries.ts'
import { wakeWorker } from '../../webhooks/outbox/events.ts'
import { redeliverOne } from '../../webhooks/outbox/redeliver.ts'
import { createRule, deleteRule, type RuleDeps, type Rules, type Shown, updateRule } from './changes.ts'
import { RuleDelivery, RuleDeliveryDetail, RuleTest } from './destination-model.ts'
import type { Clock } from './evaluate.ts'
import { type At, type Notice, testRule } from './notice.ts'
import {
  getRule,
  getRuleDelivery,
  listRuleDeliveries,
  listRules,
  noRule,
  type Rule,
  type RuleKind,
} from './rule-queries.ts'

export type RuleRouteDeps = RouteDeps & RuleDeps & RedeliveryDeps & { limitTests: TestLimit }

export interface RoutedRules<Kind extends RuleKind> extends Rules<Kind> {
  /** The rule as somebody sees it who sees only their own figures; undefined where it is about another member. */
  visibleTo: (
    sql: ISql,
    orgId: string,
    rule: Rule<Kind>,
    onlyMember: VisibleMember | null,
    clock: Clock,
  ) => Promise<Rule<Kind> | undefined>
  showWhole: (rule: Rule<Kind>) => Shown
  /** Makes the message of a test. */
  noticeOf: (sql: ISql, orgId: string, rule: Rule<Kind>, how: At & { test: true }) => Promise<Notice>
  schemas: { one: TObject; added: TObject; changed: TObject }
  /** Whether answers name members. */
  members?: true
}

const idOf = (params: { alert_id?: string; digest_id?: string }): string =>
  params.alert_id ?? params.digest_id ?? ''

/** Messages name figures of everybody. Throws FORBIDDEN for who sees their own only. */
function refuseOwn(onlyMember: VisibleMember | null): void {
  if (onlyMember !== null)
    throw new ApiError('FORBIDDEN', 'this organization shows developers only their own figures')
}

export function ruleRoutes<Kind extends RuleKind>(deps: RuleRouteDeps, rules: RoutedRules<Kind>) {
  const { read, api, config, inTurn, now, limitTests } = deps
  const { kind, show, visibleTo, schemas } = rules
  // the macro takes undefined as if it were not there, its type does not
  const members = rules.members as true
  const { publicUrl } = config
  const operation = (verb: string, noun = '') => `${verb}${kind === 'alert' ? 'Alert' : 'Digest'}${noun}`
  // the name of the parameter is `digest_id` for digests
  const path = `/:${kind}_id` as '/:alert_id'
  const needs = { scope: 'admin or cost:read' } as const
  return new Elysia({ prefix: `/${kind}s`, tags: ['Alerts'] })
    .use(api)
    .get(
      '',
      ({ query, orgId, onlyMember, inZone }) =>
        inZone((zone) =>
          read(orgId, async (sql) => {
            const visible: Rule<Kind>[] = []
            for (const stored of await listRules(sql, orgId, kind)) {
              const rule = await visibleTo(sql, orgId, stored, onlyMember, { now: now(), zone })
              if (rule !== undefined) visible.push(rule)
            }
            const first = (query.page - 1) * query.per_page
            return page(visible.slice(first, first + query.per_page).map(show), query, visible.length)
          }),
        ),
      {
        ...{ ...needs, members, query: PageQuery, response: PageOf(schemas.one) },
        detail: { operationId: operation('list', 's'), summary: `List ${kind}s, oldest first` },
      },
    )
    .post(
      '',
      ({ body, headers, orgId, actor }) => {
        const idempotency = idempotencyOf(headers['idempotency-key'], body)
        return createRule(deps, rules, { orgId, actor, body: body as object }, idempotency)
      },
      {
        ...{ scope: 'admin', members, headers: IdempotencyHeader, body: schemas.added },
        response: { 201: schemas.one },
        detail: { operationId: operation('create'), summary: `Add a ${kind}`.replace('a a', 'an a') },
      },
    )
    .get(
      path,
      ({ params, orgId, onlyMember, inZone }) =>
        inZone((zone) =>
          read(orgId, async (sql) => {
            const stored = await getRule(sql, orgId, kind, idOf(params))
            const rule = await visibleTo(sql, orgId, stored, onlyMember, { now: now(), zone })
            if (rule === undefined) throw noRule(kind)
            return rules.showWhole(rule)
          }),
        ),
      {
        ...{ ...needs, members, response: schemas.one },
        detail: { operationId: operation('get'), summary: `One ${kind}, with all that is known of it` },
      },
    )
    .patch(
      path,
      async ({ params, body, orgId, actor }) => {
        const before = await read(orgId, (sql) => getRule(sql, orgId, kind, idOf(params)))
        return await updateRule(deps, rules, { orgId, actor, body: body as object }, before)
      },
      {
        ...{ scope: 'admin', members, body: schemas.changed, response: schemas.one },
        ignores: fixedFields(schemas.one, schemas.changed),
        detail: {
          operationId: operation('update'),
          summary: `Change the fields of the ${kind} that are given`,
          description:
            'One of `above`, `below` and `times` replaces another; an address that is sent as it is shown stays.',
        },
      },
    )
    .delete(path, ({ params, orgId, actor }) => deleteRule(deps, kind, orgId, actor, idOf(params)), {
      scope: 'admin',
      response: { 204: Type.Void({ description: 'Removed' }) },
      detail: {
        operationId: operation('delete'),
        summary: `Remove the ${kind}; what waits for Slack and Teams is cancelled`,
      },
    })
    .post(
      `${path}/test`,
      async ({ params, request, orgId, actor }) => {
        const { rule, notice } = await read(orgId, async (sql) => {
          const rule = await getRule(sql, orgId, kind, idOf(params))
          const at = { now: now(), zone: await findZone(sql, orgId), publicUrl }
          const how = { ...at, modelPrices: config.modelPrices?.prices, test: true } as const
          return { rule, notice: await rules.noticeOf(sql, orgId, rule, how) }
        })
        return await limitTests(`${orgId}/${rule.id}`, request, () =>
          testRule(deps, orgId, actor, rule, notice),
        )
      },
      {
        scope: 'admin',
        response: RuleTest,
        detail: {
          operationId: operation('test'),
          summary: `Send an example of the ${kind} to its destinations now`,
          description: 'One attempt, no retry. The answer is 200 however the receivers answer.',
        },
      },
    )
    .get(
      `${path}/deliveries`,
      async ({ params, query, orgId, onlyMember }) => {
        refuseOwn(onlyMember)
        return await read(orgId, async (sql) => {
          const { id } = await getRule(sql, orgId, kind, idOf(params))
          return await listRuleDeliveries(sql, orgId, id, query)
        })
      },
      {
        ...needs,
        query: DeliveryListQuery,
        response: PageOf(RuleDelivery),
        detail: {
          operationId: operation('list', 'Deliveries'),
          summary: `List what was sent of the ${kind}, newest first`,
        },
      },
    )
    .get(
      `${path}/deliveries/:delivery_id`,
      async ({ params, orgId, onlyMember }) => {
        refuseOwn(onlyMember)
        const { delivery_id: id } = params
        return await read(orgId, async (sql) => {
          const { endpointId, test } = await getRuleDelivery(sql, orgId, idOf(params), id)
          const { delivery, body, attempts } = await getHistory(sql, orgId, endpointId, id)
          return { ...delivery, attempts, request: { body }, test }
        })
      },
      {
        ...needs,
        members,
        response: RuleDeliveryDetail,
        detail: {
          operationId: operation('get', 'Delivery'),
          summary: 'One delivery with its body and attempts',
        },
      },
    )
    .post(
      `${path}/deliveries/:delivery_id/redeliver`,
      ({ params, orgId, actor }) =>
        inTurn(orgId, async (tx) => {
          const { delivery_id: id } = params
          const { endpointId, hasEndpoint, test } = await getRuleDelivery(tx, orgId, idOf(params), id)
          if (!hasEndpoint) throw new ApiError('NOT_FOUND', 'its destination was removed')
          if (await redeliverOne(tx, orgId, endpointId, id)) {
            const details = { ids: [idOf(params), id] }
            await recordEntry(tx, orgId, actor, `${kind}.redelivered`, details)
            await wakeWorker(tx, orgId)
          }
          return { ...(await getDelivery(tx, orgId, endpointId, id)), test }
        }),
      {
        scope: 'admin',
        response: { 202: RuleDelivery },
        detail: {
          operationId: operation('redeliver', 'Delivery'),
          summary: 'Send a delivery again, as that of a webhook',
        },
      },
    )
}
