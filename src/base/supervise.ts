// Starts a thread (intake, deliveries), and another one when it ends or is silent.

import type { Log } from './log.ts'
import { withTimeout } from './timing.ts'

/** Values of labels, and counts since a thread last sent these to the main thread. */
export type TallyCounts = [labels: string[], count: number][]

/** The supervisor of a thread reports to this. */
export interface ThreadMeter {
  count(counts: TallyCounts): void
  /** The thread ended without being told to; what it counted since its last report is lost. */
  failed(): void
}

/** A thread sends `heartbeat` every HEARTBEAT_MS; and when it is told to `stop`, `stopped` after what it had begun. */
interface Report {
  type: string
  counts?: TallyCounts
}
export const HEARTBEAT_MS = 1_000

export interface SupervisorOptions<Sent, Received> {
  /** Names the thread in the log. */
  name: string
  spawn: () => Worker
  /** Called for each thread: its first message, and what is done with the messages and the end of this thread. */
  begin: () => { start: Sent; onMessage(message: Received): void; onEnd?(isFailure: boolean): void }
  /** The thread starts at once, and again when it has failed. Without it a message starts it. */
  keepsRunning: boolean
  log: Log
  meter: ThreadMeter
  /** A stop waits this long. */
  stopMs: number
  /** The thread is checked at this interval. */
  tickMs?: number
  /** Checks without a message after which a thread is hung; a new one has twice as many. No duration: a machine may be suspended. */
  missedBeats?: number
}

/** Heartbeats after which the backoff is reset. */
const STEADY_BEATS = 60
const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 30_000
const MAX_REASON_LENGTH = 300

/** The line that names the error: the message of an error event also contains lines of source. */
const firstLineOf = (message: string): string =>
  message.split('\n').find((line) => /error/i.test(line)) ?? message.slice(0, MAX_REASON_LENGTH)

type Thread = ReturnType<typeof startThread>

/** Starts a thread. `onEnd` is called once, with a reason when the thread did not end on request. */
function startThread<Sent, Received extends Report>(
  { spawn, begin, meter, stopMs, tickMs = HEARTBEAT_MS, missedBeats = 10 }: SupervisorOptions<Sent, Received>,
  onEnd: (reason: string | undefined, heartbeats: number) => void,
) {
  const life = begin()
  const worker = spawn()
  const over = Promise.withResolvers<void>()
  let missed = -missedBeats
  let heartbeats = 0
  let isEnded = false
  let error: string | undefined
  const end = (reason?: string) => {
    if (isEnded) return
    isEnded = true
    clearInterval(ticker)
    over.resolve()
    // the end is not left to `close`, which a hung thread may never emit
    worker.terminate()
    life.onEnd?.(reason !== undefined)
    onEnd(reason, heartbeats)
  }
  const ticker = setInterval(() => {
    missed += 1
    if (missed >= missedBeats) end(`no beat in ${missedBeats} checks`)
  }, tickMs)
  worker.addEventListener('message', ({ data }: MessageEvent<Received>) => {
    missed = 0
    if (data.type === 'heartbeat') heartbeats += 1
    if (data.counts !== undefined) meter.count(data.counts)
    if (data.type === 'stopped') over.resolve()
    else life.onMessage(data)
  })
  // Without this listener the error is lost; `close` follows.
  worker.addEventListener('error', (event) => {
    event.preventDefault()
    error ??= firstLineOf(event.message)
  })
  // the exit code says nothing: after an unhandled rejection it is 0
  worker.addEventListener('close', (event) => end(error ?? `it closed with code ${event.code}`))
  worker.postMessage(life.start)
  return {
    worker,
    isUp: () => heartbeats > 0,
    end,
    async stop() {
      worker.postMessage({ type: 'stop' })
      // one that seems stuck is not waited for
      const late = await withTimeout(over.promise, missed > missedBeats / 2 ? 0 : stopMs, 'late')
      end(late === 'late' ? 'it did not stop in time' : undefined)
    },
  }
}

/** Runs a thread, and another when it ends or is silent for ten seconds; each failure in a row doubles the wait. */
export function superviseThread<Sent, Received extends Report>(options: SupervisorOptions<Sent, Received>) {
  const { name, keepsRunning, log, meter } = options
  let thread: Thread | undefined
  let failures = 0
  let respawn: ReturnType<typeof setTimeout> | undefined
  let stopped: Promise<void> | undefined

  const onFailed = (reason: string, heartbeats: number) => {
    meter.failed()
    if (!keepsRunning || stopped !== undefined) return log.error(`the ${name} thread ended`, { reason })
    if (heartbeats >= STEADY_BEATS) failures = 0
    const delayMs = Math.min(FIRST_BACKOFF_MS * 2 ** failures, MAX_BACKOFF_MS)
    failures += 1
    log.error(`the ${name} thread ended; a new one is started`, { reason, delayMs })
    respawn = setTimeout(start, delayMs)
  }
  const start = (): Thread => {
    const started = startThread(options, (reason, heartbeats) => {
      if (thread === started) thread = undefined
      if (reason !== undefined) onFailed(reason, heartbeats)
    })
    thread = started
    return started
  }
  if (keepsRunning) start()
  return {
    /** Sends a message to the thread; starts it if it does not run. */
    post: (message: Sent, transfer: ArrayBuffer[] = []) =>
      (thread ?? start()).worker.postMessage(message, transfer),
    /** Lets the thread finish what it has begun, and ends it. The next message starts another one. */
    release() {
      void thread?.stop()
      thread = undefined
    },
    state(): 'ok' | 'restarting' | 'stopped' {
      if (stopped !== undefined) return 'stopped'
      // the first thread counts as running while it starts, a restarted one after its first heartbeat
      return thread !== undefined && (failures === 0 || thread.isUp()) ? 'ok' : 'restarting'
    },
    /** Ends the thread at once, for good. */
    abandon() {
      stopped ??= Promise.resolve()
      clearTimeout(respawn)
      thread?.end()
    },
    /** Lets the thread finish what it has begun, and ends it for good. May be called twice. */
    stop() {
      clearTimeout(respawn)
      stopped ??= thread?.stop() ?? Promise.resolve()
      return stopped
    },
  }
}
