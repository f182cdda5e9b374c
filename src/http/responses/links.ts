import type { PagePosition } from '../../base/json-text.ts'
import { decodePart } from '../../base/text.ts'

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
