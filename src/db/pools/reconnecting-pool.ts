import { messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { withTimeout } from '../../timeout.ts'
import { type ConnectOptions, type ConnectTarget, connect, type Sql } from '../client.ts'
import { createPing } from '../ping.ts'
import { createLanes, isStatement, type Lanes, type Send } from './lanes.ts'

// A connection is half open when its other end is gone without closing it: a firewall dropped it from its
// table, or the machine lost power. The kernel reports that after about 15 minutes. These pools open new
// connections long before.

/** The connections of a pool, and how many are in use. */
export interface PoolLoad {
  /** Connections at most. */
  max: number
  /** Connections that statements and transactions use. */
  used: number
  /** Statements and transactions beyond them: they wait. */
  waiting: number
}

/** A pool whose connections can be replaced while it is used. */
export interface ReconnectingPool {
  /** Queries go to the current connections. */
  sql: Sql
  /** Runs a statement. If it exceeds the limit, rejects with ETIMEDOUT and replaces the connections. */
  run<Result>(statement: (sql: Sql) => Promise<Result>): Promise<Result>
  /** Whether all connections are taken and one executes a statement: then a ping waits in the queue. */
  isBusy(): Promise<boolean>
  /** Counts all statements and transactions of `sql` and `run` in flight. */
  load(): PoolLoad
  /** Replaces the connections; statements in flight fail as if their connections were lost. */
  reconnect(): void
  /** Ends the pool when the statements in flight have ended, or after `timeoutS`. */
  end(timeoutS: number): Promise<void>
}

/** The limit is above the statement time-out of 25 s, so that a slow statement does not count as lost. */
const STATEMENT_LIMIT_MS = 30_000
const BUSY_CHECK_LIMIT_MS = 3_000
const LATE = Symbol('late')

interface Current {
  sql: Sql
  /** Connections besides those of `sql`, for short statements. */
  lanes: Lanes | undefined
  laneSqls: readonly Sql[]
  /** The `application_name` of its connections; no other pool has the same. */
  name: string
}

/**
 * Opens a pool as `connect` does, with a random suffix to `applicationName`. `lanes` of its connections are for short
 * statements (db/pools/lanes.ts); only for a socket, since the monitor of connections does not know what waits for them.
 * `onSilent` is called before the connections are replaced because a statement of `run` exceeded `limitMs`. Throws as
 * `connect` does.
 */
export function createReconnectingPool(
  target: ConnectTarget,
  { lanes = 0, ...options }: ConnectOptions & { lanes?: number },
  limitMs = STATEMENT_LIMIT_MS,
  onSilent: () => void = () => {},
): ReconnectingPool {
  const open = (): Current => {
    const name = `${options.applicationName} ${crypto.randomUUID().slice(0, 8)}`
    const openSome = (max: number) => connect(target, { ...options, max, applicationName: name })
    const laneSqls = Array.from({ length: lanes }, () => openSome(1))
    return {
      name,
      sql: openSome(options.max - lanes),
      laneSqls,
      lanes: lanes === 0 ? undefined : createLanes(laneSqls, options.max - lanes),
    }
  }
  let current = open()
  const replace = (old: Current) => {
    // several statements may find the same connections lost
    if (current !== old) return
    current = open()
    void endAll(old, 0).catch(() => {})
  }
  let inFlight = 0
  const count = (): (() => void) => {
    inFlight += 1
    return () => {
      inFlight -= 1
    }
  }
  const counted = <Result>(work: Promise<Result>): Promise<Result> => {
    const end = current.lanes === undefined ? count() : current.lanes.hold()
    work.then(end, end)
    return work
  }
  // counts a query when it is sent: the driver also makes a query of each part of a statement, which never is
  const countWhenSent = (query: unknown) => {
    if (!isStatement(query)) return
    const { handler } = query
    const send: Send = (sent) => {
      if (current.lanes !== undefined) return current.lanes.send(sent, handler)
      void counted(sent)
      handler(sent)
    }
    query.handler = send
  }
  const methods: Partial<Record<string | symbol, unknown>> = {
    begin: (...args: Parameters<Sql['begin']>) => counted(current.sql.begin(...args)),
  }
  return {
    sql: new Proxy(current.sql, {
      apply(_first, self, args) {
        const query = Reflect.apply(current.sql, self, args)
        countWhenSent(query)
        return query
      },
      get: (_first, name) => methods[name] ?? Reflect.get(current.sql, name),
    }),
    async run(statement) {
      const used = current
      const result = await withTimeout(counted(statement(used.sql)), limitMs, LATE)
      if (result !== LATE) return result
      if (used === current) onSilent()
      replace(used)
      throw Object.assign(new Error(`the database gave no answer in ${limitMs} ms`), { code: 'ETIMEDOUT' })
    },
    load: () => ({
      max: options.max,
      ...(current.lanes?.load() ?? {
        used: Math.min(inFlight, options.max),
        waiting: Math.max(0, inFlight - options.max),
      }),
    }),
    isBusy: () => isBusy(target, options, current.name),
    reconnect: () => replace(current),
    end: (timeoutS) => endAll(current, timeoutS),
  }
}

async function endAll({ sql, laneSqls }: Current, timeoutS: number): Promise<void> {
  await Promise.all([sql, ...laneSqls].map((pool) => pool.end({ timeout: timeoutS })))
}

/**
 * Looks at the pool's connections over a connection of its own. A connection that is idle in a transaction is
 * taken too. Where all of them wait for their client, to read or to write, nothing shows that the client is
 * still connected: false.
 */
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
 * Returns a function to call once a second: it pings the first of `pools` and resolves to whether the
 * database responded. After five late pings in a row, unless all connections are busy, all of `pools`
 * reconnect. Never rejects.
 */
export function createConnectionMonitor(
  pools: readonly ReconnectingPool[],
  log: Log,
  limits = PING_LIMITS,
): () => Promise<boolean> {
  const [first] = pools
  if (first === undefined) throw new Error('there is no pool to watch')
  const ping = createPing(first.sql, limits)
  let late = 0
  let isReconnecting = false
  const reconnectUnlessBusy = async () => {
    isReconnecting = true
    const busy = await first.isBusy()
    try {
      // a ping may have succeeded meanwhile
      if (!busy && late > 0) {
        log.rarely('warn', 'the database is silent; connecting anew')
        for (const pool of pools) pool.reconnect()
      }
    } catch (error) {
      // a file that the URL names cannot be read at the moment
      log.rarely('warn', 'cannot connect anew; trying again', { error: messageOf(error) })
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
