import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Claimed, ClaimLimits, Cursors } from '../webhooks/outbox/claim.ts'
import type { Slots } from './slots.ts'

/** In one claim at most: the first are sent and settled while the next are claimed. */
const MAX_CLAIM = 128
const RETRY_MS = 200

export interface ClaimerDeps {
  claim: (orgId: string, limits: ClaimLimits, cursors: Cursors) => Promise<Claimed[]>
  slots: Slots
  /** In flight of one endpoint, over all instances. */
  endpointConcurrency: number
  leaseMs: number
  /** Called with deliveries whose slots are taken. */
  onClaimed: (orgId: string, claimed: readonly Claimed[]) => void
  log: Log
}

/** Claims deliveries while slots are free: one claim at a time, organizations in rotation. */
interface Claimer {
  /** Claims for this organization too. */
  add(orgId: string): void
  /** Claims nothing for so long. */
  pause(ms: number): void
  /** Searches from the first waiting delivery again: a retry may be due before what was claimed last. */
  resetCursors(): void
  /** Claims nothing more; resolves when no claim is running. */
  stop(): Promise<void>
}

export function createClaimer({ slots, log, ...deps }: ClaimerDeps): Claimer {
  /** Organizations to claim for, in the order they were added. */
  const due = new Set<string>()
  const cursorsOf = new Map<string, Map<string, string>>()
  let pausedUntilMs = 0
  let isStopped = false
  let running: Promise<void> | undefined

  const claimFor = async (orgId: string) => {
    const limit = Math.min(MAX_CLAIM, slots.shareOf(orgId))
    // its next settlement adds it again, or the next poll
    if (limit === 0) return
    const laterLimit = Math.min(limit, slots.shareOfRetries())
    const { endpointConcurrency: endpointLimit, leaseMs } = deps
    const cursors = cursorsOf.get(orgId) ?? new Map<string, string>()
    // before the claim: a reset that happens meanwhile must hold for these cursors too
    cursorsOf.set(orgId, cursors)
    const claimed = await deps.claim(orgId, { limit, laterLimit, endpointLimit, leaseMs }, cursors)
    for (const { endpoint_id, due_at } of claimed) {
      if (due_at !== null && due_at > (cursors.get(endpoint_id) ?? '')) cursors.set(endpoint_id, due_at)
    }
    for (const { is_first } of claimed) slots.take(orgId, is_first)
    deps.onClaimed(orgId, claimed)
    // retries that found no slot are due before what was claimed
    if (claimed.filter(({ is_first }) => !is_first).length >= laterLimit) cursorsOf.delete(orgId)
    // a full claim may have left some; one of MAX_CLAIM may be short of slots that it keeps for idle endpoints
    if (claimed.length === limit || (limit === MAX_CLAIM && claimed.length > 0)) due.add(orgId)
  }
  const mayClaim = () => !isStopped && due.size > 0 && !slots.isFull() && performance.now() >= pausedUntilMs
  const claimAll = async () => {
    while (mayClaim()) {
      const [orgId] = due
      if (orgId === undefined) return
      due.delete(orgId)
      try {
        await claimFor(orgId)
      } catch (error) {
        log.warn('deliveries could not be claimed; trying again', {
          org_id: orgId,
          error: messageOf(error),
        })
        await Bun.sleep(RETRY_MS)
        due.add(orgId)
      }
    }
  }
  const run = () => {
    if (running !== undefined || !mayClaim()) return
    running = claimAll().finally(() => {
      running = undefined
      // what was added after the last check
      run()
    })
  }
  return {
    add(orgId) {
      if (isStopped) return
      due.add(orgId)
      run()
    },
    pause(ms) {
      pausedUntilMs = performance.now() + ms
      setTimeout(run, ms)
    },
    resetCursors: () => cursorsOf.clear(),
    async stop() {
      isStopped = true
      await running
    },
  }
}
