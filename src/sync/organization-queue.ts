import { ApiError } from '../errors.ts'

/** Requests of one organization that wait behind the one that writes; a client that sends more is not waiting for answers. */
const MAX_WAITING = 100
const RETRY_AFTER_S = 2

/** Does `work` when all earlier work of the organization in this process is done. */
export type InTurn = <Result>(orgId: string, work: () => Promise<Result>) => Promise<Result>

/**
 * Writers of one organization queue in the database, each holding a connection while it waits. Here they queue before
 * they take one, so that one organization's burst never takes the connections of the others. Throws INTERNAL_ERROR with
 * 503 when too many wait already.
 */
export function createTurns(): InTurn {
  const lines = new Map<string, { last: Promise<unknown>; waiting: number }>()
  return async (orgId, work) => {
    const line = lines.get(orgId) ?? { last: Promise.resolve(), waiting: 0 }
    if (line.waiting >= MAX_WAITING) {
      throw new ApiError('INTERNAL_ERROR', 'Too many writes of this organization are waiting; try again', {
        status: 503,
        headers: { 'retry-after': String(RETRY_AFTER_S) },
      })
    }
    lines.set(orgId, line)
    line.waiting += 1
    const turn = line.last.then(work, work)
    line.last = turn.catch(() => {})
    try {
      return await turn
    } finally {
      line.waiting -= 1
      if (line.waiting === 0) lines.delete(orgId)
    }
  }
}
