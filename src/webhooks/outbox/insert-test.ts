// Queues a test of an endpoint.

import { newOrderedId } from '../../base/ids.ts'
import type { ISql } from '../../database/client.ts'
import { type Attemptable, leaseMsOf } from './claim.ts'
import { updateCounts } from './events.ts'

interface NewTest {
  event: string
  bodyOf: (eventId: string) => string
  at: Date
  /** The attempt may take this long. */
  timeoutMs: number
  /** The alert or digest that is tested. */
  source?: string
  /** The delivery's id; a new one unless given. */
  id?: string
}

/** Inserts a test's event and delivery with an attempt in flight, which the caller settles. Undefined without the endpoint. */
export async function insertTest(
  tx: ISql,
  orgId: string,
  endpointId: string,
  { event, bodyOf, at, timeoutMs, source, id }: NewTest,
): Promise<Attemptable | undefined> {
  const [endpoint] = await tx<Pick<Attemptable, 'url' | 'secret' | 'previous_secret'>[]>`
    select
      e.url,
      e.secret,
      case when e.previous_secret_expires_at > statement_timestamp() then e.previous_secret end as previous_secret
    from webhook_endpoints e
    where e.org_id = ${orgId}
      and e.id = ${endpointId}`
  if (endpoint === undefined) return undefined
  const [eventId, deliveryId] = [newOrderedId('evt', at), id ?? newOrderedId('dlv', at)]
  const body = bodyOf(eventId)
  await tx`
    with event as (
      insert into webhook_events (org_id, id, event, created_at, body, source, test)
      values (${orgId}, ${eventId}, ${event}, ${at}, ${body}, ${source ?? null}, true)
    ),
    queued as (
      insert into webhook_queue (
        org_id, delivery_id, endpoint_id, event_id, mode, attempts, failures, lost, leased, claimed_at, due_at
      )
      values (
        ${orgId}, ${deliveryId}, ${endpointId}, ${eventId}, 'test', 1, 0, 0, true,
        statement_timestamp(), statement_timestamp() + ${leaseMsOf(timeoutMs)} * interval '1 millisecond'
      )
    ),
    changed as (
      insert into webhook_deliveries (org_id, id, endpoint_id, event_id, event, status, attempts, created_at)
      values (${orgId}, ${deliveryId}, ${endpointId}, ${eventId}, ${event}, 'pending', 0, ${at})
      returning endpoint_id, created_at, event, null::text as was, status
    )
    ${updateCounts(tx, orgId)}`
  return { ...endpoint, id: deliveryId, endpoint_id: endpointId, event_id: eventId, event, attempt: 1, body }
}
