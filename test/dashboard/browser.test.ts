import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type HttpServer, listen } from '../../src/http/listen.ts'
import { demoBudget, demoMembers } from '../../src/seed/demo-team.ts'
import { generateWork } from '../../src/seed/demo-work.ts'
import { client, type Tenant, tenant, testApp } from '../support/api.ts'
import { silent, type TestDatabase, testDatabase } from '../support/postgres.ts'
import { type Browser, findBrowser, type Page, startBrowser } from './browser.ts'

// The dashboard in Chromium: every page of a full, an empty and a hostile organization. Skipped on a machine without it.

const program = findBrowser()
if (program === null) process.stderr.write('no Chromium here: the dashboard is not tested in a browser\n')

const PAGES = [
  '',
  'cost',
  'sessions',
  'quality',
  'security',
  'team',
  'pull-requests',
  'audit',
  'webhooks',
  'badges',
] as const
const AXE = readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8')
const HOSTILE = `<script>globalThis.hostile = 1</script>${'\u202eabc'}<img src=x onerror="globalThis.hostile = 2">`
const LONG = 'm'.repeat(200)

let db: TestDatabase
let server: HttpServer
let browser: Browser
let page: Page
let full: Tenant
let empty: Tenant
let hostile: Tenant

async function send(owner: Tenant, records: unknown[]): Promise<void> {
  const response = await client(app, owner.key)('/v1/sync', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ records }),
  })
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
}

let app: ReturnType<typeof testApp>
const hostileSession = (nth: number) => ({
  type: 'session',
  id: `sess_hostile${nth}`,
  project_name: nth % 2 === 0 ? HOSTILE : `${LONG.slice(0, 190)}${nth}`,
  created_at: new Date().toISOString(),
  user_email: 'someone@example.com',
  branch: HOSTILE,
  model: LONG,
  source: HOSTILE.slice(0, 100),
  summary: HOSTILE,
  estimated_cost: 1e6,
  security_metadata: {
    findings: [{ severity: 'critical', title: HOSTILE, file: `src/${HOSTILE}`, description: HOSTILE }],
  },
})

beforeAll(async () => {
  if (program === null) return
  db = await testDatabase()
  app = testApp(db.sql, { writes: db.pool(4) })
  server = listen(app, { host: '127.0.0.1', port: 0 }, silent)
  const scopes = ['read', 'write', 'webhooks', 'audit:write']
  full = await tenant(db.sql, { scopes })
  empty = await tenant(db.sql, { scopes })
  hostile = await tenant(db.sql, { scopes })
  const now = new Date()
  const { sessions, commits, pullRequests } = generateWork({ days: 90, seed: 5, now })
  await send(full, [...demoMembers(now), demoBudget(now, 90), ...commits])
  await send(full, sessions)
  await send(full, pullRequests)
  await send(hostile, [
    ...Array.from({ length: 20 }, (_, nth) => hostileSession(nth)),
    {
      type: 'audit',
      action: 'x.y',
      user_id: HOSTILE,
      created_at: now.toISOString(),
      details: { a: HOSTILE },
    },
  ])
  browser = await startBrowser(program)
  page = await browser.newPage()
}, 120_000)
afterAll(async () => {
  if (program === null) return
  await browser.close()
  await server.stop()
  await db.drop()
})

