import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { type Config, publicPath } from '../../config.ts'
import { packedFile, sendFile, textFile } from '../pages/static-files.ts'
import type { Route } from '../route.ts'
import type { PlainRoute } from './document.ts'
import type { SentEvent } from './webhooks.ts'

// The explorer: Swagger UI, without files of other servers. Its files and the document are made at the first request
// and kept, 2.6 MB if all of them are asked for packed and unpacked.

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
<p class="back"><a href="./">← Dashboard</a></p>
<div id="explorer"></div>
<noscript>The explorer needs JavaScript. The document it shows is at <a href="docs/json">docs/json</a>.</noscript>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/explorer.js"></script>
</body>
</html>
`
/** The key is kept for the tab, so that reloading the page does not ask for it again; no other tab or visit has it. */
const SCRIPT = `const dark = matchMedia('(prefers-color-scheme: dark)')
// the dashboard's choice, else the system's
const applyTheme = () => {
  const theme = localStorage.getItem('cloud-analytics-theme')
  const isDark = theme === null ? dark.matches : theme === 'dark'
  document.documentElement.classList.toggle('dark-mode', isDark)
}
applyTheme()
dark.addEventListener('change', applyTheme)
addEventListener('storage', applyTheme)
const STORED = 'cloud-analytics.key'
const keepKey = (authorize) => (given) => {
  const key = given.apiKey && given.apiKey.value
  if (typeof key === 'string') sessionStorage.setItem(STORED, key)
  return authorize(given)
}
const forgetKey = (logout) => (names) => {
  sessionStorage.removeItem(STORED)
  return logout(names)
}
window.ui = SwaggerUIBundle({
  url: 'docs/json',
  dom_id: '#explorer',
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  plugins: [() => ({ statePlugins: { auth: { wrapActions: { authorize: keepKey, logout: forgetKey } } } })],
  onComplete() {
    const key = sessionStorage.getItem(STORED)
    if (key !== null) window.ui.preauthorizeApiKey('apiKey', key)
  },
})
`
const STYLE = `:root { color-scheme: light dark; background: light-dark(#fff, #1c2022); }
:root:not(.dark-mode) { color-scheme: light; }
body { margin: 0; }
.back { max-width: 1460px; margin: 0 auto; padding: 12px 20px 0; box-sizing: border-box; font: 14px system-ui, sans-serif; }
.back a { color: light-dark(#2456c4, #84aaff); }
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
  routes: () => readonly PlainRoute[]
  /** The declared routes, below /v1. */
  endpoints: readonly Route[]
  /** The events that are sent to webhook endpoints. */
  events: () => readonly SentEvent[]
  config: Pick<Config, 'publicUrl' | 'webhookHeaderPrefix'>
}

/** `/docs`, what its page loads, and `/docs/json`, the API's document. None needs a key. */
export const docsRoutes = ({ routes, endpoints, events, config }: DocsDeps) => {
  const makeDocument = async () => {
    // Loaded at the first request, so that the server starts faster.
    const { createDocument } = await import('./document.ts')
    const sent = { events: events(), headerPrefix: config.webhookHeaderPrefix }
    return JSON.stringify(createDocument(routes(), endpoints, publicPath(config), sent))
  }
  const page = textFile('text/html; charset=utf-8', () => PAGE)
  const document = textFile('application/json', makeDocument)
  const files = {
    'explorer.js': textFile(TYPES.js, () => SCRIPT),
    'explorer.css': textFile(TYPES.css, () => STYLE),
    'swagger-ui-bundle.js': packedFile(TYPES.js, 'swagger-ui-bundle.js'),
    'swagger-ui.css': packedFile(TYPES.css, 'swagger-ui.css'),
  }
  const hidden = { detail: { hide: true } }
  const app = new Elysia()
    .get('/docs', ({ request }) => sendFile(request, page, PAGE_POLICY), {
      detail: describe('getExplorer', 'The API explorer', 'text/html', Type.String()),
    })
    .get('/docs/', () => new Response(null, { status: 308, headers: { location: '../docs' } }), hidden)
    .get('/docs/json', ({ request }) => sendFile(request, document, PAGE_POLICY), {
      detail: describe(
        'getDocument',
        'This document',
        'application/json',
        Type.Object({ openapi: Type.Literal('3.1.0') }),
      ),
    })
  for (const [name, file] of Object.entries(files)) {
    app.get(`/docs/${name}`, ({ request }) => sendFile(request, file, PAGE_POLICY), hidden)
  }
  return app
}

const describe = (operationId: string, summary: string, type: string, schema: object) => ({
  operationId,
  summary,
  tags: ['Service'],
  responses: { 200: { description: summary, content: { [type]: { schema } } } },
})
