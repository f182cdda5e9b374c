// Reads, checks and writes what is sent, in turns with other requests: the work of the intake's thread.

import type { Signal } from '../../analysis/telemetry/model.ts'
import { busy, fieldError } from '../../base/errors.ts'
import { idsOf } from '../../base/ids.ts'
import { asciiLower } from '../../base/text.ts'
import { createPause } from '../../base/timing.ts'
import type { Sql } from '../../database/client.ts'
import { createWriteQueue, SMALL_BODY_BYTES, UNPACKED, WRITES } from '../../http/queues/gate.ts'
import { createPlaces, type Free } from '../../http/queues/places.ts'
import { telemetryEntry } from '../sync/audit-entries.ts'
import { findForeign, storeInInbox } from '../sync/inbox-write.ts'
import { createPreparer } from '../sync/prepare.ts'
import { computeBatch, hasHistory, type SyncDeps, type SyncResult, storeBatch } from '../sync/write.ts'
import { type Intake, type IntakeRequest, MAX_SYNC_BYTES } from './messages.ts'
import { readBatch } from './read-batch.ts'
import { type ReadTelemetry, readTelemetry } from './read-telemetry.ts'
import { createDrains } from './write-telemetry.ts'

/** Work of a request without a pause: what another organization's request waits at least. */
const SLICE_MS = 10

/** Runs `then` after other events. Without the second immediate, Bun 1.4.5 waits up to a second before what awaits it goes on. */
const afterOthers = (then: () => void) =>
  setImmediate(() => {
    then()
    setImmediate(() => {})
  })

/** Gives the thread to one request after the other, organizations and their keys in rotation: a pause ends with the request's next turn. */
function createTurns() {
  const turns = createPlaces({ total: 1, each: 1, waiting: Infinity, what: 'turns' })
  return (orgId: string, by?: string) =>
    createPause(async () => {
      const isAfterOthers = Promise.withResolvers<void>()
      afterOthers(isAfterOthers.resolve)
      await isAfterOthers.promise
      // its work runs until its next pause, before the event loop goes on and the next one gets the thread
      afterOthers(await turns.take(orgId, 1, { units: 1, signal: undefined, by }))
    }, SLICE_MS)
}

/** Stores telemetry in the inbox, without others' sessions where the key is a member's. Throws UNAUTHORIZED. */
async function storeTelemetry(
  sql: Sql,
  { orgId, actor, options: { key } }: IntakeRequest,
  signal: Signal,
  { sessions: sent, received, rejected, reason }: ReadTelemetry,
): Promise<SyncResult> {
  const member = key?.memberEmail ?? null
  const sessions = sent.map((session) => ({
    ...session,
    email: member ?? (session.email === null ? null : asciiLower(session.email)),
  }))
  const ids = [...new Set(idsOf(sessions))]
  const foreign = member === null ? new Set<string>() : await findForeign(sql, orgId, ids, member)
  const ownSessions = sessions.filter(({ id }) => !foreign.has(id))
  const refused = sessions.reduce((sum, { id, records }) => (foreign.has(id) ? sum + records : sum), rejected)
  const entry = telemetryEntry(signal, received, refused, idsOf(ownSessions))
  await storeInInbox(sql, orgId, ownSessions, { bound: member !== null, actor, entry })
  return {
    ...{ received, created: 0, updated: 0, unchanged: 0 },
    rejected: {
      records: refused,
      reason:
        reason || (foreign.size > 0 ? 'the session is another user’s, and this API key is a member’s' : ''),
    },
  }
}

/**
 * `maxProcessorMs`: processor time that this thread takes to unpack, check and prepare a request, however busy the machine is.
 * `drainMs`: how long telemetry is gathered until it is written to its sessions, each of which is composed as a whole.
 * `workMs`: an organization's telemetry waits, beyond what takes so long to write: with `drainMs` it is written within the 5 s
 * that docs/sync.md promises, also where sessions grow meanwhile.
 */
const LIMITS = { maxProcessorMs: 10_000, drainMs: 2_000, workMs: 2_250 }

interface IntakeDeps extends SyncDeps {
  /** Called with each record that a request is refused for. */
  onRefused?: (record: unknown) => void
}

