// Checks whether the database responds. Calls share one query in flight, so that checks do not pile up. Never rejects.

import { withTimeout } from '../../base/timing.ts'
import type { Sql } from '../client.ts'

type PingResult = 'ok' | 'unreachable' | 'no answer in time'

type Run = (statement: (sql: Sql) => Promise<unknown>) => Promise<unknown>

interface PingLimits {
  /** A caller waits at most this long. */
  limitMs: number
  /** A query counts as lost after this time: the next call then sends another one, over another connection. */
  giveUpMs: number
}

export function createPing(run: Run, { limitMs, giveUpMs }: PingLimits): () => Promise<PingResult> {
  let inFlight: { result: Promise<PingResult>; startedMs: number } | undefined
  return () => {
    if (inFlight === undefined || performance.now() - inFlight.startedMs > giveUpMs) {
      const query = { result: ping(run), startedMs: performance.now() }
      inFlight = query
      void query.result.then(() => {
        if (inFlight === query) inFlight = undefined
      })
    }
    return withTimeout(inFlight.result, limitMs, 'no answer in time')
  }
}

const ping = (run: Run): Promise<PingResult> =>
  run((sql) => sql`select 1`).then(
    () => 'ok',
    () => 'unreachable',
  )
