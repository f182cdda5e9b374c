import { type Static, Type } from '@sinclair/typebox'
import { closed, component, nullable, optional, Timestamp } from '../../analysis/records/fields.ts'
import { choiceOf, oneOf, Paged, PageOf, UtcDateFrom, UtcDateTo } from '../../http/query.ts'
import { EVENT_NAMES, TEST_EVENT } from '../outbox/catalogue.ts'

const STATUSES = ['pending', 'pending_retry', 'success', 'failed', 'cancelled'] as const
export type DeliveryStatus = (typeof STATUSES)[number]

const MEANING_OF_STATUS =
  'pending: to be sent; pending_retry: failed, and sent again later; failed: given up; cancelled: its endpoint is gone'

export const DeliveryListQuery = Type.Object({
  ...Paged,
  status: choiceOf(STATUSES, 'Only deliveries in this state'),
  event: choiceOf([...EVENT_NAMES, TEST_EVENT.name], 'Only deliveries of this event'),
  date_from: UtcDateFrom,
  date_to: UtcDateTo,
})
export type DeliveryListQuery = Static<typeof DeliveryListQuery>

const statusCode = (description: string) => nullable(Type.Integer({ description, examples: [200] }))

const beginning = {
  id: Type.String({ description: 'Also in the header X-Service-Delivery', examples: ['dlv_8s2m'] }),
  event: Type.String({ examples: ['session.completed'] }),
  event_id: Type.String({ description: 'Also in the header webhook-id', examples: ['evt_0k3w'] }),
  status: oneOf(STATUSES, { description: MEANING_OF_STATUS, examples: ['success'] }),
}
const ending = {
  next_attempt_at: nullable(
    Timestamp('When it is sent next; null: it is finished, or an attempt is in flight'),
  ),
  last_status_code: statusCode('Of the latest attempt; null: no answer'),
  created_at: Timestamp('When the event happened; UTC, milliseconds'),
  completed_at: nullable(Timestamp('When it was finished')),
}

export const Delivery = component('Delivery', {
  ...beginning,
  attempts: Type.Integer({ minimum: 0, description: 'Attempts begun', examples: [1] }),
  ...ending,
})
export type Delivery = Static<typeof Delivery>
export const DeliveryPage = PageOf(Delivery)

const Attempt = component('Attempt', {
  number: Type.Integer({ minimum: 1, examples: [1] }),
  started_at: Timestamp('When it was begun'),
  duration_ms: nullable(Type.Integer({ description: 'null: it is not known how it ended', examples: [84] })),
  status_code: statusCode('null: no answer'),
  error: nullable(Type.String({ description: 'What went wrong', examples: [null] })),
  response_body: nullable(Type.String({ description: 'The first 1 KiB of the answer', examples: ['ok'] })),
})

export const DeliveryDetail = component('DeliveryDetail', {
  ...beginning,
  attempts: Type.Array(Attempt, { description: 'Those that have ended, from the first' }),
  ...ending,
  request: closed({
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'As at the latest attempt; signatures are hidden',
      examples: [{ 'X-Service-Event': 'session.completed', 'X-Service-Signature-256': 'sha256=***' }],
    }),
    body: Type.String({
      description: 'What is sent, to the byte',
      examples: ['{"id":"evt_0k3w","event":"session.completed"}'],
    }),
  }),
})
export type DeliveryDetail = Static<typeof DeliveryDetail>

export const TestBody = closed(
  {
    event: choiceOf(EVENT_NAMES, "Send this event's example instead of `webhook.test`"),
  },
  { title: 'WebhookTest', examples: [{}] },
)
export type TestBody = Static<typeof TestBody>

export const TestResponse = component('WebhookTestResult', {
  delivery_id: Type.String({ examples: ['dlv_8s2m'] }),
  event: Type.String({ examples: ['webhook.test'] }),
  success: Type.Boolean({ description: 'The receiver answered with 2xx' }),
  status_code: statusCode('null: no answer'),
  duration_ms: Type.Integer({ minimum: 0, examples: [84] }),
  error: nullable(Type.String({ description: 'What went wrong', examples: [null] })),
  response_body: nullable(Type.String({ description: 'The first 1 KiB of the answer', examples: ['ok'] })),
})
export type TestResponse = Static<typeof TestResponse>

export const RecoverBody = closed(
  {
    since: Timestamp('Deliveries made from then on'),
    until: optional(Timestamp('and before then; now unless given')),
    dry_run: optional(Type.Boolean({ description: 'Only count them', examples: [true] })),
  },
  {
    title: 'Recovery',
    examples: [{ since: '2026-01-31T00:00:00Z', until: '2026-02-01T00:00:00Z', dry_run: true }],
  },
)
export type RecoverBody = Static<typeof RecoverBody>

export const RecoverResponse = component('RecoveryResult', {
  count: Type.Integer({ minimum: 0, description: 'Deliveries that are sent again', examples: [17] }),
})
export type RecoverResponse = Static<typeof RecoverResponse>
