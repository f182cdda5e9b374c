import { busy, messageOf } from '../../base/errors.ts'
import { randomLowerAlnum } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { ThreadMeter } from '../../base/metrics/threads.ts'
import { withTimeout } from '../../base/timeout.ts'
import type { ConnectTarget } from '../../database/client.ts'
import type { SyncResult } from '../sync/write.ts'
import {
  type FromIntake,
  type Intake,
  type IntakeSettings,
  receivedError,
  sentError,
  type ToIntake,
} from './messages.ts'

export interface IntakeThreadOptions {
  spawn: () => Worker
  target: ConnectTarget
  settings: IntakeSettings
  log: Log
  /** Ends the connections whose names begin so; PostgreSQL rolls their transactions back. */
  endConnections: (applicationName: string) => Promise<void>
  /** Takes the thread's counts of sessions. */
  meter: ThreadMeter
  limits?: Partial<ThreadLimits>
}

interface ThreadLimits {
  /** The thread is checked at this interval. */
  tickMs: number
  /** Checks without a heartbeat after which the thread is stuck. No duration: a machine may be suspended. */
  missedBeats: number
  /** A new thread, which loads its code first, may miss this many more. */
  startTicks: number
  /** Checks without a request after which the thread ends: long after the last telemetry is written to its sessions. */
  idleTicks: number
  /** A stop waits this long for what is being written. */
  stopMs: number
}

const LIMITS: ThreadLimits = { tickMs: 1_000, missedBeats: 8, startTicks: 10, idleTicks: 30, stopMs: 3_000 }

interface Thread {
  worker: Worker
  applicationName: string
  pending: Map<number, PromiseWithResolvers<SyncResult>>
  missed: number
  idleTicks: number
  /** Resolved when the thread has stopped or ended. */
  over: PromiseWithResolvers<void>
  isEnded: boolean
}

const MAX_REASON_LENGTH = 300

/**
 * The intake in a thread that starts with the first request and ends after half a minute without one, so that an idle
 * server has no memory for it. When the thread dies or hangs, its requests get 503, its connections are ended, and the
 * next request starts a new one.
 */
export function createIntakeThread(options: IntakeThreadOptions): Intake {
  const { log, endConnections, meter } = options
  const limits = { ...LIMITS, ...options.limits }
  let thread: Thread | undefined
  let ticker: ReturnType<typeof setInterval> | undefined
  let nextId = 1
  let stopped: Promise<void> | undefined

  /** Ends a thread, with a `reason` when it did not end by itself or on request. */
  const end = (ended: Thread, reason: string | undefined) => {
    if (ended.isEnded) return
    ended.isEnded = true
    ended.over.resolve()
    if (thread === ended) thread = undefined
    // the end is not left to `close`, which a hung thread may never emit
    ended.worker.terminate()
    for (const { reject } of ended.pending.values())
      reject(busy('The server was interrupted at this request'))
    if (reason === undefined) return
    meter.failed()
    log.error('the intake thread ended', { reason, requests: ended.pending.size })
    endConnections(ended.applicationName).catch((error: unknown) =>
      log.warn('connections of the intake thread may still be open', { error: messageOf(error) }),
    )
  }
  const finish = async (ended: Thread) => {
    post(ended.worker, { type: 'stop' })
    // one that seems stuck is not waited for
    const limitMs = ended.missed > limits.missedBeats / 2 ? 0 : limits.stopMs
    const late = await withTimeout(ended.over.promise, limitMs, 'late')
    end(ended, late === 'late' ? 'it did not stop in time' : undefined)
  }
  const check = () => {
    if (thread === undefined) {
      clearInterval(ticker)
      ticker = undefined
      return
    }
    thread.missed += 1
    thread.idleTicks = thread.pending.size === 0 ? thread.idleTicks + 1 : 0
    if (thread.missed >= limits.missedBeats) {
      end(thread, `no beat in ${limits.missedBeats} checks`)
    } else if (thread.idleTicks >= limits.idleTicks) {
      void finish(thread)
      thread = undefined
    }
  }
  const current = (): Thread => {
    thread ??= startThread(options, -limits.startTicks, end)
    ticker ??= setInterval(check, limits.tickMs)
    return thread
  }
  return {
    async submit(request, signal) {
      if (stopped !== undefined) throw busy('The server is stopping')
      signal.throwIfAborted()
      const { worker, pending } = current()
      const id = nextId++
      const result = Promise.withResolvers<SyncResult>()
      pending.set(id, result)
      post(worker, { type: 'request', id, request }, [request.body.bytes.buffer])
      // the thread answers also then: the request holds its places at the gate while its body is in memory
      const cancel = () => post(worker, { type: 'cancel', id, error: sentError(signal.reason) })
      signal.addEventListener('abort', cancel, { once: true })
      return await result.promise
    },
    drain(orgIds) {
      if (stopped !== undefined) return
      const used = current()
      used.idleTicks = 0
      post(used.worker, { type: 'drain', orgIds })
    },
    async stop() {
      stopped ??= thread === undefined ? Promise.resolve() : finish(thread)
      await stopped
      clearInterval(ticker)
    },
  }
}

const post = (worker: Worker, message: ToIntake, transfer: ArrayBuffer[] = []) =>
  worker.postMessage(message, transfer)

function startThread(
  { spawn, target, settings, meter }: IntakeThreadOptions,
  missed: number,
  end: (thread: Thread, reason: string) => void,
): Thread {
  const worker = spawn()
  const applicationName = `cloud-analytics intake ${randomLowerAlnum(8)}`
  const thread: Thread = {
    worker,
    applicationName,
    pending: new Map(),
    missed,
    idleTicks: 0,
    over: Promise.withResolvers(),
    isEnded: false,
  }
  let reason: string | undefined
  worker.addEventListener('message', ({ data }: MessageEvent<FromIntake>) => {
    thread.missed = 0
    if (data.type === 'heartbeat') return meter.count(data.counts)
    if (data.type === 'stopped') {
      meter.count(data.counts)
      return thread.over.resolve()
    }
    const pending = thread.pending.get(data.id)
    thread.pending.delete(data.id)
    if (data.type === 'done') pending?.resolve(data.result)
    else pending?.reject(receivedError(data.error))
  })
  // Without this listener the error is lost; `close` follows.
  worker.addEventListener('error', (event) => {
    event.preventDefault()
    reason ??= event.message.slice(0, MAX_REASON_LENGTH)
  })
  // the exit code says nothing: after an unhandled rejection it is 0
  worker.addEventListener('close', (event) => {
    end(thread, reason ?? `it closed with code ${event.code}`)
  })
  post(worker, { type: 'start', target, applicationName, settings })
  return thread
}
