import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Config } from '../../config.ts'
import { packedPath } from '../../packed.ts'
import { etagOf, matchesEtag } from '../responses/response.ts'
import type { Route } from './document.ts'
import type { SentEvent } from './webhooks.ts'

// The explorer: Swagger UI, without files of other servers. Its files and the document are made at the first
// request.

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Cloud Analytics API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/explorer.css">
</head>
<body>
<div id="explorer"></div>
<noscript>The explorer needs JavaScript. The document it shows is at <a href="docs/json">docs/json</a>.</noscript>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/explorer.js"></script>
</body>
</html>
`
const SCRIPT = `window.ui = SwaggerUIBundle({
  url: 'docs/json',
  dom_id: '#explorer',
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
})
`
const STYLE = `body { margin: 0; background: #fff; }
.swagger-ui .info { margin: 24px 0; }
`

/** The page may load files and scripts of this server only. Its style sheet has images in data URLs. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' } as const

interface DocsDeps {
  /** All routes of the app; called when the document is made. */
  routes: () => readonly Route[]
  /** What is sent to webhook endpoints. */
  events: () => readonly SentEvent[]
  config: Pick<Config, 'publicUrl' | 'webhookHeaderPrefix'>
}

/** `/docs`, what its page loads, and `/docs/json`, the API's document. None needs a key. */
export const docsRoutes = ({ routes, events, config }: DocsDeps) => {
  let document: Promise<string> | undefined
  const makeDocument = async () => {
    // Loaded at the first request, so that the server starts faster.
    const { createDocument } = await import('./document.ts')
    const prefix = config.publicUrl === null ? '' : new URL(config.publicUrl).pathname.replace(/\/+$/, '')
    const sent = { events: events(), headerPrefix: config.webhookHeaderPrefix }
    return JSON.stringify(createDocument(routes(), prefix, sent))
  }
  const hidden = { detail: { hide: true } }
  return new Elysia()
    .get('/docs', ({ request }) => textResponse(request, PAGE, 'text/html; charset=utf-8'), {
      detail: describe('The API explorer', 'text/html', Type.String()),
    })
    .get('/docs/', () => new Response(null, { status: 308, headers: { location: '../docs' } }), hidden)
    .get(
      '/docs/json',
      async ({ request }) => {
        document ??= makeDocument()
        return textResponse(request, await document, 'application/json')
      },
      {
        detail: describe(
          'This document',
          'application/json',
          Type.Object({ openapi: Type.Literal('3.1.0') }),
        ),
      },
    )
    .get('/docs/explorer.js', ({ request }) => textResponse(request, SCRIPT, TYPES.js), hidden)
    .get('/docs/explorer.css', ({ request }) => textResponse(request, STYLE, TYPES.css), hidden)
    .get(
      '/docs/swagger-ui-bundle.js',
      ({ request }) => packedResponse(request, 'swagger-ui-bundle.js', 'js'),
      hidden,
    )
    .get('/docs/swagger-ui.css', ({ request }) => packedResponse(request, 'swagger-ui.css', 'css'), hidden)
}

const describe = (summary: string, type: string, schema: object) => ({
  summary,
  tags: ['Service'],
  responses: { 200: { description: summary, content: { [type]: { schema } } } },
})

function textResponse(request: Request, text: string, type: string): Response {
  return respond(request, text, etagOf(text), { 'content-type': type })
}

/** A packed file, sent without unpacking it to clients that accept gzip. */
async function packedResponse(request: Request, name: string, type: keyof typeof TYPES): Promise<Response> {
  const packed = await Bun.file(packedPath(name)).bytes()
  const headers = { 'content-type': TYPES[type], vary: 'accept-encoding' }
  const etag = `"${Bun.hash.xxHash3(packed).toString(36)}"`
  if (/\bgzip\b/.test(request.headers.get('accept-encoding') ?? '')) {
    return respond(request, packed, etag, { ...headers, 'content-encoding': 'gzip' })
  }
  return respond(request, Bun.gunzipSync(packed), etag, headers)
}

function respond(
  request: Request,
  body: string | Uint8Array<ArrayBuffer>,
  etag: string,
  headers: Record<string, string>,
): Response {
  const always = { etag, 'cache-control': 'no-cache', 'content-security-policy': PAGE_POLICY }
  if (matchesEtag(request.headers.get('if-none-match') ?? '', etag)) {
    return new Response(null, { status: 304, headers: always })
  }
  // for HEAD, Bun omits the body
  return new Response(body, {
    headers: { ...always, 'referrer-policy': 'no-referrer', ...headers },
  })
}
