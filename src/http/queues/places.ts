// Divides a scarce thing that all organizations need at the same time, such as memory for bodies. Each has a limit:
// an organization that takes all it can leaves the rest to the others, and only its own requests wait for it.

import { ApiError, busy } from '../../base/errors.ts'
import type { Sql } from '../../database/client.ts'

export interface Limits {
  /** Most units that all organizations together take at once. */
  total: number
  each: number
  waiting: number
  /** Names the thing that is refused, for the message. */
  what: string
}

export interface Wait {
  units: number
  /** Ends the wait, with the reason where that is an ApiError. */
  signal: AbortSignal | undefined
  waitMs?: number | undefined
  /** The key or person that sends the request: those of an organization take turns. */
  by?: string | undefined
}

/** Frees what was taken; a second call does nothing. */
export type Free = () => void

interface Waiter {
  units: number
  by: string | undefined
  enter(): void
  refuse(): void
}

interface Queue {
  waiters: Set<Waiter>
  /** The units that its waiters already hold. */
  held: number
}

const RETRY_AFTER_S = 5

export type Places = ReturnType<typeof createPlaces>

export function createPlaces({ total, each, waiting, what }: Limits) {
  let taken = 0
  const takenBy = new Map<string, number>()
  /** The organization that was served longest ago comes first. */
  const queues = new Map<string, Queue>()
  let stopped = false

  const refusal = (signal: AbortSignal | undefined): unknown =>
    signal?.reason instanceof ApiError ? signal.reason : busy(`Too many ${what} at once`, RETRY_AFTER_S)
  const add = (orgId: string, units: number): void => {
    taken += units
    const count = (takenBy.get(orgId) ?? 0) + units
    if (count > 0) takenBy.set(orgId, count)
    else takenBy.delete(orgId)
  }
  const isWithinLimit = (orgId: string, units: number) => (takenBy.get(orgId) ?? 0) + units <= each
  /** The first waiter whose organization has room within its limit. One that needs more than is free is not overtaken. */
  const firstInTurn = (): Waiter | undefined => {
    for (const [orgId, { waiters }] of queues) {
      const [first] = waiters
      if (first !== undefined && isWithinLimit(orgId, first.units)) return first
    }
    return undefined
  }
  const serve = (): void => {
    if (stopped) return
    for (let next = firstInTurn(); next !== undefined && taken + next.units <= total; next = firstInTurn())
      next.enter()
  }
  const takeNow = (orgId: string, units: number): Free => {
    add(orgId, units)
    let isFree = false
    return () => {
      if (isFree) return
      isFree = true
      add(orgId, -units)
      serve()
    }
  }
  const waitFor = (
    orgId: string,
    units: number,
    { units: held, signal, waitMs, by }: Wait,
  ): Promise<Free> => {
    const place = Promise.withResolvers<Free>()
    const queue = queues.get(orgId) ?? { waiters: new Set(), held: 0 }
    const leave = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', waiter.refuse)
      queue.waiters.delete(waiter)
      queue.held -= held
      if (queue.waiters.size === 0) queues.delete(orgId)
    }
    const waiter: Waiter = {
      units,
      by,
      enter() {
        leave()
        // later keys of the organization are not behind a backlog of this one
        for (const other of by === undefined ? [] : [...queue.waiters]) {
          if (other.by === by && queue.waiters.delete(other)) queue.waiters.add(other)
        }
        // deleted and set again, so that its next waiter comes after those of other organizations
        if (queues.delete(orgId)) queues.set(orgId, queue)
        place.resolve(takeNow(orgId, units))
      },
      refuse() {
        leave()
        place.reject(refusal(signal))
        // the waiting requests behind it may need less
        serve()
      },
    }
    const timer = waitMs === undefined ? undefined : setTimeout(waiter.refuse, waitMs)
    signal?.addEventListener('abort', waiter.refuse)
    queue.waiters.add(waiter)
    queue.held += held
    queues.set(orgId, queue)
    return place.promise
  }

  return {
    /**
     * Takes `units`, at most `each`, for the organization; waits for them, in the order of its requests, its keys in turn, and
     * in turn with other organizations. Throws INTERNAL_ERROR with 503 when too many wait, after `waitMs`, and when the client
     * has left.
     */
    take(orgId: string, units: number, wait: Wait): Free | Promise<Free> {
      if (units > each) throw new RangeError(`${units} of ${each} ${what}`)
      const isNobodyBefore = !queues.has(orgId) && firstInTurn() === undefined
      if (isNobodyBefore && taken + units <= total && isWithinLimit(orgId, units))
        return takeNow(orgId, units)
      const isFull = (queues.get(orgId)?.held ?? 0) + wait.units > waiting
      if (stopped || isFull || wait.signal?.aborted === true) throw refusal(wait.signal)
      return waitFor(orgId, units, wait)
    },
    /** Whether another organization waits for what this one may have taken, and not for places of its own. */
    isWantedBeside(orgId: string): boolean {
      for (const [other, { waiters }] of queues) {
        const [first] = waiters
        if (other !== orgId && first !== undefined && isWithinLimit(other, first.units)) return true
      }
      return false
    },
    /** The units taken, and the requests that wait. */
    load: () => ({
      running: taken,
      waiting: queues.values().reduce((sum, { waiters }) => sum + waiters.size, 0),
    }),
    /** Refuses those that wait, and from now on those that would. */
    stop() {
      stopped = true
      for (const { waiters } of [...queues.values()]) for (const waiter of [...waiters]) waiter.refuse()
    },
  }
}

// Each read of a request has one of the pool's connections, from its first statement to its last. It waits in the queue of its
// organization, and never behind a statement of another's.

/** A read that waits holds little. The time is below that of the client's connection, which may be idle for 30 s. */
const WAIT = { units: 1, signal: undefined, waitMs: 25_000 }
const WAITING = 1_000

/** Runs `work`, one statement at a time, in a place of the organization's. Not inside of another: both would wait. */
export type Read = <Result>(orgId: string, work: (sql: Sql) => Promise<Result>) => Promise<Result>

/** Divides the `total` connections of `sql`; one organization has half at most. Throws 503 after 25 s, or where 1,000 wait. */
export function createReads(sql: Sql, total: number) {
  const places = createPlaces({ total, each: Math.ceil(total / 2), waiting: WAITING, what: 'reads' })
  const take = (orgId: string) => places.take(orgId, 1, WAIT)
  const read: Read = async (orgId, work) => {
    const free = await take(orgId)
    try {
      return await work(sql)
    } finally {
      free()
    }
  }
  return { take, read, load: places.load }
}
