import { describe, expect, test } from 'bun:test'
import { connect } from '../../src/db/client.ts'
import { client, testApp } from '../support/api.ts'

// Nothing here asks the database: a pool opens its first connection with its first query.
const app = testApp(connect({ url: 'postgres://localhost/none' }, { max: 1, applicationName: 'test' }))

describe('the explorer', () => {
  test('is a page that loads nothing from elsewhere', async () => {
    const ask = client(app)
    const page = await ask('/docs')
    const html = await page.text()
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
    expect(html).not.toMatch(/https?:|<script>|style="|\son\w+="/)
    const links = [...html.matchAll(/(?:href|src)="(docs\/[^"]+)"/g)].map((match) => match[1])
    expect(links).toHaveLength(5)
    for (const link of links) {
      const file = await ask(`/${link}`, { headers: { 'accept-encoding': 'gzip, br' } })
      expect([link, file.status, file.headers.get('cache-control')]).toEqual([link, 200, 'no-cache'])
      const etag = file.headers.get('etag') ?? ''
      const again = await ask(`/${link}`, { headers: { 'if-none-match': etag } })
      expect([again.status, await again.text()]).toEqual([304, ''])
      const head = await ask(`/${link}`, { method: 'HEAD' })
      expect([head.status, await head.text()]).toEqual([200, ''])
    }
  })

  test('is packed for who takes gzip, and plain for who does not', async () => {
    const path = '/docs/swagger-ui-bundle.js'
    const plain = await (await client(app)(path)).arrayBuffer()
    const packed = await client(app)(path, { headers: { 'accept-encoding': 'br, gzip' } })
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(packed.headers.get('vary')).toBe('accept-encoding')
    expect(Bun.gunzipSync(await packed.arrayBuffer()).buffer).toEqual(plain)
    expect(new TextDecoder().decode(plain)).toContain('SwaggerUIBundle')
  })

  test('says of HEAD what GET would send', async () => {
    const server = Bun.serve({ port: 0, fetch: app.fetch })
    try {
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
    } finally {
      await server.stop(true)
    }
  })

  test('is found with a slash behind, too', async () => {
    const answer = await client(app)('/docs/')
    expect([answer.status, answer.headers.get('location')]).toEqual([308, '../docs'])
  })
})
