import type { AttemptResult } from './http/attempt-result.ts'
import type { Sender } from './http/sender.ts'
import type { Attemptable } from './outbox/claim.ts'
import type { SecretBox } from './signing/secret-box.ts'
import { signedHeaders } from './signing/signature.ts'

export interface AttemptDeps {
  box: Pick<SecretBox, 'open'>
  sender: Pick<Sender, 'send'>
  /** WEBHOOK_HEADER_PREFIX */
  prefix: string
}

/** The encryption context of an endpoint's secret: it cannot be decrypted in another endpoint's row. */
export const secretContext = (orgId: string, endpointId: string): string => `${orgId}/${endpointId}`

/** One attempt: signs the stored body with the endpoint's current secrets and sends it. Never rejects. */
export async function makeAttempt(
  { box, sender, prefix }: AttemptDeps,
  orgId: string,
  delivery: Attemptable,
): Promise<AttemptResult> {
  const at = new Date()
  const context = secretContext(orgId, delivery.endpoint_id)
  let headers: Record<string, string>
  try {
    headers = signedHeaders({
      prefix,
      secret: box.open(delivery.secret, context),
      previousSecret: delivery.previous_secret === null ? null : box.open(delivery.previous_secret, context),
      eventId: delivery.event_id,
      event: delivery.event,
      deliveryId: delivery.id,
      attempt: delivery.attempt,
      body: delivery.body,
      at,
    })
  } catch {
    // the cause is left out, since it could contain the secret
    const error =
      'secret: the signing secret cannot be decrypted; rotate it, or give the server its SECRET_KEY'
    const nothing = { ok: false, refused: false, postponed: false, statusCode: null, responseBody: null }
    return { ...nothing, startedAt: at, durationMs: 0, error }
  }
  return await sender.send({ url: delivery.url, headers, body: delivery.body })
}
