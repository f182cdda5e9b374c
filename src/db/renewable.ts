import type { Sql } from './client.ts'

/** A pool that is replaced when it falls silent: a connection whose other end vanished without a word answers never. */
export interface RenewablePool {
  /** The pool of now, for work that takes longer than the limit. */
  current(): Sql
  /** Asks; rejects with ETIMEDOUT, and the pool is replaced, when no answer has come within the limit. */
  ask<Answer>(question: (sql: Sql) => Promise<Answer>): Promise<Answer>
  /** Replaces the pool: somebody else found that it is silent. */
  renew(): void
  /** Ends the pool when what it was asked is answered, or after `timeoutS`. */
  end(timeoutS: number): Promise<void>
}

/** `limitMs` must be longer than the statement timeout of the pools that `open` opens: a slow statement is no silence. */
export function createRenewable(open: () => Sql, limitMs: number): RenewablePool {
  let current = open()
  const renew = (silent: Sql) => {
    // many may find out at once
    if (current !== silent) return
    current = open()
    void silent.end({ timeout: 0 }).catch(() => {})
  }
  return {
    current: () => current,
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
    renew: () => renew(current),
    end: (timeoutS) => current.end({ timeout: timeoutS }),
  }
}
