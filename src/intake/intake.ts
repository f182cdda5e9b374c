import { ApiError } from '../errors.ts'
import { renumberRecords } from '../http/json.ts'
import { createOrganizationQueues } from '../organizations/queue.ts'
import { createShares, type Free } from '../organizations/shares.ts'
import { type Intake, type IntakeRequest, MAX_SYNC_BYTES } from '../sync/intake.ts'
import { createPreparer, findSender } from '../sync/prepare.ts'
import { computeBatch, hasHistory, type SyncDeps, type SyncResult, storeBatch } from '../sync/write.ts'
import { readBatch } from './read-batch.ts'
import { busy, clientLeft, tooMuchWork } from './refusals.ts'
import { createTurns } from './turns.ts'

/** From the arrival of a request until its writing begins. */
const LIMIT_MS = 10_000
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
}

/**
 * The intake in this thread: requests take turns, organization by organization, and each has 10 s until its writing
 * begins. The server runs it in a thread of its own (thread.ts).
 */
export function createIntake(deps: IntakeDeps, limitMs = LIMIT_MS): Intake {
  const turns = createTurns()
  const places = createShares(REQUESTS)
  const largePlaces = createShares(LARGE_REQUESTS)
  const histories = createOrganizationQueues(limitMs, WRITES.history)
  const others = createOrganizationQueues(limitMs, WRITES.others)
  const inWork = new Set<Lifetime>()
  let stopped: PromiseWithResolvers<void> | undefined

  const run = async (request: IntakeRequest, lifetime: Lifetime): Promise<SyncResult> => {
    const { orgId, actor, body, options } = request
    const { signal } = lifetime
    const wait = { units: 1, signal, waitMs: limitMs }
    const release = await places.take(orgId, 1, wait)
    let releaseLarge: Free | undefined
    try {
      const pricer = await deps.pricer()
      const sender = await findSender(deps.sql, orgId, options.key)
      // counted from here on: a wait for the database is not the request's work
      const pause = lifetime.counted(turns.pauseOf(orgId))
      const preparer = createPreparer({
        pricer,
        storeContent: deps.storeContent,
        sender,
        isChecked: false,
        pause,
        ...(deps.onRefused && { onRefused: deps.onRefused }),
      })
      const { batch, numbers } = await readBatch(body, preparer, {
        maxBytes: MAX_SYNC_BYTES,
        pause,
        onBytes(bytes) {
          if (bytes <= SMALL_BYTES || releaseLarge !== undefined) return undefined
          return largePlaces.take(orgId, 1, wait).then((free) => {
            releaseLarge = free
            lifetime.waited()
          })
        },
        onRecord: lifetime.reach,
      })
      const computed = await computeBatch(deps.sql, orgId, batch, pause)
      // until then the transaction is rolled back when the client leaves or the time is over
      const beforeLock = () => {
        signal.throwIfAborted()
        lifetime.beginWriting()
      }
      const store = () =>
        withNumbers(numbers, () => storeBatch(deps, orgId, { ...computed, beforeLock }, actor, options))
      // the history takes seconds before the organization is locked: its other writes do not wait for it
      const { enqueueWrite } = hasHistory(batch) ? histories : others
      return await lifetime.untilAborted(enqueueWrite(orgId, store, signal))
    } finally {
      // else the heap grows by the next one: some 75 MB more after ten texts of a megabyte each
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
      const lifetime = createLifetime(left, limitMs)
      inWork.add(lifetime)
      try {
        return await run(request, lifetime)
      } finally {
        leave(lifetime)
      }
    },
    async stop() {
      stopped ??= Promise.withResolvers()
      if (inWork.size === 0) stopped.resolve()
      for (const lifetime of inWork) lifetime.abort(stopping())
      await stopped.promise
    },
  }
}

const stopping = () => busy('The server is stopping')

/** What ends a request before its writing: its client leaves, its time is over, the server stops. */
interface Lifetime {
  signal: AbortSignal
  /** Throws `reason` in the request's work, unless its writing has begun. */
  abort(reason: ApiError): void
  /** Notes what names the record that is being read, for the error. */
  reach: (name: string) => void
  /** `pause`, with the time between its calls counted as work of the request; throws once aborted. */
  counted(pause: () => Promise<void> | undefined): () => Promise<void> | undefined
  /** The time since the last call of `counted`'s function was no work: the request waited. */
  waited: () => void
  /** What `work` resolves to; rejects as soon as the request is aborted, while `work` goes on. */
  untilAborted<Result>(work: Promise<Result>): Promise<Result>
  /** From now on the request cannot be aborted. */
  beginWriting(): void
  end(): void
}

function createLifetime(left: AbortSignal, limitMs: number): Lifetime {
  const controller = new AbortController()
  const { signal } = controller
  let isWriting = false
  let name = 'body'
  let workMs = 0
  let since = performance.now()
  const waited = () => {
    since = performance.now()
  }
  const abort = (reason: ApiError) => {
    if (!isWriting) controller.abort(reason)
  }
  const onTimeout = () => {
    // when others had most of the time, the same request may pass later
    abort(workMs > limitMs / 2 ? tooMuchWork(name, limitMs) : busy('The server is busy with other requests'))
  }
  const onLeft = () => abort(clientLeft())
  const timer = setTimeout(onTimeout, limitMs)
  left.addEventListener('abort', onLeft, { once: true })
  return {
    signal,
    abort,
    reach(next) {
      name = next
    },
    waited,
    counted(pause) {
      waited()
      return () => {
        signal.throwIfAborted()
        const now = performance.now()
        workMs += now - since
        since = now
        return pause()?.then(() => {
          waited()
          signal.throwIfAborted()
        })
      }
    },
    untilAborted(work) {
      const aborted = Promise.withResolvers<never>()
      signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true })
      return Promise.race([work, aborted.promise])
    },
    beginWriting() {
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
