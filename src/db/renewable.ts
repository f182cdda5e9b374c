import type { Log } from '../log.ts'
import type { Sql } from './client.ts'
import { createPing } from './ping.ts'

// A connection whose other end has vanished without a word, behind a firewall that forgot it or beside a machine that
// lost its power, never answers again, and the system notices after a quarter of an hour. Pools are replaced before.

/** A pool that can be replaced by a new one while it is used. */
export interface RenewablePool {
  /** Asks whichever pool is the current one. */
  sql: Sql
  /** Asks; rejects with ETIMEDOUT, and the pool is replaced, when no answer has come within the limit. */
  ask<Answer>(question: (sql: Sql) => Promise<Answer>): Promise<Answer>
  /** Opens a pool like it, for the caller to end. */
  open(): Sql
  /** Replaces the pool; what it was asked fails as if its connections were lost. */
  renew(): void
  /** Ends the pool when what it was asked is answered, or after `timeoutS`. */
  end(timeoutS: number): Promise<void>
}

/** Longer than a statement may take: a slow one is no silence. */
const SILENCE_MS = 30_000

export function createRenewable(open: () => Sql, limitMs = SILENCE_MS): RenewablePool {
  let current = open()
  const renew = (silent: Sql) => {
    // many may find out at once
    if (current !== silent) return
    current = open()
    void silent.end({ timeout: 0 }).catch(() => {})
  }
  return {
    sql: new Proxy(current, {
      apply: (_first, self, args) => Reflect.apply(current, self, args),
      get: (_first, name) => Reflect.get(current, name),
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
        return await Promise.race([question(asked), late.promise])
      } finally {
        clearTimeout(timer)
      }
    },
    open,
    renew: () => renew(current),
    end: (timeoutS) => current.end({ timeout: timeoutS }),
  }
}

/** A ping is not given up for another connection before the silence is noticed: of a pool that is half open one may answer. */
const PING_LIMITS = { limitMs: 2_000, giveUpMs: 8_000 }
/** Pings in a row without an answer, one a second, after which the pools are made anew. */
const MAX_SILENT_PINGS = 5

/** How long the server may take to say what it is doing. */
const LOOK_LIMIT_MS = 3_000

/**
 * A function to be called once a second: it asks the first of `pools`, and makes all of them anew when it has been silent
 * five times and is not at work on what it was asked before. It resolves to whether the database answered; never rejects.
 */
export function createSilenceWatch(pools: readonly RenewablePool[], log: Log): () => Promise<boolean> {
  const [first] = pools
  if (first === undefined) throw new Error('there is no pool to watch')
  const ping = createPing(first.sql, PING_LIMITS)
  let silent = 0
  let looking = false
  return async () => {
    const answer = await ping.ask()
    silent = answer === 'no answer in time' ? silent + 1 : 0
    if (silent >= MAX_SILENT_PINGS && !looking) {
      looking = true
      const isBusy = await isAtWork(first, ping.backend())
      looking = false
      silent = 0
      if (!isBusy) {
        log.warn('the database is silent; connecting anew')
        for (const pool of pools) pool.renew()
      }
    }
    return answer === 'ok'
  }
}

/**
 * Whether the server's process `pid` runs a statement, so that the connection to it is there, and the ping waits its turn:
 * asked by a connection of its own. With a pooler between that names no process of the server, never.
 */
async function isAtWork(pool: RenewablePool, pid: number | null): Promise<boolean> {
  if (pid === null) return false
  const sql = pool.open()
  const late = setTimeout(() => void sql.end({ timeout: 0 }).catch(() => {}), LOOK_LIMIT_MS)
  try {
    const rows = await sql`
      select 1
      from pg_stat_activity a
      where a.pid = ${pid}
        and a.state = 'active'`
    return rows.length > 0
  } catch {
    return false
  } finally {
    clearTimeout(late)
    void sql.end({ timeout: 0 }).catch(() => {})
  }
}
