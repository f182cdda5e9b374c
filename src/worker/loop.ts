import type { Log } from '../log.ts'
import type { AttemptResult } from '../webhooks/http/attempt-result.ts'
import { type Claimed, type ClaimLimits, type Marks, PACE_MS } from '../webhooks/outbox/queue.ts'
import type { Outcome } from '../webhooks/outbox/settle.ts'
import { createSettler } from './result-batcher.ts'
import { spread } from './spread.ts'

// What the worker does all day: learns that an organization has something due, claims as much as it has slots for, makes
// the attempts, and writes down how they ended. A slot is taken from the claim to the settlement, so that memory and
// what is at stake in a crash are bounded, whatever waits.

/** Of the slots, those that only first attempts to endpoints that do not fail may take. */
const RESERVED_PART = 0.25
/** An organization takes at most so many slots for each one that it leaves free to those who come after it. */
const TAKEN_FOR_EACH_FREE = 2
/** In one claim at most: while one is claimed others are sent and settled. */
const MAX_CLAIM = 128
/** Between two looks for due deliveries; longer where looking takes long, up to a limit: retries are found only so. */
const POLL_MS = 500
const POLL_SHARE = 20
const MAX_POLL_MS = 2_000
/** How long what could not be sent for want of sockets waits, and nothing else is claimed meanwhile. */
const POSTPONE_MS = 1_000
const CLAIM_RETRY_MS = 200

export interface LoopDeps {
  findDueOrganizations: () => Promise<string[]>
  claim: (orgId: string, limits: ClaimLimits, marks: Marks) => Promise<Claimed[]>
  attempt: (orgId: string, delivery: Claimed) => Promise<AttemptResult>
  settle: (orgId: string, outcomes: readonly Outcome[]) => Promise<string[]>
  release: (
    orgId: string,
    attempts: readonly { deliveryId: string; attempt: number }[],
    delayMs: number,
  ) => Promise<void>
  /** Deliveries at a time. */
  concurrency: number
  /** Of one endpoint, over all instances. */
  endpointConcurrency: number
  leaseMs: number
  log: Log
}

/** An outcome that has a slot until it is settled. */
interface HeldOutcome extends Outcome {
  isFirst: boolean
}

export interface Loop {
  /** Something of the organization may be due. */
  wake(orgId: string): void
  /** Claims nothing more; resolves when all attempts in flight are settled. May be called twice. */
  drain(): Promise<void>
}

