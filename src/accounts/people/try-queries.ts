// Counts and limits tries to sign in, by address and account, over all instances.

import { tooMany } from '../../base/errors.ts'
import type { Sql } from '../../database/client.ts'

/** Tries to sign in a minute, for each address and each account. */
const MAX_TRIES = 10

/** Subjects that are remembered to be over the limit, so that further tries of theirs cost no statement. */
const MAX_REMEMBERED = 10_000

/** Counts a try for each subject in the database's minute, or that of `at`. Throws RATE_LIMITED above `limit` of one. */
export type CountTry = (
  subjects: readonly string[],
  options: { limit?: number; at: Date | undefined },
) => Promise<void>

export function createTryCounter(sql: Sql): CountTry {
  /** The ends of their minutes by this process's clock. */
  const over = new Map<string, number>()
  return async (subjects, { limit = MAX_TRIES, at }) => {
    const refused = (restMs: number) =>
      tooMany(`More than ${limit} tries in this minute`, Math.max(1, Math.ceil(restMs / 1000)))
    for (const subject of subjects) {
      const restMs = (over.get(subject) ?? 0) - performance.now()
      if (restMs > 0) throw refused(restMs)
    }
    const now = sql`coalesce(${at ?? null}::timestamptz, clock_timestamp())`
    for (const subject of subjects) {
      const hash = new Bun.CryptoHasher('sha256').update(subject).digest()
      const [row] = await sql<{ tries: number; rest_ms: number }[]>`
        insert into sign_in_tries as t (subject, minute, tries)
        values (${hash}, floor(extract(epoch from ${now}) / 60)::bigint, 1)
        on conflict (subject, minute) do update set tries = t.tries + 1
        returning t.tries, (60000 - extract(epoch from ${now})::numeric * 1000 % 60000)::integer as rest_ms`
      if (row === undefined || row.tries <= limit) continue
      if (over.size >= MAX_REMEMBERED) over.clear()
      over.set(subject, performance.now() + row.rest_ms)
      throw refused(row.rest_ms)
    }
  }
}

/** Deletes the counts of earlier minutes; returns how many. */
export async function deleteOldTries(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from sign_in_tries
    where minute < floor(extract(epoch from now()) / 60) - 1`
  return count
}
