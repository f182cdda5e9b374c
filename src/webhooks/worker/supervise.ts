import type { Log } from '../../base/log.ts'
import type { ThreadMeter } from '../../base/metrics/threads.ts'
import { withTimeout } from '../../base/timeout.ts'
import type { ConnectTarget } from '../../database/client.ts'
import { type FromWorker, HEARTBEAT_MS, type ToWorker, type WorkerSettings } from './messages.ts'

interface SupervisorOptions {
  spawn: () => Worker
  target: ConnectTarget
  settings: WorkerSettings
  /** 32 bytes that encrypt signing secrets. */
  secretKey: Uint8Array
  log: Log
  /** Takes the thread's counts of attempts. */
  meter: ThreadMeter
  /** The worker is checked at this interval. */
  tickMs?: number
}

/** Checks without a heartbeat after which a thread is hung. No duration: a machine may be suspended. */
const MISSED_HEARTBEATS = 10
/** Heartbeats after which the backoff is reset. */
const STEADY_HEARTBEATS = 60
const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 30_000
const DRAIN_TIMEOUT_MS = 20_000
const MAX_REASON_LENGTH = 300

interface Thread {
  worker: Worker
  /** Resolved when the thread is drained or has ended. */
  over: PromiseWithResolvers<void>
  /** Checks since its last heartbeat. */
  missed: number
  heartbeats: number
  databaseOk: boolean
}

/**
 * Starts the worker thread and restarts it when it ends, with any exit code, and after ten seconds without a
 * heartbeat. Each consecutive failure doubles the wait. The server continues meanwhile.
 */
export function superviseWorker(options: SupervisorOptions) {
  const { log, meter, tickMs = HEARTBEAT_MS } = options
  let thread: Thread | undefined
  let failures = 0
  let respawn: ReturnType<typeof setTimeout> | undefined
  let stopped: Promise<void> | undefined

  const begin = () => {
    thread = startThread(options, onEnd)
  }
  const onEnd = (ended: Thread, reason: string) => {
    if (thread !== ended || stopped !== undefined) return
    thread = undefined
    meter.failed()
    const delayMs = Math.min(FIRST_BACKOFF_MS * 2 ** failures, MAX_BACKOFF_MS)
    failures += 1
    log.error('the worker thread ended; a new one is started', { reason, delayMs })
    respawn = setTimeout(begin, delayMs)
  }
  const check = () => {
    if (thread === undefined || stopped !== undefined) return
    if (thread.heartbeats >= STEADY_HEARTBEATS) failures = 0
    thread.missed += 1
    if (thread.missed < MISSED_HEARTBEATS) return
    // the end is not left to `close`, which a hung thread may never emit; if it does, `onEnd` ignores it
    thread.worker.terminate()
    onEnd(thread, `no beat for ${MISSED_HEARTBEATS} s`)
  }
  const ticker = setInterval(check, tickMs)
  const finish = async () => {
    clearInterval(ticker)
    clearTimeout(respawn)
    if (thread !== undefined) await drain(thread, log)
  }
  begin()
  return {
    /** `ok`, or what is wrong: for /health. */
    state(): string {
      if (stopped !== undefined) return 'ok'
      if (thread === undefined) return 'restarting'
      if (!thread.databaseOk) return 'database unreachable'
      // the first thread counts as running while it starts, a restarted one after its first heartbeat
      return thread.heartbeats > 0 || failures === 0 ? 'ok' : 'restarting'
    },
    /** Ends the thread at once, for good: it settles nothing more, and other instances send again what it had in flight. */
    abandon() {
      stopped ??= Promise.resolve()
      clearInterval(ticker)
      clearTimeout(respawn)
      thread?.worker.terminate()
    },
    /** Drains and ends the thread. May be called twice. */
    stop() {
      stopped ??= finish()
      return stopped
    },
  }
}

function startThread(options: SupervisorOptions, onEnd: (thread: Thread, reason: string) => void): Thread {
  const { spawn, target, settings, secretKey, meter } = options
  const worker = spawn()
  const thread: Thread = { worker, over: Promise.withResolvers(), missed: 0, heartbeats: 0, databaseOk: true }
  let reason: string | undefined
  worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
    meter.count(data.counts)
    if (data.type === 'drained') return thread.over.resolve()
    thread.missed = 0
    thread.heartbeats += 1
    thread.databaseOk = data.database
  })
  // Without this listener the error is lost; `close` follows.
  worker.addEventListener('error', (event) => {
    event.preventDefault()
    reason ??= firstLineOf(event.message)
  })
  // the exit code says nothing: after an unhandled rejection it is 0
  worker.addEventListener('close', (event) => {
    thread.over.resolve()
    onEnd(thread, reason ?? `it closed with code ${event.code}`)
  })
  worker.postMessage({ type: 'start', target, settings, secretKey } satisfies ToWorker)
  return thread
}

/** The line that names the error: the message of an error event also contains lines of source. */
function firstLineOf(message: string): string {
  return message.split('\n').find((line) => /error/i.test(line)) ?? message.slice(0, MAX_REASON_LENGTH)
}

async function drain({ worker, over }: Thread, log: Log): Promise<void> {
  worker.postMessage({ type: 'drain' } satisfies ToWorker)
  if ((await withTimeout(over.promise, DRAIN_TIMEOUT_MS, 'late')) === 'late') {
    log.warn('the worker thread did not drain in time; what it had goes on at the next start')
  }
  worker.terminate()
}
