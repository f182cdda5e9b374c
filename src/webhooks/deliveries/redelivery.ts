// Tests endpoints and delivers again on request, each with an entry in the audit log.

import { type Actor, recordEntry } from '../../accounts/audit-log/append.ts'
import { microsOf, timestampOf } from '../../base/dates.ts'
import { fieldError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Sql } from '../../database/client.ts'
import type { Change } from '../../http/queues/gate.ts'
import { type AttemptDeps, makeAttempt } from '../attempt.ts'
import { getEndpoint, noEndpoint } from '../endpoint-queries.ts'
import { EVENTS, type EventName, eventBody, TEST_EVENT } from '../outbox/catalogue.ts'
import type { Attemptable } from '../outbox/claim.ts'
import { wakeWorker } from '../outbox/events.ts'
import { insertTest } from '../outbox/insert-test.ts'
import {
  countUndelivered,
  redeliverOne,
  redeliverSpan,
  retryWaiting,
  type Span,
} from '../outbox/redeliver.ts'
import { settle } from '../outbox/settle.ts'
import { getDelivery } from './history-queries.ts'
import type { Delivery, RecoverBody, RecoverResponse, TestResponse } from './model.ts'

const MESSAGE = 'This is a test event. Your endpoint receives webhooks.'

export interface RedeliveryDeps extends AttemptDeps {
  /** Connections for transactions. */
  writes: Sql
  now: () => Date
  /** An attempt may take this long. */
  timeoutMs: number
  retryDelaysS: readonly number[]
  inTurn: Change
  log: Log
}

/** Sends a test or an event's example in one attempt, also when disabled, and waits for it. Throws NOT_FOUND. */
export async function testEndpoint(
  deps: RedeliveryDeps,
  orgId: string,
  actor: Actor,
  id: string,
  event: EventName | undefined,
): Promise<TestResponse> {
  const { now, timeoutMs } = deps
  const at = now()
  const name = event ?? TEST_EVENT.name
  const bodyOfTest = (eventId: string) =>
    event === undefined
      ? eventBody(eventId, TEST_EVENT.name, at, { webhook_id: id, test: true, message: MESSAGE })
      : eventBody(eventId, event, at, EVENTS[event].example, true)
  const delivery = await deps.inTurn(orgId, async (tx) => {
    const test = await insertTest(tx, orgId, id, { event: name, bodyOf: bodyOfTest, at, timeoutMs })
    if (test === undefined) throw noEndpoint()
    await recordEntry(tx, orgId, actor, 'webhook.tested', { ids: [id, test.id], event: name })
    return test
  })
  const result = await attemptTest(deps, orgId, delivery)
  return {
    delivery_id: delivery.id,
    event: name,
    success: result.ok,
    status_code: result.statusCode,
    duration_ms: Math.round(result.durationMs),
    error: result.error,
    response_body: result.responseBody,
  }
}

export async function attemptTest(deps: RedeliveryDeps, orgId: string, delivery: Attemptable) {
  const { id: deliveryId, endpoint_id: endpointId, attempt } = delivery
  const result = await makeAttempt(deps, orgId, delivery)
  const { writes, retryDelaysS, log } = deps
  await settle(writes, orgId, [{ deliveryId, endpointId, attempt, result }], retryDelaysS, log)
  return result
}

/** Records what made deliveries due, and wakes the worker. */
async function noteDue(...entry: Parameters<typeof recordEntry>): Promise<void> {
  const [tx, orgId] = entry
  await recordEntry(...entry)
  await wakeWorker(tx, orgId)
}

/** Makes a delivery due now: a finished one gets one more attempt, a waiting one keeps its retries. Throws NOT_FOUND. */
export async function redeliver(
  { inTurn }: Pick<RedeliveryDeps, 'inTurn'>,
  orgId: string,
  actor: Actor,
  endpointId: string,
  id: string,
): Promise<Delivery> {
  return await inTurn(orgId, async (tx) => {
    await getEndpoint(tx, orgId, endpointId)
    if (await redeliverOne(tx, orgId, endpointId, id))
      await noteDue(tx, orgId, actor, 'webhook.redelivered', { ids: [endpointId, id] })
    return await getDelivery(tx, orgId, endpointId, id)
  })
}

/** Makes every delivery that waits for a retry due now. Throws NOT_FOUND. */
export async function retryAll(
  { inTurn }: Pick<RedeliveryDeps, 'inTurn'>,
  orgId: string,
  actor: Actor,
  endpointId: string,
): Promise<RecoverResponse> {
  return await inTurn(orgId, async (tx) => {
    await getEndpoint(tx, orgId, endpointId)
    const count = await retryWaiting(tx, orgId, endpointId)
    if (count > 0) await noteDue(tx, orgId, actor, 'webhook.retried', { ids: [endpointId], count })
    return { count }
  })
}

/** A time given in a request, in UTC with microseconds, as the database has it. */
const instant = (text: string): string => timestampOf(microsOf(text))

/** Throws VALIDATION_ERROR when the span ends before it begins. */
function spanOf({ since, until }: RecoverBody, now: Date): Span {
  const span = { since: instant(since), until: typeof until === 'string' ? instant(until) : null }
  if (span.since > (span.until ?? now.toISOString())) {
    const message = span.until === null ? 'must not be in the future' : 'must not be after until'
    throw fieldError('since', message)
  }
  return span
}

/** Makes all failed and cancelled deliveries of a span due now. Throws NOT_FOUND and VALIDATION_ERROR. */
export async function recover(
  deps: Pick<RedeliveryDeps, 'inTurn' | 'writes' | 'now'>,
  orgId: string,
  actor: Actor,
  endpointId: string,
  body: RecoverBody,
): Promise<RecoverResponse> {
  const span = spanOf(body, deps.now())
  if (body.dry_run === true) {
    await getEndpoint(deps.writes, orgId, endpointId)
    return { count: await countUndelivered(deps.writes, orgId, endpointId, span) }
  }
  return await deps.inTurn(orgId, async (tx) => {
    await getEndpoint(tx, orgId, endpointId)
    const count = await redeliverSpan(tx, orgId, endpointId, span)
    const details = { ids: [endpointId], ...span, count }
    if (count > 0) await noteDue(tx, orgId, actor, 'webhook.recovered', details)
    return { count }
  })
}
