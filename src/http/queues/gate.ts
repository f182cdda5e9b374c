// The gate of an instance: what a request with a body takes of the memory and of the intake's work, until it is answered.
// A request has one pass, and one queue divides each thing by organization (places.ts). docs/api.md has the table.

import { ApiError, busy } from '../../base/errors.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { inOrganization, type Kind } from '../../database/org-lock.ts'
import { createPlaces, type Free, type Limits, type Places, type Wait } from './places.ts'

const MIB = 1024 * 1024

/** Bodies up to this size need no large place. */
export const SMALL_BODY_BYTES = MIB
/** This part of a body is read before it needs a place: slow senders of small bodies hold none while they send. */
export const FREE_BODY_BYTES = 64 * 1024
/** The least that a body is counted as, for what a request takes besides it. */
const MIN_BODY_BYTES = 8 * 1024

/**
 * Requests in the intake with more than SMALL_BODY_BYTES when unpacked, which take several times that when prepared: its
 * thread knows their size. It is no place for large bodies: slow senders would hold up what has come.
 */
export const UNPACKED = { total: 2, each: 1, waiting: 4, what: 'large unpacked requests' }

const LIMITS = {
  /**
   * Bodies in memory, in bytes. 32 MiB of JSON take ten times that as objects: only a few requests may have that much in
   * memory at once. A request that waits takes little: Bun reads a body only on demand, up to 1 MiB ahead.
   */
  small: { total: 64 * MIB, each: 16 * MIB, waiting: 32 * MIB },
  /** Larger bodies. Their senders may be slow: a place is not that of the work that follows. */
  large: { total: 4, each: 2, waiting: 32 },
  /** Requests in the intake at once; those of one organization write one after the other anyway. */
  work: { total: 64, each: 4, waiting: 2_000 },
  /** A request waits at most this long in all while its body comes: less than a connection may be idle. */
  waitMs: 18_000,
  /** A request has this long until its writing begins: a commit of 100,000 files takes up to 17 s. */
  untilWritingMs: 45_000,
  /** The places of a body that has not come whole are free again after this time, even without `release`. */
  holdMs: 900_000,
}

const smallUnits = (bytes: number) => Math.min(Math.max(bytes, MIN_BODY_BYTES), SMALL_BODY_BYTES)

export function createGate(over: Partial<typeof LIMITS> = {}) {
  const limits = { ...LIMITS, ...over }
  const small = createPlaces({ ...limits.small, what: 'small bodies' })
  const large = createPlaces({ ...limits.large, what: 'large bodies' })
  const work = createPlaces({ ...limits.work, what: 'requests in work' })
  const stopping = new AbortController()
  const passes = new WeakMap<Request, ReturnType<typeof open>>()

  const open = (request: Request, orgId: string, by: string | undefined) => {
    const held = new Map<Places, Free>()
    const ended = new AbortController()
    let { waitMs } = limits
    let timer: Timer | undefined
    const release = () => {
      clearTimeout(timer)
      timer = undefined
      for (const free of held.values()) free()
      held.clear()
    }
    const take = async (places: Places, units: number, wait: Wait) => {
      held.set(places, await places.take(orgId, units, { ...wait, by }))
      timer ??= setTimeout(release, limits.holdMs).unref()
    }
    const takeForBody = async (places: Places, units: number, heldUnits: number) => {
      const startedAt = performance.now()
      await take(places, units, { units: heldUnits, signal: request.signal, waitMs: Math.max(0, waitMs) })
      waitMs -= performance.now() - startedAt
    }
    const hasMemory = () => held.has(small) || held.has(large)
    return {
      /** Takes memory for `bytes`, SMALL_BODY_BYTES at most, unless the request has some. `heldBytes` are in memory already. */
      async takeSmall(bytes: number, heldBytes: number): Promise<void> {
        if (!hasMemory()) await takeForBody(small, smallUnits(bytes), smallUnits(heldBytes))
      },
      /** Takes a place for a large body in place of the memory for a small one. */
      async takeLarge(): Promise<void> {
        if (held.has(large)) return
        // its bytes count as waiting now: small bodies pass
        held.get(small)?.()
        await takeForBody(large, 1, 1)
      },
      /** Whether the request has a large place that another organization waits for. */
      isWanted: () => held.has(large) && large.isWantedBeside(orgId),
      /** Aborted when the server stops: a body that has not come yet is not waited for any more. */
      stopped: stopping.signal,
      /** Aborted, with an ApiError, when the client leaves after `takeWork` or the time is over. */
      signal: ended.signal,
      /** Takes a place in the intake, and memory unless it has some, for a body of `bytes` that has come. Its time begins. */
      async takeWork(bytes: number): Promise<void> {
        const late = `The server was too busy to write the request within ${limits.untilWritingMs / 1000} s`
        const leave = () => ended.abort(new ApiError('VALIDATION_ERROR', 'The client went away'))
        request.signal.addEventListener('abort', leave, { once: true })
        if (request.signal.aborted) leave()
        clearTimeout(timer)
        timer = setTimeout(() => ended.abort(busy(late)), limits.untilWritingMs)
        const units = smallUnits(bytes)
        if (!hasMemory()) await take(small, units, { units, signal: ended.signal })
        await take(work, 1, { units: 1, signal: ended.signal })
      },
      release,
    }
  }
  return {
    /** The request's pass. `by`: who sends it, whose requests take turns with those of the organization's others. */
    pass(request: Request, orgId: string, by?: string) {
      const pass = passes.get(request) ?? open(request, orgId, by)
      passes.set(request, pass)
      return pass
    },
    /** Frees what the request has, if anything: it is answered. */
    release: (request: Request) => passes.get(request)?.release(),
    /** Refuses requests that wait or whose bodies have not come, now and from now on. */
    stop() {
      for (const places of [small, large, work]) places.stop()
      stopping.abort()
    },
  }
}

