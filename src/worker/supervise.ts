import type { ConnectTarget } from '../db/client.ts'
import type { Log } from '../log.ts'
import { BEAT_MS, type FromWorker, type ToWorker, type WorkerSettings } from './messages.ts'

/** The worker thread as the server sees it, whichever thread that is at the moment. */
export interface SupervisedWorker {
  /** `ok`, or what is wrong: for /health. */
  state(): string
  /** Drains and ends it. May be called twice. */
  stop(): Promise<void>
}

export interface SupervisorOptions {
  spawn: () => Worker
  target: ConnectTarget
  settings: WorkerSettings
  /** 32 bytes that encrypt signing secrets. */
  secretKey: Uint8Array
  log: Log
  /** Between two looks at the worker; tests make it shorter. */
  tickMs?: number
}

/** Looks without a beat after which the worker is taken for hung. Counted, not timed: a suspended machine is no hang. */
const MISSED_BEATS = 10
/** Looks with a beat after which earlier deaths are forgotten. */
const STEADY_BEATS = 60
const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 30_000
const DRAIN_TIMEOUT_MS = 20_000
const MAX_REASON_LENGTH = 300

interface Thread {
  worker: Worker
  /** Resolved when the thread has said that it is drained, or has ended. */
  over: PromiseWithResolvers<void>
  /** Looks since its last beat. */
  missed: number
  beats: number
  databaseOk: boolean
}

/**
 * Starts the worker thread and keeps it running: after any end of it, whatever its exit code, and after ten seconds
 * without a beat, a new one is started, each failure in a row waiting twice as long. The server goes on meanwhile.
 */
export function superviseWorker(options: SupervisorOptions): SupervisedWorker {
  const { log, tickMs = BEAT_MS } = options
  let thread: Thread | undefined
  let failures = 0
  let respawn: ReturnType<typeof setTimeout> | undefined
  let stopped: Promise<void> | undefined

  const begin = () => {
    thread = startThread(options, onEnd)
  }
  const onEnd = (dead: Thread, reason: string) => {
    if (thread !== dead || stopped !== undefined) return
    thread = undefined
    const delayMs = Math.min(FIRST_BACKOFF_MS * 2 ** failures, MAX_BACKOFF_MS)
    failures += 1
    log.error('the worker thread ended; a new one is started', { reason, delayMs })
    respawn = setTimeout(begin, delayMs)
  }
  const look = () => {
    if (thread === undefined || stopped !== undefined) return
    if (thread.beats >= STEADY_BEATS) failures = 0
    thread.missed += 1
    if (thread.missed < MISSED_BEATS) return
    // a thread that hangs may never close: it is given up here, and its later `close` is not its successor's
    thread.worker.terminate()
    onEnd(thread, `no beat for ${MISSED_BEATS} s`)
  }
  const ticker = setInterval(look, tickMs)
  const finish = async () => {
    clearInterval(ticker)
    clearTimeout(respawn)
    if (thread !== undefined) await drain(thread, log)
  }
  begin()
  return {
    state() {
      if (thread === undefined) return 'restarting'
      if (!thread.databaseOk) return 'database unreachable'
      // a first thread that has not beaten yet is only starting; after a death we want to see it live
      return thread.beats > 0 || failures === 0 ? 'ok' : 'restarting'
    },
    stop() {
      stopped ??= finish()
      return stopped
    },
  }
}

function startThread(options: SupervisorOptions, onEnd: (thread: Thread, reason: string) => void): Thread {
  const { spawn, target, settings, secretKey } = options
  const worker = spawn()
  const thread: Thread = { worker, over: Promise.withResolvers(), missed: 0, beats: 0, databaseOk: true }
  let reason: string | undefined
  worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
    if (data.type === 'drained') return thread.over.resolve()
    thread.missed = 0
    thread.beats += 1
    thread.databaseOk = data.database
  })
  // Without this listener a dying thread is silent; `close` follows.
  worker.addEventListener('error', (event) => {
    event.preventDefault()
    reason ??= firstLineOf(event.message)
  })
  // Whatever the code: an unhandled rejection ends with 0.
  worker.addEventListener('close', (event) => {
    thread.over.resolve()
    onEnd(thread, reason ?? `it closed with code ${event.code}`)
  })
  worker.postMessage({ type: 'start', target, settings, secretKey } satisfies ToWorker)
  return thread
}

/** The message of an error event holds a whole printed error with a frame of source. */
function firstLineOf(message: string): string {
  return message.split('\n').find((line) => /error/i.test(line)) ?? message.slice(0, MAX_REASON_LENGTH)
}

async function drain({ worker, over }: Thread, log: Log): Promise<void> {
  worker.postMessage({ type: 'drain' } satisfies ToWorker)
  const late = Promise.withResolvers<'late'>()
  const timer = setTimeout(late.resolve, DRAIN_TIMEOUT_MS, 'late')
  if ((await Promise.race([over.promise, late.promise])) === 'late') {
    log.warn('the worker thread did not drain in time; what it had goes on at the next start')
  }
  clearTimeout(timer)
  worker.terminate()
}
