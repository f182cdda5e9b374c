import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { component } from '../../records/fields.ts'
import { VERSION } from '../../version.ts'
import { packedFile, type StaticFile, sendFile, textFile } from './static-files.ts'

// The dashboard: one page, its script, its style sheet and its icon, all of this server.

/** Nothing inline, nothing of other servers, no frame around it. */
const POLICY =
  "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"

const FILES = {
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const

const Service = component('Service', {
  name: Type.String({ examples: ['Cloud Analytics'] }),
  version: Type.String({ examples: [VERSION] }),
  docs: Type.String({ description: 'Path of the API explorer', examples: ['/docs'] }),
})

/**
 * `/` and what its page loads. None needs a key: the page asks for one. `prefix` is the path that a proxy puts before
 * ours.
 */
export const dashboardRoutes = (prefix: string) => {
  const page = pageFile(prefix)
  const service = textFile('application/json', () =>
    JSON.stringify({ name: 'Cloud Analytics', version: VERSION, docs: `${prefix}/docs` }),
  )
  const app = new Elysia().get(
    '/',
    async ({ request }) => {
      const response = wantsJson(request.headers.get('accept') ?? '')
        ? await sendFile(request, service, POLICY)
        : await sendFile(request, page, POLICY)
      response.headers.append('vary', 'Accept')
      return response
    },
    {
      detail: {
        operationId: 'getService',
        summary: 'The dashboard, or what serves here for a client that accepts JSON alone',
        tags: ['Service'],
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
  // one page serves both paths: it shows what its path names
  for (const path of ['/accept', '/device']) {
    app.get(path, ({ request }) => sendFile(request, page, POLICY), { detail: { hide: true } })
  }
  for (const [name, type] of Object.entries(FILES)) {
    const file = packedFile(type, name)
    // a browser asks for the other where a page names none, as where it shows JSON
    for (const path of [`/dashboard/${name}`, ...(name === 'icon.svg' ? ['/favicon.ico'] : [])]) {
      app.get(path, ({ request }) => sendFile(request, file, POLICY), { detail: { hide: true } })
    }
  }
  return app
}

/**
 * The page. Its URLs are relative, so that a proxy may put any path before them; where PUBLIC_URL names that path, they
 * begin with it: then the page also works at the path without a slash at its end.
 */
function pageFile(prefix: string): StaticFile {
  const type = 'text/html; charset=utf-8'
  const packed = packedFile(type, 'page.html')
  if (prefix === '') return packed
  return textFile(type, async () => {
    const base = Bun.escapeHTML(`${prefix}/`)
    return new TextDecoder()
      .decode(await packed.plain())
      .replaceAll(/(?<=<meta name="base" content=")|(?<=(?:href|src)=")/g, () => base)
  })
}

/** A browser asks for HTML and for anything; a program that asks for JSON alone gets it. */
const wantsJson = (accept: string): boolean =>
  /\bapplication\/json\b/.test(accept) && !/\btext\/html\b/.test(accept)
