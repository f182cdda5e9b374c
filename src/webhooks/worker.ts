import { connect, type Sql } from '../db/client.ts'
import { createPing } from '../db/ping.ts'
import { createLog, type Log } from '../log.ts'
import { deleteOldAuditEntries, deleteStaleRateWindows } from './housekeeping-queries.ts'
import { BEAT_MS, type FromWorker, type ToWorker } from './messages.ts'

/*
 * The entry of the worker thread. Today it does housekeeping only: once a minute it deletes what has served its
 * time. It beats every second, so that the main thread knows it from one that hangs.
 */

declare const self: Worker

const HOUSEKEEPING_MS = 60_000
const DAY_MS = 86_400_000
const CONNECTIONS = 2
const DATABASE_LIMITS = { limitMs: 2_000, giveUpMs: 10_000 }
const END_TIMEOUT_S = 5

interface Running {
  sql: Sql
  log: Log
  timers: ReturnType<typeof setInterval>[]
  /** What is being done; a drain waits for it. */
  work: Set<Promise<void>>
}

let running: Running | undefined

// Before any await, or messages would be lost.
self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === 'start') running = start(data)
  else void drain()
}

const say = (message: FromWorker) => self.postMessage(message)

function start(message: Extract<ToWorker, { type: 'start' }>): Running {
  const { target, logLevel, logFormat, retentionAuditDays } = message
  const log = createLog(logLevel, logFormat)
  const sql = connect(target, { max: CONNECTIONS, applicationName: 'cloud-analytics worker' })
  const work = new Set<Promise<void>>()
  let database = true
  const ping = createPing(sql, DATABASE_LIMITS)
  const look = async () => {
    database = (await ping()) === 'ok'
  }
  const beat = () => {
    say({ type: 'beat', database })
    void look()
  }
  const housekeep = () => {
    const done = keepHouse(sql, log, retentionAuditDays).finally(() => work.delete(done))
    work.add(done)
  }
  beat()
  housekeep()
  return { sql, log, work, timers: [setInterval(beat, BEAT_MS), setInterval(housekeep, HOUSEKEEPING_MS)] }
}

async function keepHouse(sql: Sql, log: Log, retentionAuditDays: number): Promise<void> {
  try {
    const deleted = await deleteStaleRateWindows(sql)
    const oldest = new Date(Date.now() - retentionAuditDays * DAY_MS)
    const entries = retentionAuditDays === 0 ? 0 : await deleteOldAuditEntries(sql, oldest)
    log.debug('housekeeping done', { rate_windows: deleted, audit_entries: entries })
  } catch (error) {
    log.warn('housekeeping failed, it is tried again in a minute', {
      error: error instanceof Error ? error.message : String(error),
    })
  }
}

async function drain(): Promise<void> {
  if (running !== undefined) {
    const { sql, timers, work } = running
    for (const timer of timers) clearInterval(timer)
    await Promise.allSettled(work)
    await sql.end({ timeout: END_TIMEOUT_S })
  }
  say({ type: 'drained' })
}
