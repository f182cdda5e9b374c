import { isConnectionError } from '../db/connection-errors.ts'
import type { Log } from '../log.ts'
import { inParts, type Outcome } from '../webhooks/outbox/settle.ts'

/** Outcomes in one statement at most. */
const MAX_BATCH = 128
/** Statements at a time, each of another organization: one that waits behind a long sync keeps nobody else waiting. */
export const SETTLE_CONNECTIONS = 4
const FIRST_BACKOFF_MS = 50
const MAX_BACKOFF_MS = 1_000

export interface SettlerDeps<Held extends Outcome> {
  /** Writes outcomes of one organization, all good or all bad; resolves to the ids of those that took effect. */
  settle: (orgId: string, outcomes: readonly Outcome[]) => Promise<string[]>
  /** Called when outcomes are written, or refused since somebody else has the delivery by now. */
  onSettled: (orgId: string, outcomes: readonly Held[]) => void
  log: Log
}

export interface Settler<Held extends Outcome> {
  add(orgId: string, outcome: Held): void
  /** Resolves when all that was added is written. */
  idle(): Promise<void>
}

/**
 * Writes outcomes together: while a statement runs the organization's next ones gather, so that a burst costs few commits
 * and a single one waits for nothing. While the database is away it tries again; should a lease end meanwhile, the
 * outcome is refused and the delivery is sent once more.
 */
export function createSettler<Held extends Outcome>(deps: SettlerDeps<Held>): Settler<Held> {
  const waiting = new Map<string, Held[]>()
  const busy = new Set<string>()
  let whenIdle: PromiseWithResolvers<void> | undefined

  const nextIdle = () => [...waiting.keys()].find((orgId) => !busy.has(orgId))
  const run = async (orgId: string) => {
    const outcomes = waiting.get(orgId) ?? []
    waiting.delete(orgId)
    const batch = outcomes.slice(0, MAX_BATCH)
    if (outcomes.length > batch.length) waiting.set(orgId, outcomes.slice(batch.length))
    // one after the other: what of a batch was written is not written again when the database goes away meanwhile
    for (const part of inParts(batch)) await write(deps, orgId, part)
    deps.onSettled(orgId, batch)
  }
  const start = () => {
    while (busy.size < SETTLE_CONNECTIONS) {
      const orgId = nextIdle()
      if (orgId === undefined) break
      busy.add(orgId)
      void run(orgId).finally(() => {
        busy.delete(orgId)
        start()
      })
    }
    if (busy.size > 0) return
    whenIdle?.resolve()
    whenIdle = undefined
  }
  return {
    add(orgId, outcome) {
      const outcomes = waiting.get(orgId)
      if (outcomes === undefined) waiting.set(orgId, [outcome])
      else outcomes.push(outcome)
      start()
    },
    async idle() {
      if (busy.size === 0) return
      whenIdle ??= Promise.withResolvers()
      await whenIdle.promise
    },
  }
}

type Writing = Pick<SettlerDeps<Outcome>, 'settle' | 'log'>

async function write(deps: Writing, orgId: string, batch: readonly Outcome[]): Promise<void> {
  const { log } = deps
  for (let backoffMs = FIRST_BACKOFF_MS; ; backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)) {
    try {
      const settled = new Set(await deps.settle(orgId, batch))
      warnOfRefused(log, orgId, batch, settled)
      return
    } catch (error) {
      const fields = { org_id: orgId, deliveries: batch.length, error: messageOf(error) }
      // two statements in each other's way: PostgreSQL has ended this one
      if (isConnectionError(error) || isDeadlock(error)) {
        log.warn('results of deliveries could not be written; trying again', fields)
        await Bun.sleep(backoffMs)
      } else if (batch.length > 1) {
        // one of them cannot be written: the others must not suffer
        for (const outcome of batch) await write(deps, orgId, [outcome])
        return
      } else {
        // its lease will end, and an end of leases is counted
        log.error('the result of a delivery cannot be written', { ...fields, delivery: batch[0]?.deliveryId })
        return
      }
    }
  }
}

function warnOfRefused(
  log: Log,
  orgId: string,
  batch: readonly Outcome[],
  settled: ReadonlySet<string>,
): void {
  const refused = batch.filter(({ deliveryId }) => !settled.has(deliveryId))
  if (refused.length === 0) return
  const some = refused.slice(0, 10).map(({ deliveryId }) => deliveryId)
  log.warn('results came after the end of their lease and were refused', {
    org_id: orgId,
    count: refused.length,
    deliveries: some,
  })
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
const isDeadlock = (error: unknown) => error instanceof Error && 'code' in error && error.code === '40P01'
