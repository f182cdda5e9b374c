import { connect } from '../db/client.ts'
import { createRenewable, createSilenceWatch, type RenewablePool } from '../db/reconnecting-pool.ts'
import { createLog, type Log } from '../log.ts'
import { type Deliveries, startDeliveries } from './deliveries.ts'
import { runHousekeeping } from './housekeeping.ts'
import { BEAT_MS, type FromWorker, type ToWorker } from './messages.ts'
import { SETTLE_CONNECTIONS } from './result-batcher.ts'

/*
 * The entry of the worker thread: it delivers webhooks, and once a minute deletes what has served its time. It beats
 * every second, so that the main thread knows it from one that hangs.
 */

declare const self: Worker

const HOUSEKEEPING_MS = 60_000
/** For settling, and for claims, for looking what is due, for the ping. */
const CONNECTIONS = SETTLE_CONNECTIONS + 3
const END_TIMEOUT_S = 5

interface Running {
  delivering: Deliveries
  pools: RenewablePool[]
  timers: ReturnType<typeof setInterval>[]
  /** The housekeeping of now; a drain waits for it. */
  chores: Promise<void> | undefined
}

let running: Running | undefined

// Before any await, or messages would be lost.
self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === 'start') running = start(data)
  else void drain()
}

const say = (message: FromWorker) => self.postMessage(message)

function start({ target, settings, secretKey }: Extract<ToWorker, { type: 'start' }>): Running {
  const log = createLog(settings.logLevel, settings.logFormat)
  const applicationName = 'cloud-analytics worker'
  const pool = createRenewable(target, { max: CONNECTIONS, applicationName })
  const house = createRenewable(target, { max: 1, applicationName })
  const pools = [pool, house]
  const delivering = startDeliveries({
    pool,
    openListener: () => connect(target, { max: 1, applicationName }),
    settings,
    secretKey,
    log,
  })
  const state: Running = { delivering, pools, timers: [], chores: undefined }
  const housekeep = () => {
    state.chores ??= runHousekeeping(house.sql, settings, log).finally(() => {
      state.chores = undefined
    })
  }
  housekeep()
  state.timers.push(startBeating(pools, log), setInterval(housekeep, HOUSEKEEPING_MS))
  return state
}

function startBeating(pools: readonly RenewablePool[], log: Log): ReturnType<typeof setInterval> {
  const look = createSilenceWatch(pools, log)
  let database = true
  const beat = () => {
    say({ type: 'beat', database })
    void look().then((isThere) => {
      database = isThere
    })
  }
  beat()
  return setInterval(beat, BEAT_MS)
}

async function drain(): Promise<void> {
  if (running !== undefined) {
    const { delivering, pools, timers, chores } = running
    // the beat goes on until the end: finishing what is in flight takes up to 20 s
    const [beating, ...others] = timers
    for (const timer of others) clearInterval(timer)
    await Promise.all([delivering.drain(), chores])
    clearInterval(beating)
    await Promise.all(pools.map((pool) => pool.end(END_TIMEOUT_S)))
  }
  say({ type: 'drained' })
}
