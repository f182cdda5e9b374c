// The commands `webhook list`, `deliveries`, `redeliver` and `recover`: endpoints and their deliveries.

import { Value } from '@sinclair/typebox/value'
import { isTime } from '../../base/dates.ts'
import { OperatorError } from '../../base/errors.ts'
import { plural } from '../../base/text.ts'
import { inOrganization } from '../../database/org-lock.ts'
import type { Change } from '../../http/queues/gate.ts'
import {
  getDeliveryPlace,
  getEndpointOwner,
  listDeliveries,
} from '../../webhooks/deliveries/history-queries.ts'
import { type Delivery, DeliveryListQuery } from '../../webhooks/deliveries/model.ts'
import { recover, redeliver } from '../../webhooks/deliveries/redelivery.ts'
import { listEndpoints } from '../../webhooks/endpoint-queries.ts'
import type { Endpoint } from '../../webhooks/model.ts'
import { bodyOf } from '../client/ask-server.ts'
import { type OrgOptions, type Server, serverUnlessOrg } from '../client/find-server.ts'
import { askOk, notOurs } from '../client/key-owner.ts'
import { commandLineActor } from '../command/actor.ts'
import { type Args, type Context, withDatabase, withOrganization } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { table } from '../command/table.ts'

const ENDPOINT_COLUMNS = ['id', 'url', 'events', 'enabled', 'failures', 'last_status'] as const
const DELIVERY_COLUMNS = [
  'id',
  'event',
  'status',
  'attempts',
  'last_status_code',
  'created_at',
  'next_attempt_at',
] as const

/** `webhook list`: of the local database's organization of --org, else of a server. */
export async function showEndpoints(context: Context, options: OrgOptions): Promise<void> {
  const server = serverUnlessOrg(context.env, options)
  const endpoints =
    server === undefined
      ? await withOrganization(context, options.org ?? '', listEndpoints)
      : await endpointsAt(server)
  const rows = endpoints.map(({ id, url, events, enabled, health }) => ({
    id,
    url,
    events,
    enabled,
    failures: health.consecutive_failures,
    last_status: health.last_status_code,
  }))
  await printResult(context.json, endpoints, table(rows, ENDPOINT_COLUMNS, 'no webhook endpoints'))
}

async function endpointsAt(server: Server): Promise<Endpoint[]> {
  const { data } = bodyOf(await askOk(server, '/webhooks'))
  if (Array.isArray(data) && data.every((each) => each?.health instanceof Object)) return data as Endpoint[]
  throw notOurs(server.url, 200)
}

type HistoryOptions = Pick<DeliveryListQuery, 'status' | 'event'> & { limit: number }

/** `webhook deliveries`: the latest deliveries of an endpoint, also of one that was deleted. */
export async function showDeliveries(
  context: Context,
  { limit, ...filters }: HistoryOptions,
  [endpointId]: Args,
): Promise<void> {
  for (const name of ['status', 'event'] as const) {
    const schema = DeliveryListQuery.properties[name]
    if (filters[name] !== undefined && !Value.Check(schema, filters[name]))
      throw new OperatorError(`--${name} must be one of ${schema.enum.join(', ')}`, 2)
  }
  const deliveries = await withDatabase(context, async (sql) => {
    const orgId = await getEndpointOwner(sql, endpointId)
    return (await listDeliveries(sql, orgId, endpointId, { ...filters, page: 1, per_page: limit })).rows
  })
  await printResult(context.json, deliveries, table(deliveries, DELIVERY_COLUMNS, 'no deliveries'))
}

export async function redeliverNow(context: Context, _options: object, [deliveryId]: Args): Promise<void> {
  const delivery = await withDatabase(context, async (sql) => {
    const { orgId, endpointId } = await getDeliveryPlace(sql, deliveryId)
    // the organization's lock in the database is enough: this process makes no other change
    const inTurn: Change = (id, work) => inOrganization(sql, id, work)
    return await redeliver({ inTurn }, orgId, commandLineActor(), endpointId, deliveryId)
  })
  await printResult(
    context.json,
    delivery,
    `delivery ${delivery.id} (${delivery.event}): ${statusText(delivery)}`,
  )
}

/** A time as the API takes it. */
const checkTime = (option: string, text: string): string => {
  if (isTime(text)) return text
  throw new OperatorError(
    `--${option} must be a date (2026-11-01), or a date and time, UTC without an offset`,
    2,
  )
}

export async function recoverNow(
  context: Context,
  { since, until, dryRun }: { since: string; until?: string; dryRun?: boolean },
  [endpointId]: Args,
): Promise<void> {
  const span = {
    since: checkTime('since', since),
    ...(until !== undefined && { until: checkTime('until', until) }),
  }
  const recovered = await withDatabase(context, async (sql) => {
    const orgId = await getEndpointOwner(sql, endpointId)
    const inTurn: Change = (id, work) => inOrganization(sql, id, work)
    const deps = { inTurn, writes: sql, now: () => new Date() }
    return await recover(deps, orgId, commandLineActor(), endpointId, { ...span, dry_run: dryRun === true })
  })
  const text =
    dryRun === true
      ? `${plural(recovered.count, 'delivery', 'deliveries')} would be sent again`
      : `${plural(recovered.count, 'delivery is', 'deliveries are')} sent again by a running server`
  await printResult(context.json, recovered, text)
}

function statusText({ status, next_attempt_at }: Delivery): string {
  if (next_attempt_at === null) return `${status}; an attempt is in flight, which is left as it is`
  return `${status}; a running server sends it, unless the endpoint is disabled`
}
