// The dashboard: one page, its script, its style sheet and its icon, all of this server.

import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { component } from '../analysis/records/fields.ts'
import { ApiError } from '../base/errors.ts'
import { packedPath } from '../base/packed-path.ts'
import { VERSION } from '../base/version.ts'
import {
  fileHeaders,
  HTML_TYPE,
  packedFile,
  pageAt,
  type StaticFile,
  textFile,
} from '../http/static-files.ts'

/** Nothing inline, nothing of other servers, no frame around it. */
const POLICY =
  "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"

/** The script has a number of parts that the build decides on. */
const FILE = /^(?:app\.js|app\.css|icon\.svg|part\d{1,2}\.js)$/

const Service = component('Service', {
  name: Type.String({ examples: ['Cloud Analytics'] }),
  version: Type.String({ examples: [VERSION] }),
  docs: Type.String({ description: 'Path of the API explorer', examples: ['/docs'] }),
})

/** `/` and what its page loads. None needs a key: the page asks for one. `prefix` is the path that a proxy puts before ours. */
export const dashboard = (prefix: string) => {
  const page = pageFile(prefix)
  const service = textFile('application/json', () =>
    JSON.stringify({ name: 'Cloud Analytics', version: VERSION, docs: `${prefix}/docs` }),
  )
  const hidden = { detail: { hide: true } }
  const app = new Elysia({ tags: ['Service'] })
    .onBeforeHandle(fileHeaders(POLICY))
    .get(
      '/',
      ({ request, set }) => {
        set.headers.vary = 'Accept'
        return wantsJson(request.headers.get('accept') ?? '') ? service() : page()
      },
      {
        detail: {
          operationId: 'getService',
          summary: 'The dashboard, or what serves here for a client that accepts JSON alone',
          responses: {
            200: {
              description: 'The dashboard',
              content: {
                'text/html': { schema: Type.String() },
                'application/json': { schema: Service as object },
              },
            },
          },
        },
      },
    )
    // one page serves these paths: it shows what its path names
    .get('/accept', pageAt(page), hidden)
    .get('/device', pageAt(page), hidden)
    .get('/setup', pageAt(page), hidden)
    // a browser asks for it where a page names none, as where it shows JSON
    .get('/favicon.ico', packedFile('icon.svg'), hidden)
  const files = new Map<string, StaticFile>()
  return app.get(
    '/dashboard/:name',
    async ({ params: { name } }) => {
      if (!FILE.test(name) || !(await Bun.file(packedPath(name)).exists()))
        throw new ApiError('NOT_FOUND', 'no such file')
      return await files.getOrInsertComputed(name, packedFile)()
    },
    hidden,
  )
}

/** The page. Its URLs are relative, or begin with PUBLIC_URL's path: a proxy may put any path before them. */
function pageFile(prefix: string): StaticFile {
  const packed = packedFile('page.html')
  if (prefix === '') return packed
  return textFile(HTML_TYPE, async () => {
    const base = Bun.escapeHTML(`${prefix}/`)
    return new TextDecoder()
      .decode((await packed()).bodyIn(undefined))
      .replaceAll(/(?<=<meta name="base" content=")|(?<=(?:href|src)=")/g, () => base)
  })
}

/** A browser asks for HTML and for anything; a program that asks for JSON alone gets it. */
const wantsJson = (accept: string): boolean =>
  /\bapplication\/json\b/.test(accept) && !/\btext\/html\b/.test(accept)
