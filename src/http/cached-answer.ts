// Answers a read: from memory, or by what the handler reads; as CSV, or with all rows of a list, where they are asked for.

import { inZone } from '../accounts/organizations/zone-queries.ts'
import type { Access } from '../accounts/people/callers.ts'
import { UTC } from '../base/dates.ts'
import type { JsonText } from '../base/json-text.ts'
import type { Sql } from '../database/client.ts'
import { lean } from '../database/statement-parts.ts'
import type { Route } from './declared.ts'
import { csvSource, prefersCsv } from './responses/csv.ts'
import { type CachedResponse, type Computed, cacheKeyOf } from './responses/response.ts'
import type { ResponseCache } from './responses/response-cache.ts'
import type { Viewer, WholeLists } from './whole-list.ts'

export interface CachedDeps {
  sql: Sql
  cache: ResponseCache
  wholeLists: WholeLists
}

/** Makes what a response depends on besides the request, its viewer and the organization's data and time zone. */
type Further = (zone: string) => Record<string, string>

/** A request of somebody who is allowed, with what Elysia has checked. */
interface Call {
  route: Route
  request: Request
  params: Record<string, string>
  query: Record<string, unknown>
  /** Whether all rows of the list are asked for. */
  isWhole: boolean
  access: Access
  viewer: Viewer
}

/** Makes the functions by which the handler of a request reads. */
export function createCachedAnswer({ sql, cache, wholeLists }: CachedDeps) {
  const reader = lean(sql)

  const respond = async (
    { route: { operationId, list }, request, params, query, isWhole, access: { orgId }, viewer }: Call,
    read: (sql: Sql, zone: string) => Promise<Computed>,
    zone: string,
    further: Record<string, string> | undefined,
  ): Promise<CachedResponse | Response> => {
    const variesByAccept = list?.columns !== undefined
    const isCsv = variesByAccept && prefersCsv(request.headers.get('accept'))
    const columns = isCsv ? list?.columns?.(query as never) : undefined
    if (isWhole && list !== undefined && columns !== undefined) {
      const { statement } = await list.whole(sql, orgId, query, { ...viewer, zone })
      return await wholeLists.send(request, { orgId, columns, itemOf: list.itemOf, statement })
    }
    const key = cacheKeyOf(operationId, params, query, {
      ...(zone !== UTC && { zone }),
      ...further,
      hidesMembers: viewer.hidesMembers || undefined,
      onlyMember: viewer.onlyMember?.id,
    })
    const json = { key, variesByAccept }
    const source = columns === undefined ? json : csvSource(json, columns)
    return await cache.respond(orgId, source, () => read(reader, zone))
  }

  return (call: Call) => {
    const { route, query, access, viewer } = call
    /** Reads by the organization's time zone. */
    const byZone = <Result>(work: (zone: string) => Promise<Result>) => inZone(sql, access, work)
    /** Answers from memory, until the organization's data change, or by what `read` reads; typed as that. */
    const cached = <Value extends Computed>(
      read: (sql: Sql, zone: string) => Promise<Value>,
      further?: Further,
    ): Promise<Value> => byZone((zone) => respond(call, read, zone, further?.(zone))) as Promise<never>
    /** Answers by the option `list` in the same way; with all rows where they are asked for. */
    const page = (further?: Further): Promise<JsonText> => {
      const { list } = route
      if (list === undefined) throw new Error(`${route.operationId} declares no list`)
      return cached((from, zone) => list.page(from, access.orgId, query, { ...viewer, zone }), further)
    }
    return { inZone: byZone, cached, page }
  }
}
