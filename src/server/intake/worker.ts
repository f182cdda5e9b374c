// The entry point of the intake thread: reads, checks and writes what is sent to the API, and tells the main thread only
// what came of it.

import { loadPricer } from '../../analysis/scoring/prices.ts'
import { messageOf } from '../../base/errors.ts'
import { createLog } from '../../base/log.ts'
import { createTally } from '../../base/metrics/threads.ts'
import { createPriceSource } from '../../base/model-prices.ts'
import { HEARTBEAT_MS } from '../../base/supervise.ts'
import { isConnectionError } from '../../database/connection-errors.ts'
import {
  createConnectionMonitor,
  createReconnectingPool,
  type ReconnectingPool,
} from '../../database/pools/reconnecting-pool.ts'
import { createIntake } from './intake.ts'
import { countTakenSessions } from './measure.ts'
import { type FromIntake, type Intake, receivedError, sentError, type ToIntake } from './messages.ts'

declare const self: Worker

/** Transactions at once, and two for what is read before them: no write waits for a connection. */
const CONNECTIONS = 8
/** The database is checked at this interval. */
const CHECK_MS = 1_000
const END_TIMEOUT_S = 2

let running: { intake: Intake; pool: ReconnectingPool } | undefined
/** End the requests in work. */
const inWork = new Map<number, AbortController>()
/** Sessions by agent and result. */
const sessions = createTally()

// The handler is set before any await: messages without a listener are lost.
self.onmessage = ({ data }: MessageEvent<ToIntake>) => {
  if (data.type === 'start') running = start(data)
  else if (data.type === 'request') void answer(data)
  else if (data.type === 'drain') running?.intake.drain(data.orgIds)
  else if (data.type === 'cancel') inWork.get(data.id)?.abort(receivedError(data.error))
  else void stop()
}

const send = (message: FromIntake) => self.postMessage(message)

function start({ target, applicationName, settings }: Extract<ToIntake, { type: 'start' }>) {
  const pool = createReconnectingPool(target, { max: CONNECTIONS, applicationName })
  const { storeContent, modelPrices } = settings
  const log = createLog(settings.logLevel, settings.logFormat)
  const intake = createIntake({
    sql: pool.sql,
    now: () => new Date(),
    storeContent,
    pricer: createPriceSource(modelPrices, log, loadPricer),
    onDrainFailed(orgId, error) {
      const fields = { org_id: orgId, error: messageOf(error) }
      const message = 'telemetry is not written to its sessions'
      if (isConnectionError(error)) log.rarely('warn', message, fields)
      else log.warn(message, fields)
    },
    ...countTakenSessions((agent, result) => sessions.add([agent, result])),
  })
  const beat = () => send({ type: 'heartbeat', counts: sessions.take() })
  beat()
  setInterval(beat, HEARTBEAT_MS)
  // a unix socket is not checked, since it is never half open
  if (!('socketDir' in target)) {
    const check = createConnectionMonitor([pool], log)
    setInterval(() => void check(), CHECK_MS)
  }
  return { intake, pool }
}

async function answer({ id, request }: Extract<ToIntake, { type: 'request' }>): Promise<void> {
  if (running === undefined) return
  const ended = new AbortController()
  inWork.set(id, ended)
  try {
    send({ type: 'done', id, result: await running.intake.submit(request, ended.signal) })
  } catch (error) {
    send({ type: 'failed', id, error: sentError(error) })
  } finally {
    inWork.delete(id)
  }
}

async function stop(): Promise<void> {
  await running?.intake.stop()
  await running?.pool.end(END_TIMEOUT_S)
  send({ type: 'stopped', counts: sessions.take() })
}
