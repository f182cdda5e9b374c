// The catalogue as published in GET /v1/webhooks/events and in the API document.

import { Type } from '@sinclair/typebox'
import { Envelope, EVENT_NAMES, EVENTS, eventBody, type SentName, TEST_EVENT } from './outbox/catalogue.ts'

const EXAMPLE_ID = 'evt_0k3w9d2m'
const EXAMPLE_TIME = new Date('2026-01-31T12:34:56.789Z')

function published(name: SentName) {
  const { meaning, data, example } = name === TEST_EVENT.name ? TEST_EVENT : EVENTS[name]
  const schema = Type.Object({
    ...Envelope.properties,
    event: Type.Literal(name),
    type: Type.Literal(name),
    data,
  })
  const body = JSON.parse(eventBody(EXAMPLE_ID, name, EXAMPLE_TIME, example)) as Envelope
  return { name, meaning, schema: JSON.parse(JSON.stringify(schema)), example: body }
}

/** The events that endpoints may subscribe to, in the order in which they are shown. */
export const catalogue = { data: EVENT_NAMES.map(published) }

export const sentEvents = () => [...catalogue.data, published(TEST_EVENT.name)]
