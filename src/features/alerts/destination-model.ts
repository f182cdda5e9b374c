// Schemas of the destinations of alerts and digests (webhooks, Slack, Teams), of their deliveries and tests.

import { type Static, Type } from '@sinclair/typebox'
import { closed, component, Flag, Integer, nullable, Text } from '../../analysis/records/fields.ts'
import { oneOf } from '../../http/query.ts'
import { Delivery, DeliveryDetail } from '../../webhooks/deliveries/model.ts'
import { MAX_URL_LENGTH } from '../../webhooks/http/egress.ts'

const type = oneOf(['webhook', 'slack', 'teams'], {
  description: 'webhook: every endpoint that subscribes to the event',
  examples: ['slack'],
})

export const Destination = component('Destination', {
  type,
  url: Type.Optional(Text('Of Slack and Teams: only its last 4 characters', 'https://hooks.slack.com/…x7Yz')),
})
export type Destination = Static<typeof Destination>

export const DestinationBody = component('NewDestination', {
  type,
  url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_URL_LENGTH,
      description:
        'Of Slack the address of an incoming webhook, of Teams that of a workflow; sent back as it is shown it stays',
      examples: ['https://hooks.slack.com/services/T000/B000/x7Yz'],
    }),
  ),
})
export type DestinationBody = Static<typeof DestinationBody>

const test = Flag('Whether it was only a test', false)
export const RuleDelivery = component('NotificationDelivery', { ...Delivery.properties, test })
export type RuleDelivery = Static<typeof RuleDelivery>
export const RuleDeliveryDetail = component('NotificationDeliveryDetail', {
  ...DeliveryDetail.properties,
  request: closed({ body: DeliveryDetail.properties.request.properties.body }),
  test,
})
export type RuleDeliveryDetail = Static<typeof RuleDeliveryDetail>

export const RuleTest = component('NotificationTest', {
  results: Type.Array(
    closed({
      type,
      success: Flag('The receiver answered with 2xx'),
      status_code: nullable(Integer('null: no answer', 200)),
      error: nullable(Type.String({ examples: [null] })),
    }),
    { description: 'Of each receiver' },
  ),
})
export type RuleTest = Static<typeof RuleTest>
