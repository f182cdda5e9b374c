// Makes one attempt to deliver: opens the secret, signs and sends.

import type { AttemptResult } from './http/attempt-result.ts'
import type { Sender } from './http/sender.ts'
import type { Attemptable } from './outbox/claim.ts'
import type { SecretBox } from './signing/secret-box.ts'
import { signedHeaders, USER_AGENT } from './signing/signature.ts'

export interface AttemptDeps {
  box: Pick<SecretBox, 'open'>
  sender: Pick<Sender, 'send'>
  /** WEBHOOK_HEADER_PREFIX */
  prefix: string
}

/** The encryption context of an endpoint's secret: it cannot be decrypted in another endpoint's row. */
export const secretContext = (orgId: string, endpointId: string): string => `${orgId}/${endpointId}`

/** The ids of endpoints of alerts and digests begin so: the secret of one is its address, and what is sent there is not signed. */
const OF_RULES = 'dest_'

/** One attempt: signs the stored body with the endpoint's current secrets and sends it. Never rejects. */
export async function makeAttempt(
  { box, sender, prefix }: AttemptDeps,
  orgId: string,
  delivery: Attemptable,
): Promise<AttemptResult> {
  const { id: deliveryId, endpoint_id, event_id: eventId, event, attempt, body } = delivery
  const at = new Date()
  const context = secretContext(orgId, endpoint_id)
  const isOfRule = endpoint_id.startsWith(OF_RULES)
  let { url } = delivery
  let headers: Record<string, string> = { 'Content-Type': 'application/json', 'User-Agent': USER_AGENT }
  try {
    const secret = box.open(delivery.secret, context)
    const previousSecret = delivery.previous_secret && box.open(delivery.previous_secret, context)
    const signed = { prefix, secret, previousSecret, eventId, event, deliveryId, attempt, body, at }
    if (isOfRule) url = secret
    else headers = signedHeaders(signed)
  } catch {
    // the cause is left out, since it could contain the secret
    const error = isOfRule
      ? 'secret: the address cannot be decrypted; give it again, or give the server its SECRET_KEY'
      : 'secret: the signing secret cannot be decrypted; rotate it, or give the server its SECRET_KEY'
    const nothing = { ok: false, refused: false, postponed: false, statusCode: null, responseBody: null }
    return { ...nothing, startedAt: at, durationMs: 0, error }
  }
  return await sender.send({ url, headers, body })
}
