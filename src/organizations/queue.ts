import { ApiError } from '../errors.ts'

/** Writes of one organization, in flight or waiting. */
const MAX_WRITES = 100
const RETRY_AFTER_S = 2

/** Runs `work` when all earlier writes of the organization in this process are done. */
export type EnqueueWrite = <Result>(orgId: string, work: () => Promise<Result>) => Promise<Result>

/**
 * A queue of writes for each organization. In the database, each writer that waits for the organization's lock holds a
 * connection; here it waits before it takes one, so that many writes of one organization leave connections for the others.
 * Throws INTERNAL_ERROR with 503 when too many wait already.
 */
export function createOrganizationQueues(): EnqueueWrite {
  const queues = new Map<string, { last: Promise<unknown>; writes: number }>()
  return async (orgId, work) => {
    const queue = queues.get(orgId) ?? { last: Promise.resolve(), writes: 0 }
    if (queue.writes >= MAX_WRITES) {
      throw new ApiError('INTERNAL_ERROR', 'Too many writes of this organization are waiting; try again', {
        status: 503,
        headers: { 'retry-after': String(RETRY_AFTER_S) },
      })
    }
    queues.set(orgId, queue)
    queue.writes += 1
    const result = queue.last.then(work, work)
    queue.last = result.catch(() => {})
    try {
      return await result
    } finally {
      queue.writes -= 1
      if (queue.writes === 0) queues.delete(orgId)
    }
  }
}
