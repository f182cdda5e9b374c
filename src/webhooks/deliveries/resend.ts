import { type Actor, recordEntries } from '../../audit/log/append.ts'
import { microsOf, timestampOf } from '../../dates.ts'
import type { Sql } from '../../db/client.ts'
import { validationError } from '../../errors.ts'
import { newOrderedId } from '../../ids.ts'
import type { EnqueueWrite } from '../../organizations/queue.ts'
import { type AttemptDeps, makeAttempt } from '../attempt.ts'
import { changing } from '../manage.ts'
import { bodyOf, EVENTS, type EventName, TEST_EVENT } from '../outbox/catalogue.ts'
import { leaseMsOf } from '../outbox/queue.ts'
import { settle } from '../outbox/settle.ts'
import { getEndpoint, wakeWorker } from '../queries.ts'
import { getDelivery } from './history-queries.ts'
import type { Delivery, RecoverAnswer, RecoverBody, TestAnswer } from './model.ts'
import { countUndelivered, insertTest, resend, resendUndelivered, type Span } from './queries.ts'

// Deliveries that somebody asks for, each with its entry in the audit log.

const MESSAGE = 'This is a test event. Your endpoint receives webhooks.'

export interface ResendDeps extends AttemptDeps {
  /** For transactions. */
  writes: Sql
  now: () => Date
  /** Of an attempt. */
  timeoutMs: number
  retryDelaysS: readonly number[]
  enqueueWrite: EnqueueWrite
}

/**
 * Sends the test event, or the example of another, to the endpoint, once, and waits for how that ends; also when it is
 * disabled. Goes on when the client leaves: the delivery stays in the history. Throws NOT_FOUND.
 */
export async function testEndpoint(
  deps: ResendDeps,
  orgId: string,
  actor: Actor,
  id: string,
  event: EventName | undefined,
): Promise<TestAnswer> {
  const at = deps.now()
  const eventId = newOrderedId('evt', at)
  const deliveryId = newOrderedId('dlv', at)
  const name = event ?? TEST_EVENT.name
  const body =
    event === undefined
      ? bodyOf(eventId, TEST_EVENT.name, at, { webhook_id: id, test: true, message: MESSAGE })
      : bodyOf(eventId, event, at, EVENTS[event].example)
  const delivery = await deps.enqueueWrite(orgId, () =>
    changing(deps.writes, orgId, async (tx) => {
      const leaseMs = leaseMsOf(deps.timeoutMs)
      const made = await insertTest(tx, orgId, id, { deliveryId, eventId, event: name, body, at, leaseMs })
      const details = { ids: [id, deliveryId], event: name }
      await recordEntries(tx, orgId, actor, [{ action: 'webhook.tested', details }])
      return made
    }),
  )
  const result = await makeAttempt(deps, orgId, delivery)
  await settle(
    deps.writes,
    orgId,
    [{ deliveryId, endpointId: id, attempt: delivery.attempt, result }],
    deps.retryDelaysS,
  )
  return {
    delivery_id: deliveryId,
    event: name,
    success: result.ok,
    status_code: result.statusCode,
    duration_ms: Math.round(result.durationMs),
    error: result.error,
    response_body: result.responseBody,
  }
}

/**
 * Sends a delivery again, now: a finished one once, a waiting one without losing its retries; one in flight is left as
 * it is. Throws NOT_FOUND.
 */
export async function redeliver(
  { writes, enqueueWrite }: Pick<ResendDeps, 'writes' | 'enqueueWrite'>,
  orgId: string,
  actor: Actor,
  endpointId: string,
  id: string,
): Promise<Delivery> {
  return await enqueueWrite(orgId, () =>
    changing(writes, orgId, async (tx) => {
      await getEndpoint(tx, orgId, endpointId)
      if (await resend(tx, orgId, endpointId, id)) {
        const details = { ids: [endpointId, id] }
        await recordEntries(tx, orgId, actor, [{ action: 'webhook.redelivered', details }])
        await wakeWorker(tx, orgId)
      }
      return await getDelivery(tx, orgId, endpointId, id)
    }),
  )
}

/** A time of a request, which knows microseconds as the database does, in UTC. */
const instant = (text: string): string => timestampOf(microsOf(text))

/** The span of a request. Throws VALIDATION_ERROR when it ends before it begins. */
function spanOf({ since, until }: RecoverBody, now: Date): Span {
  const span = { since: instant(since), until: typeof until === 'string' ? instant(until) : null }
  if (span.since > (span.until ?? now.toISOString())) {
    const message = span.until === null ? 'must not be in the future' : 'must not be after until'
    throw validationError({ field: 'since', message })
  }
  return span
}

/** Sends all deliveries of a span again that were given up or cancelled. Throws NOT_FOUND and VALIDATION_ERROR. */
export async function recover(
  deps: ResendDeps,
  orgId: string,
  actor: Actor,
  endpointId: string,
  body: RecoverBody,
): Promise<RecoverAnswer> {
  const span = spanOf(body, deps.now())
  if (body.dry_run === true) {
    await getEndpoint(deps.writes, orgId, endpointId)
    return { count: await countUndelivered(deps.writes, orgId, endpointId, span) }
  }
  return await deps.enqueueWrite(orgId, () =>
    changing(deps.writes, orgId, async (tx) => {
      await getEndpoint(tx, orgId, endpointId)
      const count = await resendUndelivered(tx, orgId, endpointId, span)
      if (count > 0) {
        const details = { ids: [endpointId], since: span.since, until: span.until, count }
        await recordEntries(tx, orgId, actor, [{ action: 'webhook.recovered', details }])
        await wakeWorker(tx, orgId)
      }
      return { count }
    }),
  )
}
