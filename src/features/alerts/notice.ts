// Makes the events and messages of alerts and digests, and of their tests, and stores them for their receivers.

import { type Actor, recordEntry } from '../../accounts/audit-log/append.ts'
import { loadPriceHistory } from '../../analysis/scoring/base-prices.ts'
import { dayOf } from '../../base/dates.ts'
import type { PriceOverrides } from '../../base/model-prices.ts'
import type { ISql } from '../../database/client.ts'
import { attemptTest, type RedeliveryDeps } from '../../webhooks/deliveries/redelivery.ts'
import { type EventData, eventBody } from '../../webhooks/outbox/catalogue.ts'
import type { Attemptable } from '../../webhooks/outbox/claim.ts'
import { emit, findSubscribers, type NewEvent, sendTo } from '../../webhooks/outbox/events.ts'
import { insertTest } from '../../webhooks/outbox/insert-test.ts'
import { findChanges } from '../effects/find-changes.ts'
import { newlyFound } from '../effects/reports.ts'
import type { RuleTest } from './destination-model.ts'
import { endpointsOf, type StoredDestination } from './destinations.ts'
import { readDigest } from './digest-queries.ts'
import type { Clock, KeyNotice } from './evaluate.ts'
import { findNames } from './figure-queries.ts'
import { alertMessage, BODIES, digestMessage, MAX_KEYS, type Message } from './message.ts'
import type { Rule } from './rule-queries.ts'
import { readTop } from './value-queries.ts'

/** The events of a rule for webhooks, and its one message for Slack and Teams. */
export interface Notice {
  events: NewEvent[]
  message: Message
}

type AlertData = EventData['alert.fired']

/** When a notice is made, for whom it links to the dashboard, and whether it is an example. */
export interface At extends Clock {
  publicUrl: string | null
  /** MODEL_PRICES: the parts of effects depend on prices. */
  modelPrices?: PriceOverrides | undefined
  test?: true
}

/** Makes an event of each of an alert's keys that is told of, and one message of all. */
export async function alertNotice(
  sql: ISql,
  orgId: string,
  { id, definition }: Rule<'alert'>,
  notices: readonly KeyNotice[],
  { now, zone, publicUrl, test }: At,
): Promise<Notice> {
  const { name, metric, window } = definition
  const keys = notices.map(({ key }) => key)
  const tops = await readTop(sql, orgId, definition, keys, { now, zone })
  const data = notices
    .map(
      ({ key, state, value, threshold }): AlertData => ({
        ...{ alert_id: id, name, state, metric, value, threshold, window },
        ...{ key: key === '' ? null : key, top: tops.get(key) ?? [] },
        ...(test && { test }),
      }),
    )
    // keys that fire come first
    .toSorted((a, b) => Number(a.state === 'ok') - Number(b.state === 'ok'))
  const events = data.map(
    (each): NewEvent => ({ event: each.state === 'ok' ? 'alert.resolved' : 'alert.fired', data: each }),
  )
  const shown = data.slice(0, MAX_KEYS)
  const allKeys = shown.flatMap(({ key, top }) => [key, ...top.map((part) => part.key)])
  const names = await findNames(sql, orgId, allKeys)
  const nameOf = (key: string | null) => (key === null ? 'none' : (names.get(key) ?? key))
  return { events, message: alertMessage(definition, data, nameOf, publicUrl) }
}

/** Makes the event and the message of a digest of this time. */
export async function digestNotice(
  sql: ISql,
  orgId: string,
  { id, definition, last_sent_at }: Rule<'digest'>,
  { now, zone, publicUrl, modelPrices, test }: At,
): Promise<Notice> {
  const { data: week, previousQuality } = await readDigest(sql, orgId, id, dayOf(now, zone), zone)
  const prices = await loadPriceHistory(modelPrices)
  const deps = { sql, store: test ? null : sql, prices, now, find: findChanges }
  const effects = await newlyFound(deps, orgId, last_sent_at)
  const data = { ...week, effects, ...(test && { test }) }
  return {
    events: [{ event: 'digest.ready', data }],
    message: digestMessage(definition.name, data, previousQuality, publicUrl),
  }
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
  const ofRule = events.map((event) => ({ ...event, source }))
  if (destinations.some(({ type }) => type === 'webhook')) await emit(tx, orgId, now, ofRule)
  const event = events[0]?.event
  if (event === undefined) return
  const messages = (['slack', 'teams'] as const).flatMap((type) => {
    const endpoints = endpointsOf(destinations, type)
    return endpoints.length === 0 ? [] : [{ event, source, endpoints, bodyOf: () => BODIES[type](message) }]
  })
  await sendTo(tx, orgId, now, messages)
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
          type === 'webhook' ? eventBody(eventId, event, at, data) : BODIES[type](message)
        const test = { event, bodyOf: bodyOfTest, at, timeoutMs: deps.timeoutMs, source }
        made.push({ type, delivery: await insertTest(tx, orgId, endpoint, test) })
      }
    }
    await recordEntry(tx, orgId, actor, `${kind}.tested`, { ids: [source] })
    return made
  })
  const results = tests.map(async ({ type, delivery }): Promise<Result> => {
    if (delivery === undefined) return UNHEARD
    const result = await attemptTest(deps, orgId, delivery)
    return { type, success: result.ok, status_code: result.statusCode, error: result.error }
  })
  return { results: await Promise.all(results) }
}
