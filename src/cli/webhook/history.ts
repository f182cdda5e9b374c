import { Value } from '@sinclair/typebox/value'
import { OperatorError } from '../../errors.ts'
import { getDeliveryPlace, getEndpointOwner } from '../../webhooks/deliveries/command-queries.ts'
import { listDeliveries } from '../../webhooks/deliveries/history-queries.ts'
import { type Delivery, DeliveryListQuery } from '../../webhooks/deliveries/model.ts'
import { redeliver } from '../../webhooks/deliveries/redelivery.ts'
import type { Endpoint } from '../../webhooks/model.ts'
import { listEndpoints } from '../../webhooks/queries.ts'
import { bodyOf, errorOf } from '../client/answer.ts'
import { ask, notOurs } from '../client/key-owner.ts'
import { findServer, NOT_SIGNED_IN, type ServerOptions } from '../client/server.ts'
import { commandLineActor } from '../command/actor.ts'
import { type Args, type Context, withDatabase, withOrganization } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { table } from '../command/table.ts'
import { printable } from './text.ts'

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

export interface EndpointOptions extends ServerOptions {
  org?: string
}

/** `webhook list`: of the local database's organization of --org, else of a server. */
export async function showEndpoints(context: Context, { org, ...options }: EndpointOptions): Promise<void> {
  if (org !== undefined && (options.server !== undefined || options.key !== undefined))
    throw new OperatorError('--org is for the local database: a key knows its organization', 2)
  const endpoints =
    org === undefined
      ? await endpointsAt(context, options)
      : await withOrganization(context, org, listEndpoints)
  const rows = endpoints.map(({ id, url, events, enabled, health }) => ({
    id,
    url: printable(url),
    events,
    enabled,
    failures: health.consecutive_failures,
    last_status: health.last_status_code,
  }))
  await printResult(context.json, endpoints, table(rows, ENDPOINT_COLUMNS, 'no webhook endpoints'))
}

async function endpointsAt({ env }: Context, options: ServerOptions): Promise<Endpoint[]> {
  const server = findServer(env, options)
  if (server === undefined)
    throw new OperatorError(`give --org for the local database, or sign in: ${NOT_SIGNED_IN}`, 2)
  const answer = await ask(server, '/webhooks')
  const { data } = bodyOf(answer)
  if (answer.ok && Array.isArray(data) && data.every((each) => each?.health instanceof Object))
    return data as Endpoint[]
  const { error } = errorOf(answer)
  if (error === undefined) throw notOurs(server.url, answer.status)
  throw new OperatorError(`${server.url} refuses: ${error}`)
}

export interface HistoryOptions {
  status?: string
  event?: string
  limit: number
}

/** `webhook deliveries`: the latest deliveries of an endpoint, also of one that was deleted. */
export async function showDeliveries(
  context: Context,
  { status, event, limit }: HistoryOptions,
  [endpointId]: Args,
): Promise<void> {
  const query = { ...filterOf(status, event), per_page: limit }
  const deliveries = await withDatabase(context, async (sql) => {
    const orgId = await getEndpointOwner(sql, endpointId)
    return (await listDeliveries(sql, orgId, endpointId, query)).rows
  })
  await printResult(context.json, deliveries, table(deliveries, DELIVERY_COLUMNS, 'no deliveries'))
}

/** The query of the first page. Throws OperatorError naming the allowed values. */
function filterOf(status: string | undefined, event: string | undefined): DeliveryListQuery {
  const query = { page: 1, per_page: 1, status, event }
  if (Value.Check(DeliveryListQuery, query)) return query
  const { properties } = DeliveryListQuery
  const isStatusWrong = status !== undefined && !Value.Check(properties.status, status)
  const values: readonly string[] = (isStatusWrong ? properties.status : properties.event).enum
  throw new OperatorError(`--${isStatusWrong ? 'status' : 'event'} must be one of ${values.join(', ')}`, 2)
}

/** `webhook redeliver` */
export async function redeliverNow(context: Context, _options: object, [deliveryId]: Args): Promise<void> {
  const delivery = await withDatabase(context, async (sql) => {
    const { orgId, endpointId } = await getDeliveryPlace(sql, deliveryId)
    // the organization's lock in the database is enough: this process makes no other change
    const deps = {
      writes: sql,
      enqueueWrite: <Result>(_orgId: string, work: () => Promise<Result>) => work(),
    }
    return await redeliver(deps, orgId, commandLineActor(), endpointId, deliveryId)
  })
  await printResult(
    context.json,
    delivery,
    `delivery ${delivery.id} (${delivery.event}): ${stateOf(delivery)}`,
  )
}

function stateOf({ status, next_attempt_at }: Delivery): string {
  if (next_attempt_at === null) return `${status}; an attempt is in flight, which is left as it is`
  return `${status}; a running server sends it, unless the endpoint is disabled`
}
