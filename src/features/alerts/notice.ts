import { type Actor, recordEntries } from '../../accounts/audit-log/append.ts'
import type { ISql } from '../../database/client.ts'
import { attemptTest, type RedeliveryDeps } from '../../webhooks/deliveries/redelivery.ts'
import { bodyOf } from '../../webhooks/outbox/catalogue.ts'
import type { Attemptable } from '../../webhooks/outbox/claim.ts'
import { emit, findSubscribers, type NewEvent, sendTo } from '../../webhooks/outbox/events.ts'
import { insertTest } from '../../webhooks/outbox/insert-test.ts'
import type { RuleTest } from './destination-model.ts'
import { endpointsOf, type StoredDestination } from './destinations.ts'
import { BODIES, type Message } from './message.ts'
import type { Rule } from './rule-queries.ts'

/** The events of a rule for webhooks, and its one message for Slack and Teams. */
export interface Notice {
  events: NewEvent[]
  message: Message
}

/** Stores it for the destinations of the rule, in the transaction that causes it: it is sent after its commit. */
export async function send(
  tx: ISql,
  orgId: string,
  { id, definition: { destinations } }: Rule,
  { events, message }: Notice,
  now: Date,
): Promise<void> {
  const source = id
  if (destinations.some(({ type }) => type === 'webhook'))
    await emit(
      tx,
      orgId,
      now,
      events.map((event) => ({ ...event, source })),
    )
  const event = events[0]?.event
  if (event === undefined) return
  await sendTo(
    tx,
    orgId,
    now,
    (['slack', 'teams'] as const).flatMap((type) => {
      const endpoints = endpointsOf(destinations, type)
      return endpoints.length === 0 ? [] : [{ event, source, endpoints, bodyOf: () => BODIES[type](message) }]
    }),
  )
}

type Result = RuleTest['results'][number]

const UNHEARD: Result = {
  type: 'webhook',
  success: false,
  status_code: null,
  error: 'no enabled endpoint subscribes to the event',
}

/** Sends an example of what the rule tells to all its receivers, in one attempt each, and waits for their results. */
export async function testRule(
  deps: RedeliveryDeps,
  orgId: string,
  actor: Actor,
  { id: source, kind, definition: { destinations } }: Rule,
  { events: [first], message }: Notice,
): Promise<RuleTest> {
  const at = deps.now()
  if (first === undefined) return { results: [] }
  const { event, data } = first
  const tests = await deps.inTurn(orgId, async (tx) => {
    const subscribers = await findSubscribers(tx, orgId)
    const receiversOf = (each: StoredDestination) =>
      each.type === 'webhook' ? subscribers(event) : [each.endpoint]
    const made: { type: Result['type']; delivery: Attemptable | undefined }[] = []
    for (const destination of destinations) {
      const { type } = destination
      const endpoints = receiversOf(destination)
      if (endpoints.length === 0) made.push({ type, delivery: undefined })
      for (const endpoint of endpoints) {
        const bodyOfTest = (eventId: string) =>
          type === 'webhook' ? bodyOf(eventId, event, at, data) : BODIES[type](message)
        const test = { event, bodyOf: bodyOfTest, at, timeoutMs: deps.timeoutMs, source }
        made.push({ type, delivery: await insertTest(tx, orgId, endpoint, test) })
      }
    }
    await recordEntries(tx, orgId, actor, [{ action: `${kind}.tested`, details: { ids: [source] } }])
    return made
  })
  const results = tests.map(async ({ type, delivery }): Promise<Result> => {
    if (delivery === undefined) return UNHEARD
    const result = await attemptTest(deps, orgId, delivery)
    return { type, success: result.ok, status_code: result.statusCode, error: result.error }
  })
  return { results: await Promise.all(results) }
}
