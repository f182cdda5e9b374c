import { newOrderedId } from '../../src/base/ids.ts'
import { eventBody } from '../../src/webhooks/outbox/catalogue.ts'

// Each contender delivers the same event with the same data.

export const EVENT = 'session.completed'
/** The endpoint's signing secret. */
export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** A delivery as the data of a rival's job; it contains the secret in plain text, where ours is encrypted. */
export interface Job {
  url: string
  secret: string
  deliveryId: string
  eventId: string
  event: string
  body: string
}

/** Data of the `at`th event; its body has some 300 bytes. */
export const dataOf = (at: number) => ({
  session_id: `sess_bench${String(at).padStart(12, '0')}`,
  project_name: `platform-engineering/services/billing-and-invoices/project-${String(at % 20).padStart(2, '0')}`,
  quality_score: 87.25,
})

/** The delivery of the `at`th event to `url`. */
export function jobOf(url: string, at: number): Job {
  const now = new Date()
  const eventId = newOrderedId('evt', now)
  const body = eventBody(eventId, EVENT, now, dataOf(at))
  return { url, secret: SECRET, deliveryId: newOrderedId('dlv', now), eventId, event: EVENT, body }
}
