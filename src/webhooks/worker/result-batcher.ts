// Stores results of attempts, many in one statement.

import { messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { isConnectionError, isDeadlock } from '../../database/connection-errors.ts'
import { type Outcome, outcomeBatches } from '../outbox/settle.ts'

/** Outcomes in one statement at most. */
const MAX_BATCH = 128
/** Concurrent statements, each of another organization: waiting for a lock does not delay the others. */
export const SETTLE_CONNECTIONS = 4
const FIRST_BACKOFF_MS = 50
const MAX_BACKOFF_MS = 1_000

interface ResultBatcherDeps<Held extends Outcome> {
  /** Settles outcomes of an organization, all successes or all failures; returns the ids that took effect. */
  settle: (orgId: string, outcomes: readonly Outcome[]) => Promise<string[]>
  onSettled: (orgId: string, outcomes: readonly Held[]) => void
  log: Log
}

/**
 * A function that settles the outcomes it is given, in batches: while a statement runs, the organization's next outcomes are collected, so
 * that a burst needs few commits and a single outcome does not wait. While the database is unreachable it
 * retries; if the lease ends meanwhile, the outcome is refused and the delivery is sent again.
 */
export function createResultBatcher<Held extends Outcome>(
  deps: ResultBatcherDeps<Held>,
): (orgId: string, outcome: Held) => void {
  const waiting = new Map<string, Held[]>()
  const busy = new Set<string>()

  const nextOrganization = () => [...waiting.keys()].find((orgId) => !busy.has(orgId))
  const settleNext = async (orgId: string) => {
    const outcomes = waiting.get(orgId) ?? []
    waiting.delete(orgId)
    const batch = outcomes.slice(0, MAX_BATCH)
    if (outcomes.length > batch.length) waiting.set(orgId, outcomes.slice(batch.length))
    // one statement after the other: a part that is settled is not repeated when the next one fails
    for (const part of outcomeBatches(batch)) await settleWithRetries(deps, orgId, part)
    deps.onSettled(orgId, batch)
  }
  const start = () => {
    while (busy.size < SETTLE_CONNECTIONS) {
      const orgId = nextOrganization()
      if (orgId === undefined) break
      busy.add(orgId)
      void settleNext(orgId).finally(() => {
        busy.delete(orgId)
        start()
      })
    }
  }
  return (orgId, outcome) => {
    const outcomes = waiting.get(orgId)
    if (outcomes === undefined) waiting.set(orgId, [outcome])
    else outcomes.push(outcome)
    start()
  }
}

type SettleDeps = Pick<ResultBatcherDeps<Outcome>, 'settle' | 'log'>

async function settleWithRetries(deps: SettleDeps, orgId: string, batch: readonly Outcome[]): Promise<void> {
  const { log } = deps
  for (let backoffMs = FIRST_BACKOFF_MS; ; backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)) {
    try {
      const settled = new Set(await deps.settle(orgId, batch))
      const refused = batch.flatMap(({ deliveryId }) => (settled.has(deliveryId) ? [] : deliveryId))
      if (refused.length > 0) {
        const fields = { org_id: orgId, count: refused.length, deliveries: refused.slice(0, 10) }
        log.warn('results came after the end of their lease and were refused', fields)
      }
      return
    } catch (error) {
      const fields = { org_id: orgId, deliveries: batch.length, error: messageOf(error) }
      if (isConnectionError(error) || isDeadlock(error)) {
        log.rarely('warn', 'results of deliveries could not be written; trying again', fields)
        await Bun.sleep(backoffMs)
      } else if (batch.length > 1) {
        // one by one: an invalid outcome must not prevent the others
        for (const outcome of batch) await settleWithRetries(deps, orgId, [outcome])
        return
      } else {
        // the attempt counts as lost when its lease ends
        log.error('the result of a delivery cannot be written', { ...fields, delivery: batch[0]?.deliveryId })
        return
      }
    }
  }
}