export type Gate = ReturnType<typeof createGate>
/** One request's pass: it waits for what it takes. It throws 503 when too many of its organization wait, or for too long. */
export type Pass = ReturnType<Gate['pass']>

/**
 * Writes at once. In the database, each writer that waits for its organization's lock holds a connection; here it waits
 * before it takes one, so that many writes of one organization leave connections for the others.
 */
export const WRITES = {
  /**
   * Changes other than by sync. One waits as long as the statement that it waits for may take: a connection whose request
   * has come whole may be idle so long. 2,000 are the largest plan's requests of a minute.
   */
  changes: { total: Infinity, each: 1, waiting: 2_000, waitMs: 25_000 },
  /** The intake's. Those with a history take seconds, and leave connections to the others. */
  histories: { total: 2, each: 1, waiting: 2_000 },
  records: { total: 4, each: 1, waiting: 2_000 },
}

/** Runs `work` when all earlier writes of the organization are done in this process. */
export type EnqueueWrite = <Result>(
  orgId: string,
  work: () => Promise<Result>,
  /** The request's signal: a request whose client leaves while it waits is not written. */
  signal?: AbortSignal,
  /** Who sends the request: see `Wait`. */
  by?: string,
) => Promise<Result>

/** A queue of writes for each organization. Throws BUSY when too many wait, or for too long. */
export function createWriteQueue({ waitMs, ...limits }: Omit<Limits, 'what'> & { waitMs?: number }) {
  const turns = createPlaces({ ...limits, what: 'writes' })
  const enqueueWrite: EnqueueWrite = async (orgId, work, signal, by) => {
    const free = await turns.take(orgId, 1, { units: 1, signal, waitMs, by })
    try {
      return await work()
    } finally {
      free()
    }
  }
  /** `stop` refuses the writes that wait, and from now on those that would. */
  return { enqueueWrite, stop: turns.stop }
}

/** Runs `work` in a transaction under the organization's lock, after the organization's earlier changes in this process. */
export type Change = <Result>(
  orgId: string,
  work: (tx: ISql) => Promise<Result>,
  kind?: Kind,
) => Promise<Result>

export const changeInTurn =
  (writes: Sql, enqueueWrite: EnqueueWrite): Change =>
  (orgId, work, kind) =>
    enqueueWrite(orgId, () => inOrganization(writes, orgId, work, kind))