/** Signs in as the organization and goes to the page; resolves when nothing is loading any more. */
async function visit(owner: Tenant, fragment: string): Promise<void> {
  await page.open(`${server.url}/`)
  await page.evaluate(`sessionStorage.setItem('cloud-analytics.key', ${JSON.stringify(owner.key)})`)
  // another fragment of the same page would not load it again
  await page.open('about:blank')
  await page.open(`${server.url}/${fragment}`)
  await page.until(
    `document.querySelector('h1') !== null && document.querySelector('.stale') === null &&
     ![...document.querySelectorAll('[role=status]')].some((node) => node.textContent.startsWith('Loading'))`,
  )
}
const text = (selector: string) =>
  page.evaluate<string>(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`)

describe.skipIf(program === null)('the dashboard in Chromium', () => {
  test('asks for a key, refuses a wrong one, and keeps a right one for the tab', async () => {
    await page.open(`${server.url}/`)
    await page.evaluate('sessionStorage.clear()')
    await page.open(`${server.url}/`)
    const signIn = async (key: string) => {
      await page.evaluate(`{
        const input = document.querySelector('input[name=key]')
        input.value = ${JSON.stringify(key)}
        input.dispatchEvent(new Event('input', { bubbles: true }))
      }`)
      await page.evaluate(`document.querySelector('form').requestSubmit()`)
    }
    await page.until(`document.querySelector('input[name=key]') !== null`)
    await signIn('ca_live_wrong')
    await page.until(`document.querySelector('[role=alert]') !== null`)
    await signIn(full.key)
    await page.until(`document.querySelector('nav') !== null`)
    expect(await page.evaluate<number>('localStorage.length')).toBe(0)
    // the wrong key is the one response of 401
    expect(page.problems.splice(0).filter((problem) => !problem.includes('401'))).toEqual([])
  }, 60_000)

  test.each(
    PAGES.flatMap((name) => (['full', 'empty', 'hostile'] as const).map((kind) => [name, kind] as const)),
  )(
    'page "%s" of the %s organization: no problem, no foreign request, nothing that excludes readers',
    async (name, kind) => {
      const owner = { full, empty, hostile }[kind]
      for (const [width, scheme] of [
        [1440, 'light'],
        [390, 'dark'],
      ] as const) {
        await page.resize(width, 900, scheme)
        await visit(owner, `#/${name}`)
        expect(page.problems.splice(0)).toEqual([])
        // only tables scroll, within their own boxes
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
        await page.evaluate(AXE)
        const violations = await page.evaluate<{ id: string; impact: string; nodes: { html: string }[] }[]>(
          `axe.run().then(({ violations }) => violations)`,
        )
        const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
        expect(serious.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([])
      }
      // Chromium draws some of its own controls from data URLs
      const asked = page.requests.splice(0).filter((url) => /^(?!data:|about:)/.test(url))
      const origins = new Set(asked.map((url) => new URL(url).origin))
      expect([...origins]).toEqual([new URL(server.url).origin])
      expect(await page.evaluate('globalThis.hostile')).toBeUndefined()
    },
    120_000,
  )

  test('its figures are those of the API', async () => {
    const ask = client(app, full.key)
    const get = async (path: string) => (await (await ask(`/v1${path}`)).json()) as Record<string, never>
    await page.resize(1440, 900)
    await visit(full, '#/cost?by=model')
    const to = new Date().toISOString().slice(0, 10)
    const from = new Date(Date.now() - 29 * 86_400_000).toISOString().slice(0, 10)
    const breakdown = (await get(`/cost/breakdown?by=model&date_from=${from}&date_to=${to}`)) as unknown as {
      data: { key: string; cost: number; sessions: number }[]
      total: { cost: number; sessions: number }
    }
    const dollars = (value: number) => `$${value.toFixed(2)}`
    expect(await text('.totals')).toContain(dollars(breakdown.total.cost))
    const rows = await page.evaluate<string[][]>(
      `[...document.querySelectorAll('section[aria-label="Cost by model"] tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))`,
    )
    expect(rows.map(([key, cost, , sessions]) => [key, cost, sessions])).toEqual(
      breakdown.data.map(({ key, cost, sessions }) => [key, dollars(cost), String(sessions)]),
    )
    // the chart's own table adds up to the total of the breakdown
    const sum = await page.evaluate<number>(
      `[...document.querySelectorAll('.chart tbody tr')].reduce((sum, row) => sum + Number(row.cells[row.cells.length - 1].textContent.replace(/[$,]/g, '')), 0)`,
    )
    expect(Math.abs(sum - breakdown.total.cost)).toBeLessThan(0.01 * 31)
  }, 60_000)
})
