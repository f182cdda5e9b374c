// Makes pools of connections that are replaced when they are half open. A connection is half open when its other end is gone
// without closing it: a firewall dropped it from its table, or the machine lost power. The kernel reports that after about
// 15 minutes. These pools open new connections long before.

import type { Socket } from 'node:net'
import type { Log } from '../../base/log.ts'
import { withTimeout } from '../../base/timing.ts'
import { type ConnectOptions, type ConnectTarget, connect, type Sql } from '../client.ts'
import { createPing } from './ping.ts'

/** The limit is above the statement time-out of 25 s, so that a slow statement does not count as lost. */
const STATEMENT_LIMIT_MS = 30_000
const BUSY_CHECK_LIMIT_MS = 3_000
const LATE = Symbol('late')

/** Opens a pool as `connect` does. `onSilent`: its connections are replaced, since a statement of `run` exceeded `limitMs`. */
export function createReconnectingPool(
  target: ConnectTarget,
  options: ConnectOptions,
  limitMs = STATEMENT_LIMIT_MS,
  onSilent: () => void = () => {},
) {
  const applicationName = `${options.applicationName} ${crypto.randomUUID().slice(0, 8)}`
  const sockets = new Set<Socket>()
  const onSocket = (socket: Socket) => {
    for (const each of sockets) if (each.destroyed) sockets.delete(each)
    sockets.add(socket)
    options.onSocket?.(socket)
  }
  const sql = connect(target, { ...options, applicationName, onSocket })
  let generation = 0
  const reconnect = () => {
    generation += 1
    for (const socket of sockets) socket.destroy()
  }
  return {
    sql,
    /** Runs a statement. If it exceeds the limit, rejects with ETIMEDOUT and replaces the connections. */
    async run<Result>(statement: (sql: Sql) => Promise<Result>): Promise<Result> {
      const usedGeneration = generation
      const result = await withTimeout(statement(sql), limitMs, LATE)
      if (result !== LATE) return result
      // several statements may find the same connections lost
      if (usedGeneration === generation) {
        onSilent()
        reconnect()
      }
      throw Object.assign(new Error(`the database gave no answer in ${limitMs} ms`), { code: 'ETIMEDOUT' })
    },
    /** Whether all connections are taken and one executes a statement: then a ping waits in the queue. */
    isBusy: () => isBusy(target, options, applicationName),
    /** Closes the connections; statements in flight fail as if these were lost, the next ones open new connections. */
    reconnect,
    /** Ends the pool when the statements in flight have ended, or after `timeoutS`. */
    end: (timeoutS: number): Promise<void> => sql.end({ timeout: timeoutS }),
  }
}

/** A pool whose connections can be replaced while it is used. */
export type ReconnectingPool = ReturnType<typeof createReconnectingPool>

/** Whether all connections are busy by PostgreSQL's account; false where they wait for their client. */
async function isBusy(target: ConnectTarget, options: ConnectOptions, name: string): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let end = () => {}
  try {
    // throws when a file that the URL names cannot be read
    const sql = connect(target, { ...options, max: 1 })
    end = () => void sql.end({ timeout: 0 }).catch(() => {})
    timer = setTimeout(end, BUSY_CHECK_LIMIT_MS)
    const [row] = await sql<{ taken: number; working: number }[]>`
      select
        count(*) filter (where a.state <> 'idle')::integer as taken,
        count(*) filter (where a.state = 'active' and a.wait_event_type is distinct from 'Client')::integer as working
      from pg_stat_activity a
      where a.application_name = ${name}`
    return row !== undefined && row.taken >= options.max && row.working > 0
  } catch {
    return false
  } finally {
    clearTimeout(timer)
    end()
  }
}

/** Five late pings take 6 s. `giveUpMs` is longer: a second query could use another connection. */
const PING_LIMITS = { limitMs: 2_000, giveUpMs: 8_000 }
/** Late pings in a row, one a second, after which the pools reconnect. */
const MAX_LATE_PINGS = 5

/**
 * Returns a function to call once a second: it pings the first of `pools` and resolves to whether the database responded.
 * After five late pings in a row, unless all connections are busy, all of `pools` reconnect. Never rejects.
 */
export function createConnectionMonitor(pools: readonly ReconnectingPool[], log: Log, limits = PING_LIMITS) {
  const [first] = pools
  if (first === undefined) throw new Error('there is no pool to watch')
  const ping = createPing((statement) => statement(first.sql), limits)
  let late = 0
  let isReconnecting = false
  const reconnectUnlessBusy = async () => {
    isReconnecting = true
    const busy = await first.isBusy()
    // a ping may have succeeded meanwhile
    if (!busy && late > 0) {
      log.rarely('warn', 'the database is silent; connecting anew')
      for (const pool of pools) pool.reconnect()
    }
    isReconnecting = false
    late = 0
  }
  return async () => {
    const result = await ping()
    late = result === 'no answer in time' ? late + 1 : 0
    if (late >= MAX_LATE_PINGS && !isReconnecting) void reconnectUnlessBusy()
    return result === 'ok'
  }
}

/** Ends the connections whose `application_name` begins with `name`; their transactions are rolled back. */
export async function endConnections(sql: Sql, name: string): Promise<void> {
  await sql`
    select pg_terminate_backend(a.pid)
    from pg_stat_activity a
    where starts_with(a.application_name, ${name})
      and a.pid <> pg_backend_pid()`
}
