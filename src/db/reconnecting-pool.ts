import type { Log } from '../log.ts'
import { type ConnectOptions, type ConnectTarget, connect, type Sql } from './client.ts'
import { createPing } from './ping.ts'

// A connection whose other end has vanished without a word, behind a firewall that forgot it or beside a machine that
// lost its power, never answers again, and the system notices after a quarter of an hour. Pools are replaced before.

/** A pool that can be replaced by a new one while it is used. */
export interface RenewablePool {
  /** Asks whichever pool is the current one. */
  sql: Sql
  /** Asks; rejects with ETIMEDOUT, and the pool is replaced, when no answer has come within the limit. */
  ask<Answer>(question: (sql: Sql) => Promise<Answer>): Promise<Answer>
  /** Whether all connections of the pool are taken, one at least by a statement at work: another question waits its turn. */
  isAtWork(): Promise<boolean>
  /** Replaces the pool; what it was asked fails as if its connections were lost. */
  renew(): void
  /** Ends the pool when what it was asked is answered, or after `timeoutS`. */
  end(timeoutS: number): Promise<void>
}

/** Longer than a statement may take: a slow one is no silence. */
const SILENCE_MS = 30_000
/** How long the server may take to say what it is doing. */
const LOOK_LIMIT_MS = 3_000

interface Current {
  sql: Sql
  /** Of its connections, in the server's view of who is connected: no other pool has it. */
  name: string
}

/** A pool as `connect` opens one, its `applicationName` followed by a word of its own. Throws as `connect` does. */
export function createRenewable(
  target: ConnectTarget,
  options: ConnectOptions,
  limitMs = SILENCE_MS,
): RenewablePool {
  const open = (): Current => {
    const name = `${options.applicationName} ${crypto.randomUUID().slice(0, 8)}`
    return { name, sql: connect(target, { ...options, applicationName: name }) }
  }
  let current = open()
  const renew = (silent: Current) => {
    // many may find out at once
    if (current !== silent) return
    current = open()
    void silent.sql.end({ timeout: 0 }).catch(() => {})
  }
  return {
    sql: new Proxy(current.sql, {
      apply: (_first, self, args) => Reflect.apply(current.sql, self, args),
      get: (_first, name) => Reflect.get(current.sql, name),
    }),
    async ask(question) {
      const asked = current
      const late = Promise.withResolvers<never>()
      const timer = setTimeout(() => {
        late.reject(
          Object.assign(new Error(`the database gave no answer in ${limitMs} ms`), { code: 'ETIMEDOUT' }),
        )
        renew(asked)
      }, limitMs)
      try {
        return await Promise.race([question(asked.sql), late.promise])
      } finally {
        clearTimeout(timer)
      }
    },
    isAtWork: () => isAtWork(target, options, current.name),
    renew: () => renew(current),
    end: (timeoutS) => current.sql.end({ timeout: timeoutS }),
  }
}

/**
 * Asked by a connection of its own. What is idle within a transaction is taken too; but of connections that all wait for
 * their client, to read or to write, nothing says that the client is still there.
 */
async function isAtWork(target: ConnectTarget, options: ConnectOptions, name: string): Promise<boolean> {
  let late: ReturnType<typeof setTimeout> | undefined
  let end = () => {}
  try {
    // reads the files that the URL may name
    const sql = connect(target, { ...options, max: 1 })
    end = () => void sql.end({ timeout: 0 }).catch(() => {})
    late = setTimeout(end, LOOK_LIMIT_MS)
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
    clearTimeout(late)
    end()
  }
}

/** A ping is not given up for another connection before the silence is noticed: of a pool that is half open one may answer. */
const PING_LIMITS = { limitMs: 2_000, giveUpMs: 8_000 }
/** Pings in a row without an answer, one a second, after which the pools are made anew. */
const MAX_SILENT_PINGS = 5

/**
 * A function to be called once a second: it asks the first of `pools`, and when it has been silent five times, and not
 * since all its connections are at work, makes all of them anew. It resolves to whether the database answered; never
 * rejects.
 */
export function createSilenceWatch(
  pools: readonly RenewablePool[],
  log: Log,
  limits = PING_LIMITS,
): () => Promise<boolean> {
  const [first] = pools
  if (first === undefined) throw new Error('there is no pool to watch')
  const ping = createPing(first.sql, limits)
  let silent = 0
  let looking = false
  const lookCloser = async () => {
    looking = true
    const isBusy = await first.isAtWork()
    try {
      // it may have answered meanwhile
      if (!isBusy && silent > 0) {
        log.warn('the database is silent; connecting anew')
        for (const pool of pools) pool.renew()
      }
    } catch (error) {
      // a file that the URL names, unreadable just now
      log.warn('cannot connect anew; trying again', {
        error: error instanceof Error ? error.message : String(error),
      })
    }
    looking = false
    silent = 0
  }
  return async () => {
    const answer = await ping()
    silent = answer === 'no answer in time' ? silent + 1 : 0
    if (silent >= MAX_SILENT_PINGS && !looking) void lookCloser()
    return answer === 'ok'
  }
}
