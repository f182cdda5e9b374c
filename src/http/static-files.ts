// Serves files that are packed into the program.

import { JsonText } from '../base/json-text.ts'
import { onceResolved } from '../base/memoize.ts'
import { packedPath } from '../base/packed-path.ts'
import { pathOf, targetOf } from './context.ts'
import { CachedResponse, etagOf, type ResponseHeaders, responseOf } from './responses/response.ts'

export const HTML_TYPE = 'text/html; charset=utf-8'
const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  html: HTML_TYPE,
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** A file that is made at the first request and kept, packed and unpacked; what fails is made again. */
export type StaticFile = () => Promise<CachedResponse>

/** `make` with its result kept. Elysia waits for the result of a function whose text says that it is async. */
function cachedFile(make: () => Promise<CachedResponse>): StaticFile {
  const load = onceResolved(make)
  return async () => await load()
}

/** A text that the server makes. */
export const textFile = (contentType: string, text: () => string | Promise<string>): StaticFile =>
  cachedFile(async () => responseOf(new JsonText(await text()), { contentType }))

export const packedFile = (name: string): StaticFile =>
  cachedFile(async () => {
    const gzip = await Bun.file(packedPath(name)).bytes()
    const contentType = TYPES[name.slice(name.lastIndexOf('.') + 1)]
    const file = new CachedResponse(Bun.gunzipSync(gzip), etagOf(gzip), { contentType }, ['gzip'])
    file.compressed.set('gzip', gzip)
    return file
  })

/** Answers a path with a page, whose URLs are relative: a path with a slash at its end is redirected to the one without. */
export const pageAt =
  <Page>(page: () => Promise<Page>) =>
  async ({ request: { url } }: { request: Request }): Promise<Page | Response> => {
    const [path, target] = [pathOf(url), targetOf(url)]
    if (target[path.length] !== '/') return await page()
    const location = `..${path}${target.slice(path.length + 1)}`
    return new Response(null, { status: 308, headers: { location } })
  }

/** Sets the headers of files, with the Content-Security-Policy of a page that loads them. */
export const fileHeaders =
  (policy: string) =>
  ({ set }: { set: { headers: ResponseHeaders } }): void => {
    set.headers['content-security-policy'] = policy
    set.headers['referrer-policy'] = 'no-referrer'
  }
