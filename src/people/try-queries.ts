import type { Sql } from '../db/client.ts'
import { ApiError } from '../errors.ts'

/** Tries to sign in a minute, for each address and each account. */
const MAX_TRIES = 10

/**
 * Counts a try for each subject, such as an address and an account, in the minute by the clock of the database, which all
 * instances share, or of `at` in tests. Throws RATE_LIMITED when one of them has had more than `limit`.
 */
export async function countTry(
  sql: Sql,
  subjects: readonly string[],
  { limit = MAX_TRIES, at }: { limit?: number; at: Date | undefined },
): Promise<void> {
  const now = sql`coalesce(${at ?? null}::timestamptz, clock_timestamp())`
  for (const subject of subjects) {
    const hash = new Bun.CryptoHasher('sha256').update(subject).digest()
    const [row] = await sql<{ tries: number; rest_s: number }[]>`
      insert into sign_in_tries as t (subject, minute, tries)
      values (${hash}, floor(extract(epoch from ${now}) / 60)::bigint, 1)
      on conflict (subject, minute) do update set tries = t.tries + 1
      returning t.tries, ceil(60 - extract(epoch from ${now})::numeric % 60)::integer as rest_s`
    if (row !== undefined && row.tries > limit) {
      throw new ApiError('RATE_LIMITED', `More than ${limit} tries in this minute`, {
        headers: { 'retry-after': String(Math.max(1, row.rest_s)) },
      })
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
