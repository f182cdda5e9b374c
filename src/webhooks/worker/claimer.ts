// Claims due deliveries while slots are free: one claim at a time, organizations in rotation.

import { messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { ClaimedDelivery, ClaimLimits, Cursors } from '../outbox/claim.ts'
import type { Slots } from './slots.ts'

/** Deliveries in one claim at most: they are sent and settled while the next claim runs. */
const MAX_CLAIM = 128
const RETRY_MS = 200

export interface ClaimerDeps {
  claim: (orgId: string, limits: ClaimLimits, cursors: Cursors) => Promise<ClaimedDelivery[]>
  slots: Slots
  /** Deliveries in flight to one endpoint at most, over all instances. */
  endpointConcurrency: number
  leaseMs: number
  /** Called with deliveries whose slots are taken. */
  onClaimed: (orgId: string, claimed: readonly ClaimedDelivery[]) => void
  log: Log
}

export function createClaimer({ slots, log, ...deps }: ClaimerDeps) {
  /** Organizations to claim for, in the order they were added. */
  const queue = new Set<string>()
  const cursorsOf = new Map<string, Map<string, string>>()
  let pausedUntilMs = 0
  let isStopped = false
  let running: Promise<void> | undefined

  const claimFor = async (orgId: string) => {
    const limit = Math.min(MAX_CLAIM, slots.shareOf(orgId))
    // the organization is added again by its next settlement or by the next poll
    if (limit === 0) return
    const laterLimit = Math.min(limit, slots.shareOfRetries())
    const { endpointConcurrency: endpointLimit, leaseMs } = deps
    const cursors = cursorsOf.get(orgId) ?? new Map<string, string>()
    // set before the claim, so that a reset during the claim removes these cursors too
    cursorsOf.set(orgId, cursors)
    const claimed = await deps.claim(orgId, { limit, laterLimit, endpointLimit, leaseMs }, cursors)
    for (const { endpoint_id, due_at } of claimed)
      if (due_at !== null && due_at > (cursors.get(endpoint_id) ?? '')) cursors.set(endpoint_id, due_at)
    for (const { is_first } of claimed) slots.take(orgId, is_first)
    deps.onClaimed(orgId, claimed)
    // retries that got no slot are due before the claimed deliveries: the cursors would skip them
    if (claimed.filter(({ is_first }) => !is_first).length >= laterLimit) cursorsOf.delete(orgId)
    // a full claim may have left due deliveries; one of MAX_CLAIM may be smaller by the part reserved for
    // idle endpoints
    if (claimed.length === limit || (limit === MAX_CLAIM && claimed.length > 0)) queue.add(orgId)
  }
  const mayClaim = () => !isStopped && queue.size > 0 && !slots.isFull() && performance.now() >= pausedUntilMs
  const claimAll = async () => {
    while (mayClaim()) {
      const [orgId] = queue
      if (orgId === undefined) return
      queue.delete(orgId)
      try {
        await claimFor(orgId)
      } catch (error) {
        log.rarely('warn', 'deliveries could not be claimed; trying again', {
          org_id: orgId,
          error: messageOf(error),
        })
        await Bun.sleep(RETRY_MS)
        queue.add(orgId)
      }
    }
  }
  const run = () => {
    if (running !== undefined || !mayClaim()) return
    running = claimAll().finally(() => {
      running = undefined
      // organizations may have been added after the last check
      run()
    })
  }
  return {
    /** Adds an organization that may have due deliveries. */
    add(orgId: string) {
      if (isStopped) return
      queue.add(orgId)
      run()
    },
    /** Claims nothing for `ms`. */
    pause(ms: number) {
      pausedUntilMs = performance.now() + ms
      setTimeout(run, ms)
    },
    /** The next claims search from the first waiting delivery again, since a retry may be due earlier. */
    resetCursors: () => cursorsOf.clear(),
    /** Claims nothing more; resolves when no claim is running. */
    async stop() {
      isStopped = true
      await running
    },
  }
}
