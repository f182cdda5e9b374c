import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { recordEntries } from '../../accounts/audit-log/append.ts'
import type { Own } from '../../accounts/people/visibility-queries.ts'
import { ApiError } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import type { RouteDeps } from '../../http/api.ts'
import { PageOf, page } from '../../http/query.ts'
import type { TestLimit } from '../../webhooks/deliveries/concurrent-tests.ts'
import { getDelivery, getHistory } from '../../webhooks/deliveries/history-queries.ts'
import { DeliveryListQuery } from '../../webhooks/deliveries/model.ts'
import type { RedeliveryDeps } from '../../webhooks/deliveries/redelivery.ts'
import { wakeWorker } from '../../webhooks/outbox/notify.ts'
import { redeliverOne } from '../../webhooks/outbox/redeliver.ts'
import { deleteRule, type RuleDeps } from './changes.ts'
import { getRuleDelivery, listRuleDeliveries } from './delivery-queries.ts'
import { RuleDelivery, RuleDeliveryDetail, RuleTest } from './destination-model.ts'
import { type Notice, testRule } from './notice.ts'
import { getRule, type Rule, type RuleKind } from './rule-queries.ts'

export type RuleRouteDeps = RuleDeps & RedeliveryDeps & { limitTests: TestLimit }

/** The differences between alerts and digests in these routes. `noticeOf` makes the message of a test. */
interface Shared<Kind extends RuleKind> {
  kind: Kind
  noticeOf: (
    sql: ISql,
    orgId: string,
    rule: Rule<Kind>,
    how: { now: Date; publicUrl: string | null; test: true },
  ) => Promise<Notice>
}

/** Added to the time of an attempt, as for tests of webhooks. */
const TEST_MARGIN_S = 30

const idOf = (params: { alert_id?: string; digest_id?: string }): string =>
  params.alert_id ?? params.digest_id ?? ''

/** Messages name figures of everybody. Throws FORBIDDEN for who sees their own only. */
function refuseOwn(own: Own | null): void {
  if (own !== null)
    throw new ApiError('FORBIDDEN', 'this organization shows developers only their own figures')
}

/** The routes that alerts and digests have alike: removing, testing, and what was sent. */
export function sharedRoutes<Kind extends RuleKind>(
  { sql, api, config }: RouteDeps,
  deps: RuleRouteDeps,
  { kind, noticeOf }: Shared<Kind>,
) {
  const { inTurn, now, timeoutMs, limitTests } = deps
  const { publicUrl } = config
  const operation = (verb: string, noun = '') => `${verb}${kind === 'alert' ? 'Alert' : 'Digest'}${noun}`
  // the name of the parameter is `digest_id` for digests
  const path = `/:${kind}_id` as '/:alert_id'
  const read = { scope: 'admin or cost:read' } as const
  return new Elysia({ prefix: `/${kind}s`, tags: ['Alerts'] })
    .use(api)
    .delete(
      path,
      async ({ params, status, access: { orgId, actor } }) => {
        await deleteRule(deps, kind, orgId, actor, idOf(params))
        return status(204, undefined)
      },
      {
        scope: 'admin',
        response: { 204: Type.Void({ description: 'Removed' }) },
        detail: {
          operationId: operation('delete'),
          summary: `Remove the ${kind}; what waits for Slack and Teams is cancelled`,
        },
      },
    )
    .post(
      `${path}/test`,
      async ({ params, request, server, access: { orgId, actor } }) => {
        server?.timeout(request, Math.ceil(timeoutMs / 1_000) + TEST_MARGIN_S)
        const rule = await getRule(sql, orgId, kind, idOf(params))
        const notice = await noticeOf(sql, orgId, rule, { now: now(), publicUrl, test: true })
        return await limitTests(`${orgId}/${rule.id}`, () => testRule(deps, orgId, actor, rule, notice))
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
      async ({ params, query, access: { orgId, own } }) => {
        refuseOwn(own)
        const { id } = await getRule(sql, orgId, kind, idOf(params))
        const { rows, total } = await listRuleDeliveries(sql, orgId, id, query)
        return page(rows, query, total)
      },
      {
        ...read,
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
      async ({ params, access: { orgId, own } }) => {
        refuseOwn(own)
        const { delivery_id: id } = params
        const { endpointId, test } = await getRuleDelivery(sql, orgId, idOf(params), id)
        const { delivery, body, attempts } = await getHistory(sql, orgId, endpointId, id)
        return { ...delivery, attempts, request: { body }, test }
      },
      {
        ...read,
        // messages of a digest name nobody; the macro takes undefined as if it were not there, its type does not
        members: (kind === 'alert' ? true : undefined) as true,
        response: RuleDeliveryDetail,
        detail: {
          operationId: operation('get', 'Delivery'),
          summary: 'One delivery with its body and attempts',
        },
      },
    )
    .post(
      `${path}/deliveries/:delivery_id/redeliver`,
      async ({ params, status, access: { orgId, actor } }) => {
        const { delivery_id: id } = params
        const again = await inTurn(orgId, async (tx) => {
          const { endpointId, test } = await getRuleDelivery(tx, orgId, idOf(params), id)
          if (await redeliverOne(tx, orgId, endpointId, id)) {
            const details = { ids: [idOf(params), id] }
            await recordEntries(tx, orgId, actor, [{ action: `${kind}.redelivered`, details }])
            await wakeWorker(tx, orgId)
          }
          return { ...(await getDelivery(tx, orgId, endpointId, id)), test }
        })
        return status(202, again)
      },
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
