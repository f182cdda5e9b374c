import type { PagePosition } from '../../base/json-text.ts'

// The Link header (RFC 8288) of a paged response: references to other pages of the same list, as paths, so that they hold
// behind any proxy, whatever host and scheme the client uses.

/** A query may contain a key by mistake; keys start like this. */
const KEY_START = 'ca_live_'

/** The parameter's name; as it came where its percent-encoding is invalid. */
function nameOf(pair: string): string {
  const raw = pair.split('=', 1)[0] ?? ''
  try {
    return decodeURIComponent(raw)
  } catch {
    return raw
  }
}

/** Percent-encodes the characters that a Link header may not contain. */
const encoded = (text: string): string => text.toWellFormed().replace(/[^!#-;=?-~]/gu, encodeURIComponent)

/** A function from a value of the parameter `name` to a reference with it and all other parameters of `target`. */
function referencesOf(target: string, name: string): (value: string) => string {
  const start = target.indexOf('?')
  if (start === -1) return (value) => `${encoded(target)}?${name}=${value}`
  const others = target
    .slice(start + 1)
    .split('&')
    .filter((pair) => pair !== '' && !pair.includes(KEY_START) && nameOf(pair) !== name)
  const rest = encoded([...others, ''].join('&'))
  const path = encoded(target.slice(0, start))
  return (value) => `${path}?${rest}${name}=${value}`
}

/** The latest link of a page's position: a kept response has the same position for all its requests. */
const latest = new WeakMap<PagePosition, { target: string; link: string }>()

/** `linkOf`, made once for requests of a kept response that follow one another. */
function pageLinkOf(target: string, position: PagePosition, prefix: string): string {
  const known = latest.get(position)
  if (known?.target === target) return known.link
  const link = linkOf(target, position, prefix)
  latest.set(position, { target, link })
  return link
}

/**
 * The Link header of a page of a list: `first`, `prev`, `next` and `last`, as far as they exist; behind the end, `prev` is
 * the last page. `target` is the request's path and query, `prefix` the path that a proxy puts before it.
 */
export function linkOf(target: string, { page, per_page, total }: PagePosition, prefix: string): string {
  const reference = referencesOf(target, 'page')
  const last = Math.max(1, Math.ceil(total / per_page))
  const pages = {
    first: 1,
    prev: page > 1 ? Math.min(page - 1, last) : undefined,
    next: page < last ? page + 1 : undefined,
    last,
  }
  return Object.entries(pages)
    .flatMap(([rel, at]) => (at === undefined ? [] : `<${prefix}${reference(`${at}`)}>; rel="${rel}"`))
    .join(', ')
}

/** The Link header of a part of a list that goes on with `cursor`: `next`. Undefined at its end. */
export function cursorLinkOf(target: string, cursor: string | null, prefix: string): string | undefined {
  if (cursor === null) return undefined
  return `<${prefix}${referencesOf(target, 'cursor')(encodeURIComponent(cursor))}>; rel="next"`
}

/** The Link header of the response for `value`, as a handler returned it; undefined where it is no part of a list. */
export function linkOfValue(target: string, value: unknown, prefix: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if ('pagination' in value && value.pagination !== undefined)
    return pageLinkOf(target, value.pagination as PagePosition, prefix)
  if ('next_cursor' in value) return cursorLinkOf(target, value.next_cursor as string | null, prefix)
  return undefined
}
