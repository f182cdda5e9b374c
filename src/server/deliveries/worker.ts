// The entry point of the worker thread: delivers webhooks, looks at alerts and digests, finds tickets that wait, brings
// time zones in force, runs the housekeeping once a minute, and sends a heartbeat to the main thread every second.

import { loadPricer } from '../../analysis/scoring/prices.ts'
import { createLog, type Log } from '../../base/log.ts'
import { once } from '../../base/memoize.ts'
import { createTally } from '../../base/metrics/threads.ts'
import { HEARTBEAT_MS } from '../../base/supervise.ts'
import { repeat } from '../../base/timing.ts'
import { connect } from '../../database/client.ts'
import {
  createConnectionMonitor,
  createReconnectingPool,
  type ReconnectingPool,
} from '../../database/pools/reconnecting-pool.ts'
import { LANES, lookAtRules } from '../../features/alerts/look-at-rules.ts'
import { findWaitingTickets } from '../../features/usage/ticket-steps.ts'
import { WORKER_APPLICATION } from '../../webhooks/outbox/state.ts'
import { startDeliveries } from '../../webhooks/worker/deliveries.ts'
import { SETTLE_CONNECTIONS } from '../../webhooks/worker/result-batcher.ts'
import type { FromWorker, ToWorker } from '../../webhooks/worker/supervise.ts'
import { changeZones } from '../zone/change.ts'
import { runHousekeeping } from './housekeeping.ts'
import { walkUsage } from './usage-walk.ts'

declare const self: Worker

const HOUSEKEEPING_MS = 60_000
/** Alerts are looked at within a minute after a change, also where a look takes long. */
const LOOK_MS = 20_000
/** Steps of what is computed in the background begin so often. */
const STEPS_MS = 1_000
/** Settlements have SETTLE_CONNECTIONS; claims, polls and pings have one each. */
const CONNECTIONS = SETTLE_CONNECTIONS + 3
const END_TIMEOUT_S = 5

let end: (() => Promise<void>) | undefined
const attempts = createTally()

// The handler is set before any await: messages without a listener are lost.
self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === 'start') end = start(data)
  else void stop()
}

const send = (message: FromWorker) => self.postMessage(message)

/** Returns what ends all that it starts. */
function start({ target, settings, secretKey }: Extract<ToWorker, { type: 'start' }>): () => Promise<void> {
  const log = createLog(settings.logLevel, settings.logFormat)
  const applicationName = WORKER_APPLICATION
  const pool = createReconnectingPool(target, { max: CONNECTIONS, applicationName })
  const housekeepingPool = createReconnectingPool(target, { max: 1, applicationName })
  const rulesPool = createReconnectingPool(target, { max: LANES, applicationName })
  const pools = [pool, housekeepingPool, rulesPool]
  const deliveries = startDeliveries({
    pool,
    openListener: () => connect(target, { max: 1, applicationName }),
    settings,
    secretKey,
    onAttempt: (outcome) => attempts.add([outcome]),
    log,
  })
  const heartbeat = startHeartbeat(pools, log)
  const { publicUrl } = settings
  const looking = { sql: rulesPool.sql, publicUrl, modelPrices: settings.modelPrices?.prices, log }
  const pricer = once(() => loadPricer(settings.modelPrices?.prices))
  const chores = [
    repeat(() => runHousekeeping(housekeepingPool.sql, settings, log), HOUSEKEEPING_MS),
    repeat(() => lookAtRules(looking, new Date()), LOOK_MS),
    repeat(() => findWaitingTickets(rulesPool.sql, log), STEPS_MS),
    repeat(() => walkUsage(housekeepingPool.sql, pricer, log, new Date()), STEPS_MS),
    repeat(() => changeZones({ sql: housekeepingPool.sql, pricer, log, publicUrl }, new Date()), STEPS_MS),
  ]
  return async () => {
    // heartbeats continue until the attempts in flight are settled, which takes up to 20 s
    await Promise.all([deliveries.drain(), ...chores.map(({ stop }) => stop())])
    clearInterval(heartbeat)
    await Promise.all(pools.map((pool) => pool.end(END_TIMEOUT_S)))
  }
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

async function stop(): Promise<void> {
  await end?.()
  send({ type: 'stopped', counts: attempts.take() })
}
