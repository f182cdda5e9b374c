// The one place where responses are made, of what handlers return: text, ETag, 304, compression, Link and Location.

import type { TSchema } from '@sinclair/typebox'
import { Elysia, ElysiaCustomStatusResponse, ValidationError } from 'elysia'
import { compiledSchema } from '../analysis/records/problems.ts'
import { JsonText, type PagePosition } from '../base/json-text.ts'
import { decodePart } from '../base/text.ts'
import type { RecordRequest } from './access-log.ts'
import { context, pathOf, targetOf } from './context.ts'
import type { Gate } from './queues/gate.ts'
import {
  CachedResponse,
  matchesEtag,
  type ResponseHeaders,
  responseOf,
  streamOf,
} from './responses/response.ts'
import type { ResponseCache } from './responses/response-cache.ts'

/** The metrics count a request that matches no route under this name. */
const NO_ROUTE = 'none'

/** Elysia's `set`, as far as it is used here. */
interface ResponseSet {
  headers: ResponseHeaders
  status?: number | string | undefined
}

/** Makes the response for what a handler returned: 204 for nothing, a Response with the headers of `set`. `isApi`: below /v1. */
export type Answer = (given: unknown, set: ResponseSet, request: Request, isApi: boolean) => Response

/** The value as the text of a response, unless it was made before. */
function responseBody(value: unknown, { headers }: ResponseSet): CachedResponse {
  if (value instanceof CachedResponse) return value
  const type = headers['content-type']
  if (type === undefined) return responseOf(value, {})
  return responseOf(typeof value === 'string' ? new JsonText(value) : value, { contentType: String(type) })
}

/** `grow` counts the memory of compressed bodies that are kept; `prefix` is the path that a proxy adds, `` or `/analytics`. */
export const createAnswer =
  (grow: ResponseCache['grow'], prefix: string): Answer =>
  (given, set, request, isApi) => {
    const { headers } = set
    if (given instanceof Response) {
      for (const name in headers) if (!given.headers.has(name)) given.headers.set(name, String(headers[name]))
      return given
    }
    let value = given
    if (value instanceof ElysiaCustomStatusResponse) {
      set.status = value.code
      value = value.response
    }
    if (set.status === 201 && value instanceof Object && 'id' in value)
      headers.location ??= `${pathOf(request.url)}/${value.id}`
    if (headers.location !== undefined) headers.location = `${prefix}${headers.location}`
    const link = linkOfValue(targetOf(request.url), value, prefix)
    if (link !== undefined) headers.link = link
    const status = value === undefined ? 204 : Number(set.status ?? 200)
    const init = { status, headers: headers as Record<string, string> }
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const isKept = isRead && status === 200 && headers['cache-control'] !== 'no-store'
    headers['cache-control'] ??= !isKept ? 'no-store' : isApi ? 'private, no-cache' : 'no-cache'
    if (value === undefined) return new Response(null, init)
    const body = responseBody(value, set)
    const { contentType = 'application/json', variesByAccept } = body.source
    headers['content-type'] = contentType
    // not packed: a secret that was made must not show in the size of a packed body
    if (!isKept) return new Response(body.body, init)
    const encoding = body.encodingFor(request.headers.get('accept-encoding'))
    const etag = body.etagIn(encoding)
    headers.etag = etag
    const varies = variesByAccept === true ? 'Accept' : headers.vary
    headers.vary = varies === undefined ? 'Accept-Encoding' : `${varies}, Accept-Encoding`
    if (matchesEtag(request.headers.get('if-none-match'), etag)) {
      delete headers['content-type']
      return new Response(null, { ...init, status: 304 })
    }
    if (encoding !== undefined) headers['content-encoding'] = encoding
    const bytes = body.bodyIn(encoding, grow)
    return new Response(isApi ? streamOf(bytes, request) : bytes, init)
  }

