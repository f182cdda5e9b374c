import type { Sql } from '../../database/client.ts'
import { createPlaces } from './places.ts'

// Each read of a request has one of the pool's connections, from its first statement to its last. It waits in the queue of its
// organization, and never behind a statement of another's.

/** A read that waits holds little. The time is below that of the client's connection, which may be idle for 30 s. */
const WAIT = { units: 1, signal: undefined, waitMs: 25_000 }
const WAITING = 1_000

/** Runs `work`, one statement at a time, in a place of the organization's. Not inside of another: both would wait. */
export type Read = <Result>(orgId: string, work: (sql: Sql) => Promise<Result>) => Promise<Result>

/** Divides the `total` connections of `sql`; one organization has half at most. Throws 503 after 25 s, or where 1,000 wait. */
export function createReads(sql: Sql, total: number) {
  const places = createPlaces({ total, each: Math.ceil(total / 2), waiting: WAITING, what: 'reads' })
  const take = (orgId: string) => places.take(orgId, 1, WAIT)
  const read: Read = async (orgId, work) => {
    const free = await take(orgId)
    try {
      return await work(sql)
    } finally {
      free()
    }
  }
  return { take, read, load: places.load }
}
