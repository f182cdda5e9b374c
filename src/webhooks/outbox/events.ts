// Stores events with a delivery for each subscriber, keeps the counts of deliveries, and wakes the workers.

import { type IdPrefix, newOrderedId } from '../../base/ids.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { unnest } from '../../database/rows.ts'
import { EVENT_NAMES, type EventData, type EventName, eventBody } from './catalogue.ts'

/** An event to be stored: its name and data, and the alert or digest that caused it. */
export type NewEvent = { [Name in EventName]: { event: Name; data: EventData[Name] } }[EventName] & {
  source?: string
}

interface Addressed {
  event: EventName
  source: string | null
  endpoints: readonly string[]
  bodyOf: (eventId: string) => string
}

/** Deliveries of one statement. 200,000 in one would nearly reach the statement timeout, with all bodies in memory. */
const MAX_DELIVERIES = 20_000

type Subscribers = (name: EventName) => readonly string[]

/** Enabled endpoints by event, in one read; none where the plan has no webhooks. Valid under the organization's lock. */
export async function findSubscribers(tx: ISql, orgId: string): Promise<Subscribers> {
  const endpoints = await tx<{ id: string; events: string[] }[]>`
    select e.id, e.events
    from webhook_endpoints e
    join organizations o on o.org_id = e.org_id
    where e.org_id = ${orgId}
      and e.owner is null
      and e.enabled
      and o.plan <> 'cloud_pro'
    order by e.created_at, e.id`
  const byName = new Map(
    EVENT_NAMES.map((name) => [
      name,
      endpoints.flatMap(({ id, events }) => (events.includes('*') || events.includes(name) ? [id] : [])),
    ]),
  )
  return (name) => byName.get(name) ?? []
}

/**
 * Stores events of the time `at`, and a delivery of each for every enabled endpoint that subscribes to it. An
 * event without subscribers is not stored. Call it in the transaction that causes the events, under the
 * organization's lock: they are sent after its commit.
 */
export async function emit(tx: ISql, orgId: string, at: Date, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const endpointsOf = await findSubscribers(tx, orgId)
  const sent = events.filter(({ event }) => endpointsOf(event).length > 0)
  let deliveries = 0
  const batches = Map.groupBy(sent, ({ event }) => {
    deliveries += endpointsOf(event).length
    return Math.floor(deliveries / MAX_DELIVERIES)
  })
  for (const batch of batches.values()) {
    const addressed = batch.map(({ event, data, source = null }) => ({
      ...{ event, source, endpoints: endpointsOf(event) },
      bodyOf: (id: string) => eventBody(id, event, at, data),
    }))
    await sendTo(tx, orgId, at, addressed)
  }
}

/** Stores events and their deliveries, as `emit`. No join of unnested arrays, whose length PostgreSQL does not know. */
export async function sendTo(tx: ISql, orgId: string, at: Date, addressed: readonly Addressed[]) {
  const ids = orderedIds('evt', at, addressed.length)
  const events = addressed.map(({ bodyOf: bodyBy, ...event }, index) => {
    const id = ids[index] ?? newOrderedId('evt', at)
    return { ...event, id, body: bodyBy(id) }
  })
  const pairs = events.flatMap(({ id: event_id, event, endpoints }) =>
    endpoints.map((endpoint_id) => ({ endpoint_id, event_id, event })),
  )
  const deliveryIds = orderedIds('dlv', at, pairs.length)
  const deliveries = pairs.map((pair, index) => ({ ...pair, id: deliveryIds[index] ?? '' }))
  await tx`
    with clock as (
      select clock_timestamp() as now
    ),
    events as (
      insert into webhook_events (org_id, id, event, created_at, body, source)
      select ${orgId}, n.id, n.event, c.now, n.body, n.source
      from clock c
      cross join ${unnest(tx, events, { id: 'text', event: 'text', body: 'text', source: 'text' })}
    ),
    changed as (
      insert into webhook_deliveries as d (
        org_id, id, endpoint_id, event_id, event, status, attempts, created_at
      )
      select ${orgId}, n.id, n.endpoint_id, n.event_id, n.event, 'pending', 0, c.now
      from clock c
      cross join ${unnest(tx, deliveries, { id: 'text', endpoint_id: 'text', event_id: 'text', event: 'text' })}
      returning d.id, d.endpoint_id, d.event_id, d.created_at, d.event, null::text as was, d.status
    ),
    queued as (
      insert into webhook_queue (
        org_id, delivery_id, endpoint_id, event_id, mode, attempts, failures, lost, leased, due_at
      )
      select ${orgId}, x.id, x.endpoint_id, x.event_id, 'scheduled', 0, 0, 0, false, x.created_at
      from changed x
    ),
    counts as (${updateCounts(tx, orgId)})
    select pg_notify(${CHANNEL}, ${orgId})`
}

/** `count` new ids in ascending order, so that events of one call are sent and listed in their order. */
const orderedIds = (prefix: IdPrefix, at: Date, count: number): string[] =>
  Array.from({ length: count }, () => newOrderedId(prefix, at)).sort()

/**
 * The CTE that updates the counts of deliveries. It reads a CTE `changed` (endpoint_id, created_at, event,
 * was, status), where `was` is null for a new delivery and `status` null for a deleted one. Every statement
 * that inserts, updates or deletes deliveries contains it.
 */
export const updateCounts = (sql: ISql, orgId: string): Fragment => sql`
  insert into webhook_delivery_counts as c (org_id, endpoint_id, day, event, status, deliveries)
  select ${orgId}, x.endpoint_id, (x.created_at at time zone 'UTC')::date as day, x.event, m.status, sum(m.by)
  from changed x
  cross join lateral (values (x.was, -1), (x.status, 1)) as m (status, by)
  where x.was is distinct from x.status
    and m.status is not null
  group by x.endpoint_id, day, x.event, m.status
  -- all transactions have the same order, or two of them could deadlock
  order by x.endpoint_id, day, x.event, m.status
  on conflict (org_id, endpoint_id, day, event, status) do update set
    deliveries = c.deliveries + excluded.deliveries`

/** Channel of NOTIFY; the payload is an organization's id. */
export const CHANNEL = 'cloud_analytics_webhooks'

/** Notifies the workers of all instances, when the transaction is committed, that deliveries may be due. */
export async function wakeWorker(tx: ISql, orgId: string): Promise<void> {
  await tx`
    select pg_notify(${CHANNEL}, ${orgId})`
}