/** The intake in this thread: requests that passed the gate take turns by organization, and each has 10 s of work. */
export function createIntake(deps: IntakeDeps, limits: Partial<typeof LIMITS> = {}): Intake {
  const { maxProcessorMs, drainMs, workMs } = { ...LIMITS, ...limits }
  const pauseOf = createTurns()
  const unpacked = createPlaces(UNPACKED)
  const histories = createWriteQueue(WRITES.histories)
  const others = createWriteQueue(WRITES.records)
  const drains = createDrains(deps, {
    delayMs: drainMs,
    workMs,
    enqueueWrite: others.enqueueWrite,
    // a turn of its own: among the organization's requests it would fall behind them
    pauseOf: (orgId) => pauseOf(`inbox of ${orgId}`),
  })
  const inWork = new Map<Lifetime, Promise<SyncResult>>()
  let isStopped = false

  const run = async (request: IntakeRequest, lifetime: Lifetime): Promise<SyncResult> => {
    const { orgId, actor, body, options } = request
    const { signal } = lifetime
    let freeUnpacked: Free | undefined
    try {
      const reading = {
        pause: lifetime.counted,
        async onBytes(bytes: number) {
          if (bytes > SMALL_BODY_BYTES) freeUnpacked ??= await unpacked.take(orgId, 1, { units: 1, signal })
          // others worked while this part of the body was waited for
          lifetime.resume()
        },
        onRecord: lifetime.reach,
      }
      if (request.telemetry !== undefined) {
        const telemetry = await readTelemetry(body, {
          ...reading,
          signal: request.telemetry,
          now: deps.now(),
        })
        const ids = telemetry.sessions.map(({ id }) => id)
        await drains.ready(orgId, ids, signal)
        lifetime.beginWriting()
        const result = await storeTelemetry(deps.sql, request, request.telemetry, telemetry)
        drains.note(orgId)
        return result
      }
      const preparer = await createPreparer(deps, orgId, {
        key: options.key,
        pause: lifetime.counted,
        ...(deps.onRefused && { onRefused: deps.onRefused }),
      })
      const batch = await readBatch(body, preparer, { ...reading, maxBytes: MAX_SYNC_BYTES })
      const pause = lifetime.uncounted
      const computed = await computeBatch(deps.sql, orgId, batch, pause)
      // until the lock the transaction is rolled back when the client leaves or the time is over
      const writing = { pause, beforeLock: lifetime.beginWriting }
      const store = () => storeBatch(deps, orgId, computed, actor, options, writing)
      // the history takes seconds before the organization is locked: its other writes do not wait for it
      const { enqueueWrite } = hasHistory(batch) ? histories : others
      return await lifetime.untilAborted(enqueueWrite(orgId, store, signal, actor.userId))
    } finally {
      // otherwise the heap grows by the next one: some 75 MB more after ten texts of a megabyte each
      if (freeUnpacked !== undefined) Bun.gc(true)
      freeUnpacked?.()
    }
  }
  return {
    async submit(request, given) {
      if (isStopped) throw stopping()
      given.throwIfAborted()
      const lifetime = createLifetime(given, pauseOf(request.orgId, request.actor.userId), maxProcessorMs)
      const work = run(request, lifetime)
      inWork.set(lifetime, work)
      try {
        return await work
      } finally {
        inWork.delete(lifetime)
      }
    },
    drain(orgIds) {
      for (const orgId of orgIds) drains.note(orgId, 0)
    },
    async stop() {
      isStopped = true
      for (const lifetime of inWork.keys()) lifetime.abort(stopping())
      await Promise.all([Promise.allSettled(inWork.values()), drains.stop()])
    },
  }
}

const stopping = () => busy('The server is stopping')

function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

type Lifetime = ReturnType<typeof createLifetime>

/** A request's lifetime until its writing begins: before that it ends when `given` aborts, or the server stops. */
function createLifetime(given: AbortSignal, pause: () => Promise<void> | undefined, maxProcessorMs: number) {
  const controller = new AbortController()
  const { signal } = controller
  let isWriting = false
  let name = 'body'
  let doneMs = 0
  let sinceMs = processorMs()
  /** Throws `reason` in the request's work, unless its writing has begun. */
  const abort = (reason: unknown) => {
    if (!isWriting) controller.abort(reason)
  }
  given.addEventListener('abort', () => abort(given.reason), { once: true })
  const resume = () => {
    sinceMs = processorMs()
  }
  const uncounted = () => {
    signal.throwIfAborted()
    return pause()?.then(() => signal.throwIfAborted())
  }
  return {
    signal,
    abort,
    /** Notes what names the record that is being read, for the error. */
    reach(next: string) {
      name = next
    },
    /** Counts none of the thread's processor time since then: others worked. */
    resume,
    /** `pause`, which throws once the request is aborted. Others work between two calls, since it waits for the database. */
    uncounted,
    /** Does the same, counts the thread's processor time since its last call as work, and throws beyond the limit. */
    counted() {
      const nowMs = processorMs()
      doneMs += nowMs - sinceMs
      sinceMs = nowMs
      if (doneMs > maxProcessorMs) {
        const message = `was reached after ${maxProcessorMs / 1000} s of work, the most for one request: send fewer or smaller records`
        throw fieldError(name, message, 'TOO_LARGE')
      }
      return uncounted()?.then(resume)
    },
    /** Resolves to the result of `work`; rejects as soon as the request is aborted, while `work` goes on. */
    untilAborted<Result>(work: Promise<Result>): Promise<Result> {
      const aborted = Promise.withResolvers<never>()
      signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true })
      return Promise.race([work, aborted.promise])
    },
    /** The request cannot be aborted from now on. */
    beginWriting() {
      signal.throwIfAborted()
      isWriting = true
    },
  }
}