/** Starts delivering. Nothing it is given may throw synchronously; what is rejected is logged and tried again. */
export function startLoop(deps: LoopDeps): Loop {
  const { concurrency, log } = deps
  const laterSlots = concurrency - Math.floor(concurrency * RESERVED_PART)
  /** Organizations to claim for, in the order they became known. */
  const due = new Set<string>()
  /** Those with retries that found no slot, and those that have all slots they may have. */
  const starved = new Set<string>()
  const sated = new Set<string>()
  const timers = new Set<ReturnType<typeof setTimeout>>()
  /** Slots taken, and those of them by what is no first attempt. */
  let inFlight = 0
  let later = 0
  const inFlightOf = new Map<string, number>()
  /** How far each organization's endpoints were claimed since the last look. */
  const marksOf = new Map<string, Map<string, string>>()
  let pausedUntilMs = 0
  let claiming = false
  let draining: Promise<void> | undefined
  const emptied = Promise.withResolvers<void>()
  const resolveWhenEmpty = () => {
    if (draining !== undefined && inFlight === 0 && !claiming) emptied.resolve()
  }

  const after = (ms: number, work: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      work()
    }, ms)
    timers.add(timer)
  }
  const count = (orgId: string, by: 1 | -1) => {
    inFlight += by
    const own = (inFlightOf.get(orgId) ?? 0) + by
    if (own === 0) inFlightOf.delete(orgId)
    else inFlightOf.set(orgId, own)
  }
  const take = (orgId: string, { is_first }: Claimed) => {
    count(orgId, 1)
    if (!is_first) later += 1
  }
  const free = (orgId: string, { isFirst }: HeldOutcome) => {
    count(orgId, -1)
    for (const each of sated) due.add(each)
    sated.clear()
    if (isFirst) return
    later -= 1
    for (const each of starved) due.add(each)
    starved.clear()
  }
  /**
   * How many more slots the organization may take: alone 43 of 64, the next one 14 of what is left. So there is a slot
   * for whoever comes, though all endpoints of some organizations have begun to hang at once and hold theirs for 15 s.
   */
  const shareOf = (orgId: string) => {
    const own = inFlightOf.get(orgId) ?? 0
    const most = TAKEN_FOR_EACH_FREE * (concurrency - inFlight) - own
    return Math.max(0, Math.ceil(most / (TAKEN_FOR_EACH_FREE + 1)))
  }
  const settler = createSettler<HeldOutcome>({
    settle: deps.settle,
    onSettled(orgId, outcomes) {
      // all slots first: what is claimed then is claimed at once
      for (const outcome of outcomes) free(orgId, outcome)
      wake(orgId)
      // a failing endpoint rests for a moment, and what it has due is looked at again then
      if (outcomes.some(({ result }) => !result.ok)) after(PACE_MS, () => wake(orgId))
      resolveWhenEmpty()
    },
    log,
  })

  const begin = spread(({ orgId, delivery }: { orgId: string; delivery: Claimed }) => {
    void send(orgId, delivery)
  })
  const send = async (orgId: string, delivery: Claimed) => {
    const result = await deps.attempt(orgId, delivery)
    const { id: deliveryId, endpoint_id: endpointId, attempt, is_first: isFirst } = delivery
    const outcome = { deliveryId, endpointId, attempt, isFirst, result }
    if (result.postponed) await postpone(orgId, outcome)
    else settler.add(orgId, outcome)
  }
  const postpone = async (orgId: string, outcome: HeldOutcome) => {
    if (performance.now() >= pausedUntilMs) {
      log.warn('no sockets or file descriptors left; deliveries wait a second', {
        error: outcome.result.error,
      })
    }
    pausedUntilMs = performance.now() + POSTPONE_MS
    await giveBack(orgId, outcome)
    free(orgId, outcome)
    after(POSTPONE_MS, () => wake(orgId))
    resolveWhenEmpty()
  }

  /** Without descriptors the database may be out of reach as well. At the end of the lease there is nothing to give back. */
  const giveBack = async (orgId: string, outcome: HeldOutcome) => {
    const endMs = performance.now() + deps.leaseMs
    for (;;) {
      try {
        return await deps.release(orgId, [outcome], POSTPONE_MS)
      } catch (error) {
        if (draining !== undefined || performance.now() > endMs) {
          const reason = messageOf(error)
          log.warn('a delivery that was not sent could not be given back; its lease gives it', {
            error: reason,
          })
          return
        }
      }
      await Bun.sleep(CLAIM_RETRY_MS)
    }
  }

  const claimFor = async (orgId: string) => {
    const limit = Math.min(MAX_CLAIM, shareOf(orgId))
    if (limit === 0) {
      sated.add(orgId)
      return
    }
    const laterLimit = Math.min(limit, laterSlots - later)
    const { endpointConcurrency: endpointLimit, leaseMs } = deps
    const marks = marksOf.get(orgId) ?? new Map<string, string>()
    // before the claim: what a look clears meanwhile is not to come back with it
    marksOf.set(orgId, marks)
    const claimed = await deps.claim(orgId, { limit, laterLimit, endpointLimit, leaseMs }, marks)
    for (const { endpoint_id, due_at } of claimed) {
      if (due_at !== null && due_at > (marks.get(endpoint_id) ?? '')) marks.set(endpoint_id, due_at)
    }
    for (const delivery of claimed) take(orgId, delivery)
    begin(claimed.map((delivery) => ({ orgId, delivery })))
    const lacksSlots = claimed.filter(({ is_first }) => !is_first).length >= laterLimit
    // retries were left out, before what was claimed
    if (lacksSlots) marksOf.delete(orgId)
    // behind the others: every organization gets its turn; a full claim may lack those that are kept for other endpoints
    if (claimed.length === limit || (limit === MAX_CLAIM && claimed.length > 0)) due.add(orgId)
    else if (lacksSlots) starved.add(orgId)
  }
  const isOpen = () =>
    draining === undefined && inFlight < concurrency && due.size > 0 && performance.now() >= pausedUntilMs
  const claimMore = () => {
    if (claiming || !isOpen()) return
    claiming = true
    void claimAll().finally(() => {
      claiming = false
      resolveWhenEmpty()
      // woken after the last look
      claimMore()
    })
  }
  const claimAll = async () => {
    while (isOpen()) {
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
        after(CLAIM_RETRY_MS, () => wake(orgId))
        await Bun.sleep(CLAIM_RETRY_MS)
      }
    }
  }
  const wake = (orgId: string) => {
    if (draining !== undefined) return
    due.add(orgId)
    claimMore()
  }

  let lastFailed = false
  const poll = async () => {
    const startedMs = performance.now()
    let pauseMs = POLL_MS
    try {
      const found = await deps.findDueOrganizations()
      // from the beginning again: a retry may have become due before what was claimed last
      marksOf.clear()
      for (const orgId of found) wake(orgId)
      lastFailed = false
      const tookMs = performance.now() - startedMs
      pauseMs = Math.min(Math.max(POLL_MS, POLL_SHARE * tookMs), MAX_POLL_MS)
    } catch (error) {
      // once, not twice a second
      if (!lastFailed)
        log.warn('cannot look for deliveries that are due; trying again', { error: messageOf(error) })
      lastFailed = true
    }
    // a look that failed says nothing about how long looking takes: a silent database is noticed after seconds
    if (draining === undefined) after(pauseMs, () => void poll())
  }
  void poll()

  const finish = async () => {
    for (const timer of timers) clearTimeout(timer)
    if (inFlight > 0 || claiming) await emptied.promise
    await settler.idle()
  }
  return {
    wake,
    drain() {
      draining ??= finish()
      return draining
    },
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
