import type { ISql, Sql } from '../db/client.ts'
import { inOrganization } from '../db/org-lock.ts'
import { createShares } from './shares.ts'

/** Largest number of waiting writes of one organization: the largest plan's requests of a minute. */
const MAX_WAITING = 2_000
/**
 * A write waits as long as the statement that it waits for may take. A connection whose request has come whole may be
 * idle so long.
 */
const WAIT_MS = 25_000

/** Runs `work` when all earlier writes of `queue`, an organization or a part of it, are done in this process. */
export type EnqueueWrite = <Result>(
  queue: string,
  work: () => Promise<Result>,
  /** The request's signal: a request whose client leaves while it waits is not written. */
  signal?: AbortSignal,
) => Promise<Result>

/** Runs `work` in a transaction under the organization's lock, after the organization's earlier changes in this process. */
export type Change = <Result>(orgId: string, work: (tx: ISql) => Promise<Result>) => Promise<Result>

export const changeInTurn =
  (writes: Sql, enqueueWrite: EnqueueWrite): Change =>
  (orgId, work) =>
    enqueueWrite(orgId, () => inOrganization(writes, orgId, work))

interface OrganizationQueues {
  enqueueWrite: EnqueueWrite
  /** Refuses the writes that wait, and from now on those that would. */
  stop(): void
}

/**
 * A queue of writes for each organization. In the database, each writer that waits for the organization's lock holds a
 * connection; here it waits before it takes one, so that many writes of one organization leave connections for the others.
 * `total`: writes of all organizations at once. Throws INTERNAL_ERROR with 503 when too many wait already, or when its turn does not come within `waitMs`.
 */
export function createOrganizationQueues(waitMs = WAIT_MS, total = Infinity): OrganizationQueues {
  const turns = createShares({ total, each: 1, waiting: MAX_WAITING, what: 'writes' })
  return {
    stop: turns.stop,
    async enqueueWrite(queue, work, signal) {
      const free = await turns.take(queue, 1, { units: 1, signal, waitMs })
      try {
        return await work()
      } finally {
        free()
      }
    },
  }
}
