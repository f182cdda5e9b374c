// Lists with `per_page=all`: all rows as CSV, from one snapshot, read as fast as the client takes them. Each holds a
// connection until its end: lists have connections of their own, and a slow client has a limited time.

import type { VisibleMember } from '../accounts/people/visibility-queries.ts'
import type { Log } from '../base/log.ts'
import { withTimeout } from '../base/timing.ts'
import type { Fragment, Sql } from '../database/client.ts'
import { readAll } from '../database/pools/read-all.ts'
import { ALL, MAX_PER_PAGE } from './query.ts'
import { createPlaces } from './queues/places.ts'
import { CSV_HEADERS, type CsvColumns, csvLines, csvNames, prefersCsv } from './responses/csv.ts'

/** Lists at once, each over one connection; one of each organization. */
export const WHOLE_LISTS = 4
const PLACES = { total: WHOLE_LISTS, each: 1, waiting: 20, what: 'whole lists' }
const WAIT_MS = 10_000
const ROWS_AT_ONCE = 500
/** The client takes the next part within this time; all parts within this and the time of their bytes at BYTES_PER_S. */
const GRACE_MS = 20_000
const BYTES_PER_S = 128 * 1024

/** The figures and members that the caller sees. A type, since Elysia's context takes no interface. */
export type Viewer = {
  onlyMember: VisibleMember | null
  /** Whether the response leaves members out. */
  hidesMembers: boolean
}

/** The parameters of a page for `per_page=all`; an error for what does not go together with it. */
export const wholeQuery = ({ headers, url }: Request): Record<string, unknown> => ({
  per_page: prefersCsv(headers.get('accept')) ? MAX_PER_PAGE : new Error(`${ALL} needs Accept: text/csv`),
  ...(new URLSearchParams(url.slice(url.indexOf('?') + 1)).getAll('page').some((value) => value !== '') && {
    page: new Error(`must not be given with per_page=${ALL}`),
  }),
})

interface WholeList {
  orgId: string
  columns: CsvColumns<never>
  itemOf: (parsed: never) => unknown
  /** Selects each `item`. */
  statement: Fragment
}

/** Sends whole lists over connections of a pool. */
export function createWholeLists({ sql, log }: { sql: Sql; log: Log }, graceMs = GRACE_MS) {
  const places = createPlaces(PLACES)
  const encoder = new TextEncoder()

  /** The response with all rows; 503 where too many are sent. A later error cuts the connection. */
  const send = async (
    request: Request,
    { orgId, columns, itemOf, statement }: WholeList,
  ): Promise<Response> => {
    const init = { headers: { ...CSV_HEADERS, 'cache-control': 'no-store', vary: 'Accept' } }
    if (request.method === 'HEAD') return new Response(null, init)
    const free = await places.take(orgId, 1, { units: 1, signal: request.signal, waitMs: WAIT_MS })
    const begun = Promise.withResolvers<void>()
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    let text = csvNames(columns)
    let bytes = 0
    let waitedMs = 0
    const write = async (items: readonly { item: string }[]) => {
      text += csvLines(
        columns,
        items.map(({ item }) => itemOf(JSON.parse(item) as never) as never),
      )
      begun.resolve()
      const part = encoder.encode(text)
      text = ''
      bytes += part.length
      const from = performance.now()
      const limitMs = Math.min(graceMs, graceMs + (bytes / BYTES_PER_S) * 1000 - waitedMs)
      const isTaken = writer.write(part).then(() => true)
      if (!(await withTimeout(isTaken, limitMs, false))) throw new Error('the client took it too slowly')
      waitedMs += performance.now() - from
    }
    readAll(sql, statement, ROWS_AT_ONCE, write)
      .then(() => writer.close())
      .catch((error: unknown) => {
        begun.reject(error)
        if (!request.signal.aborted) log.warn('a list was cut off', { org_id: orgId, error })
        // without a reason: the runtime would print it
        writer.abort().catch(() => {})
      })
      .finally(free)
    await begun.promise
    return new Response(readable, init)
  }
  return { send, stop: places.stop }
}

export type WholeLists = ReturnType<typeof createWholeLists>
