import { ApiError } from '../errors.ts'
import { renumberRecords } from '../http/json.ts'
import { createOrganizationQueues } from '../organizations/queue.ts'
import { createShares, type Free } from '../organizations/shares.ts'
import { type Intake, type IntakeRequest, MAX_SYNC_BYTES } from '../sync/intake.ts'
import { createPreparer, findSender } from '../sync/prepare.ts'
import { computeBatch, hasHistory, type SyncDeps, type SyncResult, storeBatch } from '../sync/write.ts'
import { createDrains, noteBeyond } from './drains.ts'
import { readBatch } from './read-batch.ts'
import { readTelemetry } from './read-telemetry.ts'
import { busy, clientLeft, tooMuchWork } from './refusals.ts'
import { storeTelemetry } from './store-telemetry.ts'
import { createTurns } from './turns.ts'

/**
 * `workMs`: processor time that this thread takes to unpack, check and prepare a request, however busy the machine is.
 * `waitMs`: from its arrival until its writing begins: what others and the database leave it. A commit of 100,000 files
 * takes some 5 s of the database's time on an idle machine, 17 s where six other programs share its two cores.
 * `drainMs`: how long telemetry is gathered until it is written to its sessions, each of which is composed as a whole.
 * `inTimeMs`: more is taken while it is likely to be written within this time: with sessions that grow meanwhile, the 5 s
 * that docs/telemetry.md promises.
 */
const LIMITS = { workMs: 10_000, waitMs: 45_000, drainMs: 2_000, inTimeMs: 3_500 }
/** A larger unpacked body needs a place for large ones: 32 MiB of JSON take several times that when prepared. */
const SMALL_BYTES = 1024 * 1024
/** Requests in work at once; those of one organization write one after the other anyway. */
const REQUESTS = { total: 64, each: 4, waiting: 2_000, what: 'requests' }
/** Writes at once, of all organizations: those with a history take seconds, and leave connections to the others. */
const WRITES = { history: 2, others: 4 }
const LARGE_REQUESTS = { total: 2, each: 1, waiting: 250, what: 'large requests' }

interface IntakeDeps extends SyncDeps {
  /** Called with each record that a request is refused for. */
  onRefused?: (record: unknown) => void
  /** Called when telemetry could not be written to its sessions and is tried again, or is dropped. */
  onDrainFailed?: (orgId: string, error: unknown) => void
}

/**
 * The intake in this thread: requests take turns, organization by organization, and each has 10 s of work and 45 s until its
 * writing begins. The server runs it in a thread of its own (thread.ts).
 */
