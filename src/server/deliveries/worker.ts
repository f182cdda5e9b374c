import { createLog, type Log } from '../../base/log.ts'
import { createTally } from '../../base/metrics/threads.ts'
import { connect } from '../../database/client.ts'
import {
  createConnectionMonitor,
  createReconnectingPool,
  type ReconnectingPool,
} from '../../database/pools/reconnecting-pool.ts'
import { type Deliveries, startDeliveries } from '../../webhooks/worker/deliveries.ts'
import { type FromWorker, HEARTBEAT_MS, type ToWorker } from '../../webhooks/worker/messages.ts'
import { SETTLE_CONNECTIONS } from '../../webhooks/worker/result-batcher.ts'
import { runHousekeeping } from './housekeeping.ts'

// The entry point of the worker thread: delivers webhooks, runs the housekeeping once a minute, and sends a
// heartbeat to the main thread every second.

declare const self: Worker

const HOUSEKEEPING_MS = 60_000
/** Settlements have SETTLE_CONNECTIONS; claims, polls and pings have one each. */
const CONNECTIONS = SETTLE_CONNECTIONS + 3
const END_TIMEOUT_S = 5
/** Its statements read some rows; a connection that does not respond is replaced. */
const PRESENCE_LIMIT_MS = 3_000

interface Running {
  deliveries: Deliveries
  pools: readonly ReconnectingPool[]
  timers: ReturnType<typeof setInterval>[]
  /** The housekeeping in progress; a drain waits for it. */
  housekeeping: Promise<void> | undefined
}

let running: Running | undefined
/** Attempts by outcome. */
const attempts = createTally()

// The handler is set before any await: messages without a listener are lost.
self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === 'start') running = start(data)
  else void drain()
}

const send = (message: FromWorker) => self.postMessage(message)

function start({ target, settings, secretKey }: Extract<ToWorker, { type: 'start' }>): Running {
  const log = createLog(settings.logLevel, settings.logFormat)
  const applicationName = 'cloud-analytics worker'
  const pool = createReconnectingPool(target, { max: CONNECTIONS, applicationName })
  const housekeepingPool = createReconnectingPool(target, { max: 1, applicationName })
  const presencePool = createReconnectingPool(
    target,
    { max: 1, applicationName, keepOpen: true },
    PRESENCE_LIMIT_MS,
  )
  const pools = [pool, housekeepingPool, presencePool]
  const deliveries = startDeliveries({
    pool,
    presencePool,
    openListener: () => connect(target, { max: 1, applicationName }),
    settings,
    secretKey,
    onAttempt: (outcome) => attempts.add([outcome]),
    log,
  })
  const state: Running = { deliveries, pools, timers: [], housekeeping: undefined }
  const housekeep = () => {
    state.housekeeping ??= runHousekeeping(housekeepingPool.sql, settings, log).finally(() => {
      state.housekeeping = undefined
    })
  }
  housekeep()
  state.timers.push(startHeartbeat(pools, log), setInterval(housekeep, HOUSEKEEPING_MS))
  return state
}

function startHeartbeat(pools: readonly ReconnectingPool[], log: Log): ReturnType<typeof setInterval> {
  const checkDatabase = createConnectionMonitor(pools, log)
  let database = true
  const sendHeartbeat = () => {
    send({ type: 'heartbeat', database, counts: attempts.take() })
    void checkDatabase().then((isReachable) => {
      database = isReachable
    })
  }
  sendHeartbeat()
  return setInterval(sendHeartbeat, HEARTBEAT_MS)
}

async function drain(): Promise<void> {
  if (running !== undefined) {
    const { deliveries, pools, timers, housekeeping } = running
    // heartbeats continue until the attempts in flight are settled, which takes up to 20 s
    const [heartbeat, ...others] = timers
    for (const timer of others) clearInterval(timer)
    await Promise.all([deliveries.drain(), housekeeping])
    clearInterval(heartbeat)
    await Promise.all(pools.map((pool) => pool.end(END_TIMEOUT_S)))
  }
  send({ type: 'drained', counts: attempts.take() })
}
