// The API's document and its explorer: those of @elysiajs/swagger, the one completed, the other without files of other
// servers. They are made at the first request and kept, as are the files, 2.6 MB if all of them are asked for packed and
// unpacked.

import { swagger } from '@elysiajs/swagger'
import { Type } from '@sinclair/typebox'
import { Elysia, type InternalRoute } from 'elysia'
import { VERSION } from '../../base/version.ts'
import { type Config, publicPath } from '../../config.ts'
import { pathOf } from '../context.ts'
import { fileHeaders, HTML_TYPE, packedFile, pageAt, type StaticFile, textFile } from '../static-files.ts'
import type { PluginDocument } from './openapi.ts'
import { TITLE } from './text.ts'
import type { SentEvent } from './webhooks.ts'

const PAGE_START = `<body><p class="back"><a href="./">← Dashboard</a></p>
<noscript>The explorer needs JavaScript. The document it shows is at <a href="docs/json">docs/json</a>.</noscript>`

/** The page may load files and scripts of this server only. Its style sheet has images in data URLs. */
const policyOf = (scripts: string) =>
  `default-src 'none'; script-src 'self' ${scripts}; style-src 'self'; img-src 'self' data:; connect-src 'self'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const FILES = ['explorer.js', 'explorer.css', 'swagger-ui-bundle.js', 'swagger-ui.css']
const described = (operationId: string, summary: string, type: string, schema: object) => ({
  get: {
    ...{ operationId, summary, tags: ['Service'] },
    responses: { 200: { description: summary, content: { [type]: { schema } } } },
  },
})

/** The plugin, with local files where it takes other paths. */
const plugin = () =>
  swagger({
    provider: 'swagger-ui',
    path: '/docs',
    theme: 'docs/swagger-ui.css',
    autoDarkMode: false,
    excludeStaticFile: false,
    // the same routes once more: the document names a second server
    exclude: [/^\/(?:api|otlp)\/v1\//],
    documentation: {
      // goes into attributes of the page as it is
      info: { title: TITLE, description: 'The API of Cloud Analytics', version: VERSION },
      // the plugin hides its own
      paths: {
        '/docs': described('getExplorer', 'The API explorer', 'text/html', Type.String()),
        '/docs/json': described(
          'getDocument',
          'This document',
          'application/json',
          Type.Object({ openapi: Type.Literal('3.1.0') }),
        ),
      },
    },
    swaggerOptions: {
      deepLinking: true,
      displayRequestDuration: true,
      filter: true,
      tryItOutEnabled: true,
      defaultModelsExpandDepth: 0,
    },
  })

interface DocsDeps {
  /** All routes of the app; called when the document is made. */
  routes: () => readonly InternalRoute[]
  events: () => readonly SentEvent[]
  config: Pick<Config, 'publicUrl' | 'webhookHeaderPrefix' | 'webhookRetryDelaysS'>
}

/** The plugin's page with the files of this server, and the policy that allows its inline script. */
async function pageOf(page: Response): Promise<{ file: StaticFile; policy: string }> {
  const html = (await page.text())
    .replace(
      /<script src="[^"]*swagger-ui-bundle\.js"[^>]*><\/script>/,
      '<script src="docs/swagger-ui-bundle.js"></script><script src="docs/explorer.js"></script>',
    )
    .replace(
      '</head>',
      '<link rel="icon" href="data:," /><link rel="stylesheet" href="docs/explorer.css" /></head>',
    )
    .replace('<body>', PAGE_START)
  const inline = /<script>([\s\S]*)<\/script>/.exec(html)?.[1]
  if (inline === undefined || /https?:/.test(html))
    throw new Error('the explorer is another page than expected')
  const hash = new Bun.CryptoHasher('sha256').update(inline).digest('base64')
  return { file: textFile(HTML_TYPE, () => html), policy: policyOf(`'sha256-${hash}'`) }
}

/** `/docs`, what its page loads, and `/docs/json`, the API's document. None needs a key. */
export const docs = ({ routes, events, config }: DocsDeps) => {
  let page: ReturnType<typeof pageOf> | undefined
  let document: StaticFile | undefined
  const documentOf = (given: unknown) =>
    textFile('application/json', async () => {
      // loaded at the first request, so that the server starts faster
      const { completed } = await import('./openapi.ts')
      const { webhookHeaderPrefix: headerPrefix, webhookRetryDelaysS: retryDelaysS } = config
      const sent = { events: events(), headerPrefix, retryDelaysS }
      return JSON.stringify(completed(given as PluginDocument, routes(), publicPath(config), sent))
    })
  const hidden = { detail: { hide: true } }
  const app = new Elysia().onBeforeHandle(fileHeaders(policyOf('')))
  for (const name of FILES) app.get(`/docs/${name}`, packedFile(name), hidden)
  return app
    .onAfterHandle(async ({ request, responseValue, set }) => {
      if (pathOf(request.url) === '/docs/json') {
        document ??= documentOf(responseValue)
        return await document()
      }
      // Elysia gives what makes its Response
      page ??= pageOf((responseValue as () => Response)())
      const { file, policy } = await page
      set.headers['content-security-policy'] = policy
      return await pageAt(file)({ request })
    })
    .use(plugin())
}
