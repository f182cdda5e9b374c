import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type HttpServer, listen } from '../../../src/http/listen.ts'
import { type Browser, findBrowser, type Page, startBrowser } from '../../dashboard/browser.ts'
import { newOrg, type Org, testApp } from '../../support/api.ts'
import { silent, type TestDatabase, testDatabase } from '../../support/postgres.ts'

// The explorer in Chromium, behind a proxy that adds a path. Skipped on a machine without it.

const program = findBrowser()
if (program === null) process.stderr.write('no Chromium here: the explorer is not tested in a browser\n')

const AXE = join(import.meta.dir, '../../../node_modules/axe-core/axe.min.js')
const PREFIX = '/analytics'
const THEME = 'cloud-analytics-theme'
const OPERATION = '#operations-Quality-getQuality'
/** One with each method; of them, those with a body and with a choice. */
const OPENED = [
  OPERATION,
  '#operations-Webhooks-createWebhook',
  '#operations-Webhooks-updateWebhook',
  '#operations-Settings-setBudget',
  '#operations-Sessions-deleteSession',
]
/** Each kind of what the page has: the whole page has the same 90 times. */
const SHOWN = ['.back', '.info', '.scheme-container', '.filter', '#operations-tag-Quality', ...OPENED]

let db: TestDatabase
let server: HttpServer
let proxy: Bun.Server<undefined>
let own: Org
let browser: Browser
let page: Page
let home: string

beforeAll(async () => {
  if (program === null) return
  db = await testDatabase()
  own = await newOrg(db.sql)
  proxy = Bun.serve({
    port: 0,
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (!pathname.startsWith(`${PREFIX}/`)) return new Response(null, { status: 204 })
      return fetch(new Request(`${server.url}${pathname.slice(PREFIX.length)}${search}`, request), {
        redirect: 'manual',
        decompress: false,
      })
    },
  })
  home = `${proxy.url.origin}${PREFIX}/`
  server = listen(testApp(db.sql, { config: { publicUrl: home } }), { host: '127.0.0.1', port: 0 }, silent)
  browser = await startBrowser(program)
  page = await browser.newPage()
}, 360_000)
afterAll(async () => {
  if (program === null) return
  await browser.close()
  await proxy.stop(true)
  await server.stop()
  await db.drop()
})

/** Opens the explorer as who chose `theme` in the dashboard, null: nobody did; waits for its operations unless told not to. */
async function visit(theme: string | null, waits = true): Promise<void> {
  await page.open(`${home}live`)
  const choose = theme === null ? `removeItem('${THEME}')` : `setItem('${THEME}', '${theme}')`
  await page.evaluate(`localStorage.${choose}`)
  await page.open(`${home}docs`)
  if (waits) await page.until(`document.querySelector('${OPERATION}') !== null`)
}

const BACKGROUNDS = { light: 'rgb(255, 255, 255)', dark: 'rgb(28, 32, 34)' }
const background = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')

describe.skipIf(program === null)('the explorer in Chromium', () => {
  test('no problem, nothing from elsewhere, nothing that excludes readers', async () => {
    await page.resize(1440, 900)
    await visit('light')
    // each takes Swagger UI a second, and more on a busy machine: they are opened once
    for (const operation of OPENED)
      await page.evaluate(`document.querySelector('${operation} .opblock-summary-control').click()`)
    const forms = OPENED.map((operation) => `${operation} .execute`).join()
    await page.until(`document.querySelectorAll('${forms}').length === ${OPENED.length}`)
    await page.evaluate(await Bun.file(AXE).text())
    for (const [width, theme] of [
      [1440, 'light'],
      [390, 'dark'],
    ] as const) {
      // chosen in the dashboard, in another tab
      await page.evaluate(`{
        localStorage.setItem('${THEME}', '${theme}')
        dispatchEvent(new StorageEvent('storage'))
      }`)
      await page.resize(width, 900)
      await page.until('document.getAnimations().length === 0')
      expect(await background()).toBe(BACKGROUNDS[theme])
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      const violations = await page.evaluate<{ id: string; impact: string; nodes: { html: string }[] }[]>(
        `axe.run({ include: ${JSON.stringify(SHOWN)} }, { resultTypes: ['violations'], preload: false }).then(({ violations }) => violations)`,
      )
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
      expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))])).toEqual([])
    }
    // not the icon that Chromium asks for at the page before
    const asked = page.ownRequests().filter((url) => !url.startsWith('data:'))
    expect(asked.filter((url) => !url.startsWith(home))).toEqual([])
    expect(page.problems.splice(0)).toEqual([])
  }, 360_000)

  test('is dark where the system is, unless the dashboard has another theme', async () => {
    for (const [system, theme, shown] of [
      ['dark', null, 'dark'],
      ['dark', 'light', 'light'],
      ['light', 'dark', 'dark'],
    ] as const) {
      await page.resize(1440, 900, system)
      await visit(theme, false)
      expect(await background()).toBe(BACKGROUNDS[shown])
    }
  })

  test('sends requests to the path of the proxy with the key of the tab, and leads back to the dashboard', async () => {
    await page.open(`${home}live`)
    await page.evaluate(`sessionStorage.setItem('cloud-analytics.key', ${JSON.stringify(own.key)})`)
    await visit(null)
    await page.click(`document.querySelector('${OPERATION} .opblock-summary-control')`)
    await page.until(`document.querySelector('${OPERATION} .execute') !== null`)
    await page.click(`document.querySelector('${OPERATION} .execute')`)
    await page.until(`document.querySelector('${OPERATION} .live-responses-table') !== null`)
    const shown = `document.querySelector('${OPERATION} .live-responses-table').innerText`
    expect(await page.evaluate<string>(shown)).toMatch(/200[\s\S]*average_score/)
    expect(page.requests).toContain(`${home}v1/quality`)
    expect(await page.evaluate<string>(`document.querySelector('.back a').href`)).toBe(home)
    await page.click(`document.querySelector('.back a')`)
    await page.until(`location.href === ${JSON.stringify(home)} && document.querySelector('h1') !== null`)
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)
})