/** Sends what handlers return, frees what the request had, and writes its line in the log. */
export const answers = ({ gate, record, answer }: { gate: Gate; record: RecordRequest; answer: Answer }) =>
  new Elysia()
    .use(context)
    // `route` is undefined where no route takes the request, whatever its type
    .mapResponse(
      { as: 'global' },
      ({ responseValue, set, request, startedAt, requestId, admitted, route: pattern }) => {
        gate.release(request)
        const response = answer(responseValue, set, request, admitted !== undefined)
        const route = (pattern as string | undefined) ?? NO_ROUTE
        const { method, url } = request
        const { status } = response
        record({ method, url, route, status, startedAt, requestId, access: admitted?.access })
        // Elysia returns a Response as it is where `set` has nothing; else it would copy it, with a stream of its body.
        set.headers = {}
        set.status = 200
        return response
      },
    )

/** A handler may return the text of its JSON. */
const sentFor = (value: unknown): unknown => {
  if (value instanceof JsonText) return JSON.parse(value.text)
  return value instanceof CachedResponse ? JSON.parse(new TextDecoder().decode(value.body)) : value
}

const isJson = (value: unknown) =>
  !(value instanceof Response || (value instanceof CachedResponse && value.source.contentType !== undefined))

/**
 * Checks what a handler returned, with this status unless it says another: in tests and under `bun run dev`. In production that
 * took 15 % of a request. Throws as Elysia does.
 */
export function checkResponse(schemas: Record<string, TSchema>, given: unknown, status: unknown = 200): void {
  const isCustom = given instanceof ElysiaCustomStatusResponse
  const value: unknown = isCustom ? given.response : given
  const schema = schemas[isCustom ? given.code : String(status)]
  if (schema === undefined || schema.type === 'void' || !isJson(value)) return
  const sent = sentFor(value)
  const check = compiledSchema(schema)
  if (!check.Check(sent)) throw new ValidationError('response', check, sent)
}

// The Link header (RFC 8288) of a paged response: references to other pages of the same list, as paths, so that they hold
// behind any proxy, whatever host and scheme the client uses.

/** A query may contain a key by mistake; keys start like this. */
const KEY_START = 'ca_live_'

/** Percent-encodes the characters that a Link header may not contain. */
const encoded = (text: string): string => text.toWellFormed().replace(/[^!#-;=?-~]/gu, encodeURIComponent)

/** References to `target` with other values of the parameter `name`, by their relation; `undefined` is left out. */
function references(target: string, name: string, values: Record<string, unknown>, prefix: string): string {
  const at = target.indexOf('?')
  const pairs = at === -1 ? [] : target.slice(at + 1).split('&')
  let start = `${at === -1 ? target : target.slice(0, at)}?`
  for (const pair of pairs)
    if (pair !== '' && !pair.includes(KEY_START) && decodePart(pair.split('=', 1)[0] ?? '') !== name)
      start += `${pair}&`
  const link = `${prefix}${encoded(`${start}${name}=`)}`
  return Object.entries(values)
    .flatMap(([rel, value]) => (value === undefined ? [] : `<${link}${value}>; rel="${rel}"`))
    .join(', ')
}

/** The Link header of a page: `first`, `prev`, `next`, `last` as far as they exist; behind the end, `prev` is the last page. */
export function linkOf(target: string, { page, per_page, total }: PagePosition, prefix: string): string {
  const last = Math.max(1, Math.ceil(total / per_page))
  const prev = page > 1 ? Math.min(page - 1, last) : undefined
  const next = page < last ? page + 1 : undefined
  return references(target, 'page', { first: 1, prev, next, last }, prefix)
}

/** The latest link of a page's position: a kept response has the same position for all its requests. */
const latest = new WeakMap<PagePosition, { target: string; link: string }>()

/** `linkOf`, made once for requests of a kept response that follow one another. */
function pageLinkOf(target: string, position: PagePosition, prefix: string): string {
  const last = latest.get(position)
  if (last?.target === target) return last.link
  const link = linkOf(target, position, prefix)
  latest.set(position, { target, link })
  return link
}

/** The Link header of the response for `value`, as a handler returned it; undefined where it is no part of a list. */
export function linkOfValue(target: string, value: unknown, prefix: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if ('pagination' in value && value.pagination !== undefined)
    return pageLinkOf(target, value.pagination as PagePosition, prefix)
  if (!('next_cursor' in value) || value.next_cursor === null) return undefined
  return references(target, 'cursor', { next: encodeURIComponent(String(value.next_cursor)) }, prefix)
}