export function createIntake(deps: IntakeDeps, limits: Partial<typeof LIMITS> = {}): Intake {
  const { workMs, waitMs, drainMs, inTimeMs } = { ...LIMITS, ...limits }
  const turns = createTurns()
  const places = createShares(REQUESTS)
  const largePlaces = createShares(LARGE_REQUESTS)
  const histories = createOrganizationQueues(waitMs, WRITES.history)
  const others = createOrganizationQueues(waitMs, WRITES.others)
  const drains = createDrains(deps, {
    delayMs: drainMs,
    inTimeMs,
    enqueueWrite: others.enqueueWrite,
    // a turn of its own: among the organization's requests it would fall behind them
    pauseOf: (orgId) => turns.pauseOf(`inbox of ${orgId}`),
  })
  const inWork = new Set<Lifetime>()
  let stopped: PromiseWithResolvers<void> | undefined

  const run = async (request: IntakeRequest, lifetime: Lifetime): Promise<SyncResult> => {
    const { orgId, actor, body, options } = request
    const { signal } = lifetime
    const wait = { units: 1, signal, waitMs }
    const release = await places.take(orgId, 1, wait)
    let releaseLarge: Free | undefined
    try {
      const pauses = lifetime.pauses(turns.pauseOf(orgId))
      const reading = {
        pause: pauses.counted,
        async onBytes(bytes: number) {
          if (bytes > SMALL_BYTES) releaseLarge ??= await largePlaces.take(orgId, 1, wait)
          // others worked while this part of the body was waited for
          pauses.resume()
        },
        onRecord: lifetime.reach,
      }
      if (request.signal !== undefined) {
        const telemetry = await readTelemetry(body, { ...reading, signal: request.signal, now: deps.now() })
        const ids = telemetry.sessions.map(({ id }) => id)
        await lifetime.untilAborted(drains.ready(orgId, ids))
        lifetime.beginWriting()
        const result = await storeTelemetry(deps.sql, request, request.signal, telemetry)
        drains.note(orgId, ids)
        return result
      }
      const pricer = await deps.pricer()
      const sender = await findSender(deps.sql, orgId, options.key)
      const preparer = createPreparer({
        pricer,
        storeContent: deps.storeContent,
        sender,
        isChecked: false,
        pause: pauses.counted,
        ...(deps.onRefused && { onRefused: deps.onRefused }),
      })
      const { batch, numbers } = await readBatch(body, preparer, { ...reading, maxBytes: MAX_SYNC_BYTES })
      const computed = await computeBatch(deps.sql, orgId, batch, pauses.uncounted)
      // until the lock the transaction is rolled back when the client leaves or the time is over
      const onBeyond = noteBeyond(deps, orgId)
      const writing = { ...computed, beforeLock: lifetime.beginWriting, onBeyond }
      const store = () => withNumbers(numbers, () => storeBatch(deps, orgId, writing, actor, options))
      // the history takes seconds before the organization is locked: its other writes do not wait for it
      const { enqueueWrite } = hasHistory(batch) ? histories : others
      return await lifetime.untilAborted(enqueueWrite(orgId, store, signal))
    } finally {
      // otherwise the heap grows by the next one: some 75 MB more after ten texts of a megabyte each
      if (releaseLarge !== undefined) Bun.gc(true)
      releaseLarge?.()
      release()
    }
  }
  const leave = (lifetime: Lifetime) => {
    lifetime.end()
    inWork.delete(lifetime)
    if (inWork.size === 0) stopped?.resolve()
  }
  return {
    async submit(request, left) {
      if (stopped !== undefined) throw stopping()
      if (left.aborted) throw clientLeft()
      const lifetime = createLifetime(left, workMs, waitMs)
      inWork.add(lifetime)
      try {
        return await run(request, lifetime)
      } finally {
        leave(lifetime)
      }
    },
    drain(orgIds) {
      for (const orgId of orgIds) drains.note(orgId, [], 0)
    },
    async stop() {
      stopped ??= Promise.withResolvers()
      if (inWork.size === 0) stopped.resolve()
      for (const lifetime of inWork) lifetime.abort(stopping())
      await Promise.all([stopped.promise, drains.stop()])
    },
  }
}

const stopping = () => busy('The server is stopping')

type Pause = () => Promise<void> | undefined

function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

type Lifetime = ReturnType<typeof createLifetime>

/**
 * A request's lifetime until its writing begins: before that it ends when the client leaves, the time is over, or the server
 * stops.
 */
function createLifetime(left: AbortSignal, workMs: number, waitMs: number) {
  const controller = new AbortController()
  const { signal } = controller
  let isWriting = false
  let name = 'body'
  /** Throws `reason` in the request's work, unless its writing has begun. */
  const abort = (reason: ApiError) => {
    if (!isWriting) controller.abort(reason)
  }
  const onTimeout = () =>
    abort(busy(`The server was too busy to write the request within ${waitMs / 1000} s`))
  const onLeft = () => abort(clientLeft())
  const timer = setTimeout(onTimeout, waitMs)
  left.addEventListener('abort', onLeft, { once: true })
  return {
    signal,
    abort,
    /** Notes what names the record that is being read, for the error. */
    reach(next: string) {
      name = next
    },
    /** `pause` in forms that throw once the request is aborted. */
    pauses(pause: Pause) {
      let doneMs = 0
      let sinceMs = processorMs()
      const resume = () => {
        sinceMs = processorMs()
      }
      /** Counts nothing: others work in the thread between two calls, since the request waits for the database. */
      const uncounted = () => {
        signal.throwIfAborted()
        return pause()?.then(() => signal.throwIfAborted())
      }
      /** Counts the thread's processor time since its last call or `resume` as work; throws beyond the limit. */
      const counted = () => {
        const nowMs = processorMs()
        doneMs += nowMs - sinceMs
        sinceMs = nowMs
        if (doneMs > workMs) throw tooMuchWork(name, workMs)
        return uncounted()?.then(resume)
      }
      return { counted, uncounted, resume }
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
    end() {
      clearTimeout(timer)
      left.removeEventListener('abort', onLeft)
    },
  }
}

/** Runs `work`; in what it throws, `records[<index>]` becomes `records[<number>]`: they differ after blank lines. */
async function withNumbers<Result>(numbers: readonly number[], work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError) || error.options.details === undefined) throw error
    const details = renumberRecords(error.options.details, (index) => numbers[index])
    const message = details.map((problem) => `${problem.field}: ${problem.message}`).join('; ')
    throw new ApiError(error.code, message, { ...error.options, details })
  }
}
