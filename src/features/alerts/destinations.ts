// Checks, stores and shows the destinations of alerts and digests. An address of Slack or Teams is a secret: it is the
// secret of an endpoint of its own, which belongs to the rule, so that messages go through the queue of deliveries.

import { type FieldProblem, validationError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { ISql } from '../../database/client.ts'
import { secretContext } from '../../webhooks/attempt.ts'
import { checkHost } from '../../webhooks/endpoint-check.ts'
import { deleteEndpointRow, insertEndpointRow } from '../../webhooks/endpoint-queries.ts'
import type { Egress } from '../../webhooks/http/egress.ts'
import type { Resolve } from '../../webhooks/http/resolve.ts'
import type { SecretBox } from '../../webhooks/signing/secret-box.ts'
import { lockSecretKey } from '../../webhooks/signing/secret-key-queries.ts'
import type { Destination, DestinationBody } from './destination-model.ts'

/** A destination as its rule has it: the address as it is shown, and the endpoint that has it. */
export type StoredDestination =
  | { type: 'webhook' }
  | { type: 'slack' | 'teams'; url: string; endpoint: string }

export interface DestinationDeps {
  box: SecretBox
  egress: Egress
  resolve: Resolve
}

const SHOWN = 4
const HIDDEN = '/…'

export const shownAddress = (url: string): string => `${new URL(url).origin}${HIDDEN}${url.slice(-SHOWN)}`

export const shownDestination = (stored: StoredDestination): Destination =>
  stored.type === 'webhook' ? stored : { type: stored.type, url: stored.url }

export const endpointsOf = (destinations: readonly StoredDestination[], type?: 'slack' | 'teams'): string[] =>
  destinations.flatMap((each) =>
    each.type !== 'webhook' && (type === undefined || each.type === type) ? each.endpoint : [],
  )

/** Finds the stored destination of each that is given; undefined for new ones. Each stored one is taken once. */
function matched(bodies: readonly DestinationBody[], stored: readonly StoredDestination[]) {
  const left = [...stored]
  return bodies.map(({ type, url }) => {
    const at = left.findIndex((each) => each.type === type && (each.type === 'webhook' || each.url === url))
    return at === -1 ? undefined : left.splice(at, 1)[0]
  })
}

/** Checks what the schema does not, and the hosts of new addresses. Throws VALIDATION_ERROR. */
export async function checkDestinations(
  { egress, resolve }: DestinationDeps,
  bodies: readonly DestinationBody[],
  stored: readonly StoredDestination[],
): Promise<void> {
  const matches = matched(bodies, stored)
  const problems = bodies.flatMap(({ type, url }, index): FieldProblem[] => {
    const field = `destinations[${index}].url`
    if (type === 'webhook') return url === undefined ? [] : [{ field, message: 'is not known with webhook' }]
    if (url === undefined) return [{ field, message: 'is required' }]
    if (matches[index] !== undefined) return []
    if (url.includes(HIDDEN)) return [{ field, message: 'must be the whole address: no such one is stored' }]
    const checked = egress.checkUrl(url)
    return 'problem' in checked ? [{ field, message: checked.problem }] : []
  })
  if (problems.length > 0) throw validationError(...problems)
  for (const [index, { url }] of bodies.entries())
    if (url !== undefined && matches[index] === undefined)
      await checkHost(url, egress, resolve, `destinations[${index}].url`)
}

/** Stores new addresses and removes those that are not there any more. Needs the organization's lock. */
export async function storeDestinations(
  tx: ISql,
  box: SecretBox,
  orgId: string,
  ruleId: string,
  bodies: readonly DestinationBody[],
  stored: readonly StoredDestination[],
): Promise<StoredDestination[]> {
  const matches = matched(bodies, stored)
  const destinations: StoredDestination[] = []
  for (const [index, { type, url = '' }] of bodies.entries()) {
    const match = matches[index]
    if (match !== undefined || type === 'webhook') {
      destinations.push(match ?? { type: 'webhook' })
      continue
    }
    await lockSecretKey(tx, box.digest)
    const endpoint = newId('dest')
    const shown = shownAddress(url)
    await insertEndpointRow(
      ...([tx, orgId, endpoint] as const),
      { url: shown, events: ['*'], enabled: true, description: null },
      { sealed: box.seal(url, secretContext(orgId, endpoint)), hint: url.slice(-SHOWN) },
      ruleId,
    )
    destinations.push({ type, url: shown, endpoint })
  }
  const endpoints = endpointsOf(destinations)
  for (const endpoint of endpointsOf(stored))
    if (!endpoints.includes(endpoint)) await deleteEndpointRow(tx, orgId, endpoint)
  return destinations
}
