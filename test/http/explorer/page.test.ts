import { describe, expect, spyOn, test } from 'bun:test'
import { createContext, runInContext } from 'node:vm'
import { packedPath } from '../../../src/base/packed-path.ts'
import { connect } from '../../../src/database/client.ts'
import { client, testApp } from '../../support/api.ts'

// Nothing here asks the database: a pool opens its first connection with its first query.
const app = testApp(connect({ url: 'postgres://localhost/none' }, { max: 1, applicationName: 'test' }))

describe('the explorer', () => {
  test('is a page that loads nothing from elsewhere', async () => {
    const ask = client(app)
    const page = await ask('/docs')
    const html = await page.text()
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    // the inline script is the only one that the policy allows
    const [inline, ...others] = [...html.matchAll(/<script>([^<]*)<\/script>/g)].map(
      (match) => match[1] ?? '',
    )
    expect(others).toEqual([])
    const hash = new Bun.CryptoHasher('sha256').update(inline ?? '').digest('base64')
    const policy = `default-src 'none'; script-src 'self' 'sha256-${hash}'; style-src 'self'`
    expect(page.headers.get('content-security-policy')).toStartWith(policy)
    expect(html).not.toMatch(/https?:|style="|\son\w+="/)
    const links = [...html.matchAll(/(?:href|src)="(docs\/[^"]+)"/g)].map((match) => match[1])
    expect(links).toHaveLength(5)
    for (const link of links) {
      for (const accepted of ['gzip, br', 'identity']) {
        const file = await ask(`/${link}`, { headers: { 'accept-encoding': accepted } })
        expect([link, file.status, file.headers.get('cache-control')]).toEqual([link, 200, 'no-cache'])
        const etag = file.headers.get('etag') ?? ''
        const condition = { 'if-none-match': etag, 'accept-encoding': accepted }
        const again = await ask(`/${link}`, { headers: condition })
        expect([again.status, await again.text()]).toEqual([304, ''])
        expect([again.headers.get('vary'), again.headers.get('etag')]).toEqual(['Accept-Encoding', etag])
      }
      const head = await ask(`/${link}`, { method: 'HEAD' })
      expect([head.status, await head.text()]).toEqual([200, ''])
    }
  })

  test.each(['/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css', '/docs/json'])(
    '%s is packed for who takes gzip, and plain for who does not, each under its own ETag',
    async (path) => {
      const plain = await client(app)(path)
      const bytes = await plain.arrayBuffer()
      expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([
        null,
        'Accept-Encoding',
      ])
      const packed = await client(app)(path, { headers: { 'accept-encoding': 'br, gzip' } })
      expect(packed.headers.get('content-encoding')).toBe('gzip')
      expect(packed.headers.get('vary')).toBe('Accept-Encoding')
      expect(Bun.gunzipSync(await packed.arrayBuffer()).buffer).toEqual(bytes)
      const refused = await client(app)(path, { headers: { 'accept-encoding': 'gzip;q=0' } })
      expect(refused.headers.get('content-encoding')).toBeNull()
      expect(refused.headers.get('etag')).toBe(plain.headers.get('etag'))
      expect(packed.headers.get('etag')).not.toBe(plain.headers.get('etag'))
      const condition = { 'if-none-match': plain.headers.get('etag') ?? '', 'accept-encoding': 'gzip' }
      expect((await client(app)(path, { headers: condition })).status).toBe(200)
    },
  )

  test('unpacks a file at most once', async () => {
    const own = client(
      testApp(connect({ url: 'postgres://localhost/none' }, { max: 1, applicationName: 'test' })),
    )
    const unpack = spyOn(Bun, 'gunzipSync')
    const files = spyOn(Bun, 'file')
    try {
      const path = '/docs/swagger-ui-bundle.js'
      for (const accepted of ['identity', 'gzip', 'identity', 'gzip']) {
        expect((await own(path, { headers: { 'accept-encoding': accepted } })).status).toBe(200)
      }
      expect(unpack).toHaveBeenCalledTimes(1)
      const packed = packedPath('swagger-ui-bundle.js')
      expect(files.mock.calls.filter((call) => String(call[0]) === packed)).toHaveLength(1)
    } finally {
      unpack.mockRestore()
      files.mockRestore()
    }
  })

  test('says of HEAD what GET would send', async () => {
    using server = Bun.serve({ port: 0, fetch: app.fetch })
    for (const path of ['/docs', '/docs/json', '/docs/explorer.js', '/docs/swagger-ui.css']) {
      const of = async (method: string) => {
        const answer = await fetch(new URL(path, server.url), {
          method,
          headers: { 'accept-encoding': 'identity' },
        })
        const bytes = (await answer.arrayBuffer()).byteLength
        return {
          bytes,
          told: Number(answer.headers.get('content-length')),
          etag: answer.headers.get('etag'),
        }
      }
      const got = await of('GET')
      expect(got.told).toBe(got.bytes)
      expect(await of('HEAD')).toEqual({ ...got, bytes: 0 })
    }
  })

  /** The options that the page's script passes on to Swagger UI. */
  async function givenOptions() {
    const given: { plugins?: ((system: object) => object)[]; validatorUrl?: unknown }[] = []
    const scope = createContext({
      SwaggerUIBundle: (options: object) => given.push(options),
      matchMedia: () => ({ matches: false, addEventListener: () => {} }),
      localStorage: { getItem: () => null },
      document: { documentElement: { classList: { toggle: () => {} } } },
      addEventListener: () => {},
      MutationObserver: class {
        observe() {}
      },
    })
    runInContext('globalThis.window = globalThis', scope)
    runInContext(await (await client(app)('/docs/explorer.js')).text(), scope)
    // the page calls it in a script of its own
    runInContext("SwaggerUIBundle({ url: 'docs/json' })", scope)
    return given
  }

  test('keeps the key for the tab by what the page calls', async () => {
    const given = await givenOptions()
    expect(given).toMatchObject([{ url: 'docs/json', validatorUrl: null }])
    expect(given[0]?.plugins?.at(-1)?.({})).toHaveProperty('statePlugins.auth.wrapActions.authorize')
  })

  test('resolves an operation, a webhook or a schema with all that it refers to, and without the rest', async () => {
    type Nested = { [name: string]: Nested }
    const resolved: { part: Nested; path: string[] }[] = []
    const system = { fn: { resolveSubtree: (part: Nested, path: string[]) => resolved.push({ part, path }) } }
    const [given] = await givenOptions()
    const { fn } = (given?.plugins?.[0]?.(system) ?? system) as typeof system
    const text = await (await client(app)('/docs/json')).text()
    const document: Nested = JSON.parse(text)
    const named = (section: string, of: Nested = {}) =>
      Object.entries(of).flatMap(([name, inner]) => Object.keys(inner).map((key) => [section, name, key]))
    const paths = [...named('paths', document.paths), ...named('webhooks', document.webhooks)]
    for (const path of [...paths, ['components', 'schemas', 'Session']])
      fn.resolveSubtree(document, [...path])
    expect(resolved.map(({ path }) => path).slice(0, -1)).toEqual(paths)
    const at = (from: Nested | undefined, path: readonly string[]) =>
      path.reduce((value, name) => value?.[name], from)
    for (const { part, path } of resolved) {
      expect(at(part, path)).toEqual(at(document, path))
      const partText = JSON.stringify(part)
      for (const [, ref = ''] of partText.matchAll(/"\$ref":"#\/([^"]+)"/g))
        expect([path, ref, at(part, ref.split('/'))]).toEqual([path, ref, at(document, ref.split('/'))])
      if (path[0] === 'paths') expect(partText.length).toBeLessThan(text.length / 4)
    }
    expect(JSON.stringify(document)).toBe(text)
  })

  test('is found with a slash behind, too', async () => {
    const answer = await client(app)('/docs/')
    expect([answer.status, answer.headers.get('location')]).toEqual([308, '../docs'])
  })
})
