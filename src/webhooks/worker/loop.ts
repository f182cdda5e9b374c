// Runs the worker's loop: polls, claims, attempts, stores results.

import { messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { withTimeout } from '../../base/timing.ts'
import type { AttemptResult } from '../http/attempt-result.ts'
import { type ClaimedDelivery, PACE_MS } from '../outbox/claim.ts'
import type { Outcome } from '../outbox/settle.ts'
import { type ClaimerDeps, createClaimer } from './claimer.ts'
import { createResultBatcher } from './result-batcher.ts'
import { createSlots } from './slots.ts'

/** Retries are found by polling only: at most every POLL_MS, at least every MAX_POLL_MS. */
const POLL_MS = 500
const MAX_POLL_MS = 2_000
/** The pause after a query, in durations of the query, which takes 62 ms with 2,000 organizations. */
const PAUSE_FACTOR = 20

interface PollerDeps {
  findDueOrganizations: () => Promise<string[]>
  onFound: (orgIds: readonly string[]) => void
  log: Log
}

/** Looks for organizations with due deliveries until `stop`. */
export function startPoller({ findDueOrganizations, onFound, log }: PollerDeps) {
  let isStopped = false
  let wake = Promise.withResolvers<void>()
  const run = async () => {
    while (!isStopped) {
      wake = Promise.withResolvers()
      const startedMs = performance.now()
      // a failure is followed by this pause too: its duration is not that of a query
      let pauseMs = POLL_MS
      try {
        onFound(await findDueOrganizations())
        const tookMs = performance.now() - startedMs
        pauseMs = Math.min(Math.max(POLL_MS, PAUSE_FACTOR * tookMs), MAX_POLL_MS)
      } catch (error) {
        log.rarely('warn', 'cannot look for deliveries that are due; trying again', {
          error: messageOf(error),
        })
      }
      await withTimeout(wake.promise, pauseMs, undefined)
    }
  }
  void run()
  return {
    /** Looks at once; while it looks already, once more after that. */
    look: () => wake.resolve(),
    stop() {
      isStopped = true
      wake.resolve()
    },
  }
}

const CHUNK = 8

/** Calls `start` for each item, CHUNK in each turn of the event loop: 64 at once delay others by some 4 ms. */
export function startInChunks<Item>(start: (item: Item) => void): (items: readonly Item[]) => void {
  let waiting: Item[] = []
  const startChunk = () => {
    const chunk = waiting.slice(0, CHUNK)
    waiting = waiting.slice(CHUNK)
    // before the calls: `start` may add items
    if (waiting.length > 0) setImmediate(startChunk)
    for (const item of chunk) start(item)
  }
  return (items) => {
    if (items.length === 0) return
    const isIdle = waiting.length === 0
    waiting.push(...items)
    if (isIdle) setImmediate(startChunk)
  }
}

// The delivery loop: the poller and notifications say which organizations have due deliveries, the claimer
// claims as many as there are slots, each is attempted, and the result batcher settles the results.

/** A delivery waits this long when no socket was left to send it; nothing is claimed meanwhile. */
const POSTPONE_MS = 1_000
const RELEASE_RETRY_MS = 200

interface LoopDeps
  extends Pick<ClaimerDeps, 'claim' | 'endpointConcurrency' | 'leaseMs'>,
    Pick<PollerDeps, 'findDueOrganizations'> {
  attempt: (orgId: string, delivery: ClaimedDelivery) => Promise<AttemptResult>
  settle: (orgId: string, outcomes: readonly Outcome[]) => Promise<string[]>
  /** Ends the lease of a delivery of which nothing was sent. */
  release: (orgId: string, outcome: Outcome, delayMs: number) => Promise<void>
  /** Deliveries in flight at most. */
  concurrency: number
  log: Log
}

/** An outcome that holds a slot until it is settled. */
interface HeldOutcome extends Outcome {
  isFirst: boolean
}

/** Starts delivering. `deps` must not throw synchronously; rejections are logged and tried again. */
export function startLoop(deps: LoopDeps) {
  const { log } = deps
  const slots = createSlots(deps.concurrency)
  const startAttempts = startInChunks(({ orgId, delivery }: { orgId: string; delivery: ClaimedDelivery }) => {
    void attempt(orgId, delivery)
  })
  const claimer = createClaimer({
    ...deps,
    slots,
    onClaimed: (orgId, claimed) => startAttempts(claimed.map((delivery) => ({ orgId, delivery }))),
  })
  const poller = startPoller({
    ...deps,
    onFound(orgIds) {
      claimer.resetCursors()
      for (const orgId of orgIds) claimer.add(orgId)
    },
  })
  const addResult = createResultBatcher<HeldOutcome>({
    settle: deps.settle,
    onSettled(orgId, outcomes) {
      // all slots before the next claim, so that it can take as many deliveries
      for (const { isFirst } of outcomes) slots.release(orgId, isFirst)
      claimer.add(orgId)
      // a failing endpoint is skipped for PACE_MS: claim again after that
      if (outcomes.some(({ result }) => !result.ok)) setTimeout(claimer.add, PACE_MS, orgId)
    },
    log,
  })
  const attempt = async (orgId: string, delivery: ClaimedDelivery) => {
    const result = await deps.attempt(orgId, delivery)
    const { id: deliveryId, endpoint_id: endpointId, attempt: number, is_first: isFirst } = delivery
    const outcome = { deliveryId, endpointId, attempt: number, isFirst, result }
    if (result.postponed) await postpone(orgId, outcome)
    else addResult(orgId, outcome)
  }
  let lastPostponedMs = Number.NEGATIVE_INFINITY
  const postpone = async (orgId: string, outcome: HeldOutcome) => {
    if (performance.now() - lastPostponedMs >= POSTPONE_MS)
      log.warn('no sockets or file descriptors left; deliveries wait a second', {
        error: outcome.result.error,
      })
    lastPostponedMs = performance.now()
    claimer.pause(POSTPONE_MS)
    await release(orgId, outcome)
    slots.release(orgId, outcome.isFirst)
    setTimeout(claimer.add, POSTPONE_MS, orgId)
  }
  /** Tries until the end of the lease: without descriptors the database may be unreachable as well. */
  const release = async (orgId: string, outcome: HeldOutcome) => {
    const endMs = performance.now() + deps.leaseMs
    for (;;) {
      try {
        return await deps.release(orgId, outcome, POSTPONE_MS)
      } catch (error) {
        if (draining !== undefined || performance.now() > endMs) {
          log.warn('a delivery that was not sent could not be given back; its lease gives it', {
            error: messageOf(error),
          })
          return
        }
      }
      await Bun.sleep(RELEASE_RETRY_MS)
    }
  }
  let draining: Promise<void> | undefined
  const finish = async () => {
    poller.stop()
    await claimer.stop()
    // a slot is held until its result is settled
    await slots.empty()
  }
  return {
    /** The organization may have due deliveries. */
    wake: claimer.add,
    /** Any organization may. */
    look: poller.look,
    /** Claims nothing more; resolves when all attempts in flight are settled. May be called twice. */
    drain() {
      draining ??= finish()
      return draining
    },
  }
}
