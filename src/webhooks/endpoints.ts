// Creates, changes and deletes endpoints, and rotates their secrets. Each is one transaction under the organization's lock,
// with an entry in the audit log.

import { randomBytes } from 'node:crypto'
import { type Actor, recordEntry } from '../accounts/audit-log/append.ts'
import { fieldError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { ISql } from '../database/client.ts'
import type { Change } from '../http/queues/gate.ts'
import { secretContext } from './attempt.ts'
import type { EndpointChange, NewEndpoint } from './endpoint-check.ts'
import {
  countEndpoints,
  deleteEndpointRow,
  dropPreviousSecret,
  getEndpoint,
  insertEndpointRow,
  noEndpoint,
  replaceSecret,
  updateEndpointRow,
} from './endpoint-queries.ts'
import { answerOnce, type Idempotency } from './idempotency-queries.ts'
import type { CreatedEndpoint, Endpoint, RotatedSecret } from './model.ts'
import type { SecretBox } from './signing/secret-box.ts'
import { lockSecretKey } from './signing/secret-key-queries.ts'

const SECRET_BYTES = 32
const HINT_LENGTH = 4

export interface EndpointDeps {
  inTurn: Change
  box: SecretBox
  /** Endpoints of an organization at most. */
  maxEndpoints: number
}

/** An endpoint's address for the audit log. Paths of some services are credentials: only whether there is one is shown. */
export function shownUrl(url: string): string {
  const { origin, pathname, search, hash } = new URL(url)
  return pathname + search + hash === '/' ? origin : `${origin}/…`
}

/** A new signing secret, `whsec_` and 32 random bytes in base64, and its stored form. */
export function makeSecret(box: SecretBox, orgId: string, id: string) {
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
  const sealed = box.seal(secret, secretContext(orgId, id))
  return { secret, stored: { sealed, hint: secret.slice(-HINT_LENGTH) } }
}

/** Adds an endpoint, once for an idempotency key. Throws VALIDATION_ERROR at the limit and for the key with another body. */
export async function createEndpoint(
  { inTurn, box, maxEndpoints }: EndpointDeps,
  orgId: string,
  actor: Actor,
  endpoint: NewEndpoint,
  idempotency: Idempotency | undefined,
  id = newId('hook'),
): Promise<CreatedEndpoint> {
  const create = async (tx: ISql) => {
    if ((await countEndpoints(tx, orgId)) >= maxEndpoints)
      throw fieldError(
        'body',
        `an organization has at most ${maxEndpoints} webhook endpoints; delete one first`,
      )
    await lockSecretKey(tx, box.digest)
    const { secret, stored } = makeSecret(box, orgId, id)
    await insertEndpointRow(tx, orgId, id, endpoint, stored)
    const { url, events, enabled } = endpoint
    await recordEntry(tx, orgId, actor, 'webhook.created', { ids: [id], url: shownUrl(url), events, enabled })
    return { ...(await getEndpoint(tx, orgId, id)), secret }
  }
  return await inTurn(orgId, (tx) => answerOnce(tx, box, orgId, idempotency, () => create(tx)))
}

/** Updates the fields that differ, if any. Throws NOT_FOUND. */
export async function updateEndpoint(
  { inTurn }: EndpointDeps,
  orgId: string,
  actor: Actor,
  id: string,
  change: EndpointChange,
): Promise<Endpoint> {
  return await inTurn(orgId, async (tx) => {
    const before = await getEndpoint(tx, orgId, id)
    const differing = Object.fromEntries(
      Object.entries(change).filter(
        ([field, value]) => !Bun.deepEquals(before[field as keyof Endpoint], value),
      ),
    ) satisfies EndpointChange
    if (Object.keys(differing).length === 0) return before
    await updateEndpointRow(tx, orgId, id, differing)
    const changed =
      change.url === undefined || differing.url === undefined
        ? differing
        : { ...differing, url: shownUrl(change.url) }
    const details = { ids: [id], url: shownUrl(before.url), changed }
    await recordEntry(tx, orgId, actor, 'webhook.updated', details)
    return await getEndpoint(tx, orgId, id)
  })
}

/** Deletes an endpoint and cancels its waiting deliveries. Throws NOT_FOUND. */
export async function deleteEndpoint({ inTurn }: EndpointDeps, orgId: string, actor: Actor, id: string) {
  await inTurn(orgId, async (tx) => {
    const { url } = await getEndpoint(tx, orgId, id)
    if (!(await deleteEndpointRow(tx, orgId, id))) throw noEndpoint()
    await recordEntry(tx, orgId, actor, 'webhook.deleted', { ids: [id], url: shownUrl(url) })
  })
}

/** Replaces the secret; the one that receivers have is valid for `graceS` more seconds. Throws NOT_FOUND. */
export async function rotateSecret(
  { inTurn, box }: EndpointDeps,
  orgId: string,
  actor: Actor,
  id: string,
  graceS: number,
): Promise<RotatedSecret> {
  return await inTurn(orgId, async (tx) => {
    const { url } = await getEndpoint(tx, orgId, id)
    await lockSecretKey(tx, box.digest)
    const { secret, stored } = makeSecret(box, orgId, id)
    const expiresAt = await replaceSecret(tx, orgId, id, stored, graceS)
    const details = { ids: [id], url: shownUrl(url), grace_period_seconds: graceS }
    await recordEntry(tx, orgId, actor, 'webhook.secret_rotated', details)
    return { id, secret, previous_secret_expires_at: expiresAt?.toISOString() ?? null }
  })
}

/** Ends the grace period of a rotation, if one is running. Throws NOT_FOUND. */
export async function finishRotation({ inTurn }: EndpointDeps, orgId: string, actor: Actor, id: string) {
  return await inTurn(orgId, async (tx) => {
    const { url } = await getEndpoint(tx, orgId, id)
    if (await dropPreviousSecret(tx, orgId, id))
      await recordEntry(tx, orgId, actor, 'webhook.rotation_finished', { ids: [id], url: shownUrl(url) })
    return { id, previous_secret_expires_at: null }
  })
}
