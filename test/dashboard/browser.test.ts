import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { countOf, inRange } from '../../src/dashboard/client/format.ts'
import type { Outcomes } from '../../src/features/outcomes/model.ts'
import { demoBudgets, demoMembers } from '../../src/server/seed/demo-team.ts'
import { generateWork } from '../../src/server/seed/demo-work.ts'
import { client, newOrg, type Org, testApp } from '../support/api.ts'
import { memberRecord, sessionRecord } from '../support/records.ts'
import { findBrowser, type Page } from './browser.ts'
import { SETTLED, type Shown, show } from './shown.ts'

// The dashboard in Chromium: every page of a full, an empty and a hostile organization. Skipped on a machine without it.

const program = findBrowser()
if (program === null) process.stderr.write('no Chromium here: the dashboard is not tested in a browser\n')

const PAGES = [
  '',
  'cost',
  'sessions',
  'quality',
  'security',
  'budgets',
  'outcomes',
  'team',
  'devices',
  'why',
  'pull-requests',
  'audit',
  'week',
  'alerts',
  'webhooks',
  'badges',
  'settings',
] as const
const AXE = readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8')
const HOSTILE = `<script>globalThis.hostile = 1</script>${'\u202eabc'}<img src=x onerror="globalThis.hostile = 2">`
/** A page makes at most this number of requests. */
const MAX_REQUESTS = 6
const LONG = 'm'.repeat(200)

let shown: Shown
let page: Page
let full: Org
let empty: Org
let hostile: Org

const send = (owner: Org, records: object[]) => shown.send(records, owner.key)

const hostileSession = (nth: number) =>
  sessionRecord(`sess_hostile${nth}`, {
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
  const scopes = ['read', 'write', 'webhooks', 'audit:write']
  shown = await show(program, scopes, (db) => testApp(db.sql, { writes: db.pool(4) }))
  page = shown.page
  full = shown.acme
  empty = await newOrg(shown.db.sql, { scopes })
  hostile = await newOrg(shown.db.sql, { scopes })
  const now = new Date()
  const { sessions, commits, pullRequests } = generateWork({ days: 90, seed: 5, now })
  // this key makes neither an owner nor an admin
  const members = demoMembers(now).map((member) => ({
    ...member,
    role: member.role === 'owner' || member.role === 'admin' ? 'developer' : member.role,
  }))
  await send(full, [...members, ...demoBudgets(now, 90).slice(0, 1), ...commits])
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
}, 360_000)
afterAll(() => shown?.close())

let visits = 0
/** Signs in as the organization and goes to the page; resolves when nothing is loading any more. */
async function visit(owner: Org, fragment: string): Promise<void> {
  // any page of the server has its storage
  const isThere = await page.evaluate<boolean>(`location.origin === ${JSON.stringify(shown.server.url)}`)
  if (!isThere) await page.open(`${shown.server.url}/live`)
  await page.evaluate(`sessionStorage.setItem('cloud-analytics.key', ${JSON.stringify(owner.key)})`)
  visits += 1
  // the number has the page loaded again, which another fragment of it would not
  await page.open(`${shown.server.url}/?visit=${visits}${fragment}`)
  await page.until(SETTLED)
}
const text = (selector: string) =>
  page.evaluate<string>(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`)

describe.skipIf(program === null)('the dashboard in Chromium', () => {
  test('asks for a key, refuses a wrong one, and keeps a right one for the tab', async () => {
    await page.open(`${shown.server.url}/`)
    await page.evaluate('sessionStorage.clear()')
    await page.open(`${shown.server.url}/`)
    const signIn = async (key: string) => {
      await page.evaluate(`{
        const input = document.querySelector('input[name=key]')
        input.value = ${JSON.stringify(key)}
        input.dispatchEvent(new Event('input', { bubbles: true }))
      }`)
      await page.evaluate(`document.querySelector('input[name=key]').form.requestSubmit()`)
    }
    await page.until(`document.querySelector('input[name=key]') !== null`)
    await signIn('ca_live_wrong')
    await page.until(`document.querySelector('[role=alert]') !== null`)
    await signIn(full.key)
    await page.until(`document.querySelector('nav') !== null`)
    expect(await page.evaluate<number>('localStorage.length')).toBe(0)
    // before the sign-in and for the wrong key the response is 401
    expect(page.problems.splice(0).filter((problem) => !problem.includes('401'))).toEqual([])
  }, 180_000)

  test.each(
    PAGES.flatMap((name) => (['full', 'empty', 'hostile'] as const).map((kind) => [name, kind] as const)),
  )(
    'page "%s" of the %s organization: no problem, no foreign request, nothing that excludes readers',
    async (name, kind) => {
      const owner = { full, empty, hostile }[kind]
      page.requests.splice(0)
      for (const [width, scheme] of [
        [390, 'dark'],
        [1440, 'light'],
      ] as const) {
        await page.resize(width, 900, scheme)
        // only rows and filters are drawn for the width that the page has at its load: the full organization has both
        if (kind === 'full' || width === 390) await visit(owner, `#/${name}`)
        await page.until('document.getAnimations().length === 0')
        expect(page.problems.splice(0)).toEqual([])
        // a new key is asked for once in five minutes
        const ofPage = page.ownRequests().filter((url) => /\/v1\/(?!changes|whoami)/.test(url))
        // the head asks for the number of alerts once the page has loaded, as charts do for notes
        const later = (url: string) => /\/v1\/(attention|notes)/.test(url) && !/^(devices)?$/.test(name)
        expect(ofPage.filter((url) => !later(url)).length).toBeLessThanOrEqual(MAX_REQUESTS)
        expect(page.ownRequests().filter((url) => url.endsWith('/v1/whoami')).length).toBeLessThanOrEqual(1)
        // only tables scroll, within their own boxes
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
        if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(AXE)
        const violations = await page.evaluate<{ id: string; impact: string; nodes: { html: string }[] }[]>(
          `axe.run({ resultTypes: ['violations'], preload: false }).then(({ violations }) => violations)`,
        )
        const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
        expect(serious.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([])
      }
      // Chromium draws some of its own controls from data URLs
      const asked = page.requests.splice(0).filter((url) => /^(?!data:|about:)/.test(url))
      const origins = new Set(asked.map((url) => new URL(url).origin))
      expect([...origins]).toEqual([new URL(shown.server.url).origin])
      expect(await page.evaluate('globalThis.hostile')).toBeUndefined()
    },
    360_000,
  )

  test('its figures are those of the API', async () => {
    const ask = client(shown.app, full.key)
    const get = async (path: string) => (await (await ask(`/v1${path}`)).json()) as Record<string, never>
    await page.resize(1440, 900)
    await visit(full, '#/cost?by=model')
    // whole days: today is not among them
    const to = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
    const from = new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10)
    const breakdown = (await get(`/cost/breakdown?by=model&date_from=${from}&date_to=${to}`)) as unknown as {
      data: { key: string; cost: number; sessions: number }[]
      total: { cost: number; sessions: number }
    }
    const dollars = (value: number) => `$${value.toFixed(2)}`
    expect(await text('h1')).toContain(dollars(breakdown.total.cost))
    const rows = await page.evaluate<string[][]>(
      `[...document.querySelectorAll('section[aria-label="Cost by model"] tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))`,
    )
    expect(rows.map(([key, cost, , , , sessions]) => [key, cost, sessions])).toEqual(
      breakdown.data.map(({ key, cost, sessions }) => [key, dollars(cost), String(sessions)]),
    )
    // the chart's own table adds up to the total of the breakdown
    const sum = await page.evaluate<number>(
      `[...document.querySelectorAll('.chart tbody tr')].reduce((sum, row) => sum + Number(row.cells[row.cells.length - 1].textContent.replace(/[$,]/g, '')), 0)`,
    )
    expect(Math.abs(sum - breakdown.total.cost)).toBeLessThan(0.01 * 31)
  }, 180_000)

  /** Answers requests of the page whose URL has `part` with this status instead. */
  const refuse = (part: string, status: number, times = 1_000) =>
    page.evaluate(`{
      const send = globalThis.fetch
      let left = ${times}
      globalThis.fetch = (url, init) =>
        String(url).includes(${JSON.stringify(part)}) && left-- > 0
          ? Promise.resolve(Response.json({ error: 'Refused by the test' }, { status: ${status} }))
          : send(url, init)
    }`)
  const cellsOf = (caption: string) =>
    page.evaluate<string[][]>(
      `[...document.querySelectorAll('section[aria-label="${caption}"] tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))`,
    )
  const click = (label: string) =>
    page.evaluate(`{
      const button = [...document.querySelectorAll('button')].find((one) => one.textContent === ${JSON.stringify(label)})
      button.focus()
      button.click()
    }`)
  const setDay = (label: string, value: string, event?: string) =>
    page.evaluate(`{
      const input = [...document.querySelectorAll('label')].find((one) => one.textContent === '${label}').querySelector('input')
      input.focus()
      input.value = '${value}'
      input.dispatchEvent(new Event('input', { bubbles: true }))
      input.dispatchEvent(new Event('change', { bubbles: true }))
      ${event ?? ''}
    }`)

  test('a secret that is shown only once stays while the page loads again, and so does the focus', async () => {
    await visit(empty, '#/webhooks')
    await page.evaluate(`{
      const input = document.querySelector('input[type=url]')
      input.value = 'https://hooks.example.com/x'
      input.dispatchEvent(new Event('input', { bubbles: true }))
    }`)
    await click('Add')
    await page.until(`document.querySelector('section[aria-label="Endpoints"] tbody tr') !== null`)
    expect(await text('main')).toMatch(/shown only now: whsec_/)

    const { data } = (await (await client(shown.app, empty.key)('/v1/webhooks')).json()) as {
      data: { id: string }[]
    }
    await visit(empty, `#/webhooks/${data[0]?.id}`)
    await click('Rotate the secret')
    expect(await text('main')).not.toContain('shown only now')
    await click('Really rotate?')
    await page.until(`document.querySelector('main').innerText.includes('shown only now')`)
    await page.until(`document.querySelector('.stale') === null`)
    expect(await text('main')).toMatch(/shown only now: whsec_/)
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Rotate the secret')
    // the focus stays while the endpoint cannot be loaded
    await refuse('v1/webhooks/', 503)
    await click('Load again')
    await page.until(`document.querySelector('[role=alert]') !== null`)
    expect(await text('main')).toMatch(/shown only now: whsec_/)
    page.problems.splice(0)
  }, 180_000)

  test('figures of members that were not read are not shown as none', async () => {
    const crowd = await newOrg(shown.db.sql, { scopes: ['read', 'write'] })
    const created_at = new Date(Date.now() - 86_400_000).toISOString()
    const member = (name: string) => memberRecord(name, { display_name: name, joined_at: created_at })
    const session = (id: string, user_email: string, estimated_cost: number) =>
      sessionRecord(`sess_${id}`, { project_name: 'p', created_at, user_email, estimated_cost })
    await send(crowd, [member('last'), member('idle')])
    // the cheapest of all is on the second page of the breakdown
    await send(crowd, [
      ...Array.from({ length: 100 }, (_, nth) => session(`crowd${nth}`, `guest${nth}@example.com`, 10 + nth)),
      session('last', 'last@example.com', 1),
      { ...session('nobody', '', 0), user_email: undefined },
    ])
    const figures = async () =>
      Object.fromEntries((await cellsOf('Members')).map((cells) => [cells[0], cells.slice(5)]))
    await visit(crowd, '#/team')
    await page.until(`document.querySelector('main').innerText.includes('the 100 who cost most')`)
    expect(await figures()).toEqual({ last: ['–', '–'], idle: ['–', '–'] })
    await click('Load more')
    await page.until(`document.querySelector('section[aria-label="Members"]').innerText.includes('$1.00')`)
    expect(await figures()).toEqual({ last: ['1', '$1.00'], idle: ['0', '$0.00'] })
    for (const status of [403, 429]) {
      await visit(crowd, '#/badges')
      await refuse('v1/cost/breakdown', status)
      await page.evaluate(`location.hash = '#/team'`)
      await page.until(`document.querySelector('main').innerText.includes('Refused by the test')`)
      expect(await figures()).toEqual({ last: ['–', '–'], idle: ['–', '–'] })
    }
    await visit(crowd, '#/cost?by=member&page=3')
    await page.until(
      `document.querySelector('section[aria-label="Cost by member"]').innerText.includes('last')`,
    )
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('pull requests have cost, state and risk by one request, and how many were merged by another', async () => {
    const ask = client(shown.app, full.key)
    const { data } = (await (await ask('/v1/risk?include=cost&per_page=25')).json()) as {
      data: { state: string; risk_score: number; rating: string; cost: number; sessions: number }[]
    }
    await visit(full, '#/pull-requests')
    const asked = page.ownRequests().filter((url) => /\/v1\/(?!changes|whoami)/.test(url))
    expect(asked.filter((url) => !url.endsWith('/attention'))).toEqual([
      `${shown.server.url}/v1/risk?include=cost&per_page=25`,
      expect.stringMatching(/\/v1\/outcomes\?date_from=[\d-]+&date_to=[\d-]+&per_page=1$/),
    ])
    const { pathname, search, searchParams } = new URL(asked.find((url) => url.includes('/outcomes?')) ?? '')
    const [from, to] = [searchParams.get('date_from') ?? '', searchParams.get('date_to') ?? '']
    const { total } = (await (await ask(`${pathname}${search}`)).json()) as Outcomes
    expect(await page.evaluate<string>(`document.querySelector('.soft a').innerText`)).toStartWith(
      `${countOf(total.pull_requests.merged, 'pull request')} were merged ${inRange({ from, to })}`,
    )
    expect((await cellsOf('Pull requests')).map((cells) => cells.slice(1, 5))).toEqual(
      data.map(({ state, risk_score, rating, cost, sessions }) => [
        ...[state, `${rating} ${risk_score}`],
        ...[cost !== 0 && cost < 0.01 ? expect.any(String) : `$${cost.toFixed(2)}`, String(sessions)],
      ]),
    )
    expect(await page.evaluate<number>(`document.querySelectorAll('path.dot').length`)).toBe(25)
    await page.click(`document.querySelector('section[aria-label="Pull requests"] tbody a')`)
    await page.until(
      `/A fix followed \\d+ of the \\d+|Too few pull requests/.test(document.querySelector('main').innerText)`,
    )
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('pull requests are in the order of their risk once that is asked for', async () => {
    const ask = client(shown.app, full.key)
    const { data } = (await (await ask('/v1/risk?per_page=100')).json()) as { data: { risk_score: number }[] }
    const highest = data.map(({ risk_score }) => risk_score).sort((a, b) => b - a)
    await visit(full, '#/pull-requests')
    await page.evaluate(
      `[...document.querySelectorAll('th button')].find((one) => one.textContent.startsWith('Risk')).click()`,
    )
    await page.until(`location.hash.includes('sort=risk') && document.querySelector('.stale') === null`)
    await page.until(`document.querySelectorAll('section[aria-label="Pull requests"] tbody tr').length > 25`)
    const scores = (await cellsOf('Pull requests')).map((cells) => Number(/\d+/.exec(cells[2] ?? '')?.[0]))
    expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    expect(scores[0]).toBeGreaterThanOrEqual(highest[0] ?? 0)
  }, 180_000)

  test('the team has pages, and is narrowed by a name', async () => {
    await visit(full, '#/team')
    const rows = (await cellsOf('Expertise')).map((cells) => cells.join())
    expect(rows).toHaveLength(20)
    await visit(full, '#/team?people=2')
    const next = (await cellsOf('Expertise')).map((cells) => cells.join())
    expect(next.filter((row) => rows.includes(row))).toEqual([])
    await visit(full, '#/team?q=chen')
    expect((await cellsOf('Members')).map((cells) => cells[1])).toEqual(['chen@example.com'])
    for (const cells of await cellsOf('Expertise')) expect(cells[0]).toBe('Chen Yu')
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('a person has a page: cost by week, sessions, pull requests and expertise', async () => {
    await visit(full, '#/team?q=chen')
    await page.click(`document.querySelector('section[aria-label="Members"] tbody a')`)
    await page.until(`location.hash.startsWith('#/team/user_')`)
    const hash = await page.evaluate<string>('location.hash')
    for (const [width, scheme] of [
      [390, 'dark'],
      [1440, 'light'],
    ] as const) {
      await page.resize(width, 900, scheme)
      await visit(full, hash)
      const asked = page.ownRequests().filter((url) => /\/v1\/(?!changes)/.test(url))
      expect(asked.length).toBeWithin(1, MAX_REQUESTS + 1)
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      await page.evaluate(AXE)
      expect(
        await page.evaluate<object[]>(
          `axe.run({ resultTypes: ['violations'], preload: false }).then(({ violations }) => violations)`,
        ),
      ).toEqual([])
    }
    expect(await text('h1')).toStartWith('Chen Yu: ')
    expect((await cellsOf('Newest sessions')).length).toBe(10)
    expect((await cellsOf('Expertise')).length).toBeGreaterThan(0)
    expect(await text('.chart')).toContain('Cost by week and model')
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('a turn of tokens without a price has an unknown cost, one without tokens has none', async () => {
    const own = await newOrg(shown.db.sql, { scopes: ['read', 'write'] })
    const tokens = { input: 10, output: 20 }
    const turn_records = [
      { role: 'user' },
      { role: 'assistant', model: 'nobody-prices-this', tokens },
      { role: 'assistant', model: 'claude-sonnet-4-5', tokens, cost: 0.5 },
    ]
    const created_at = new Date().toISOString()
    await send(own, [{ type: 'session', id: 'sess_turns', project_name: 'shop', created_at, turn_records }])
    await visit(own, '#/sessions/sess_turns')
    await page.until(`document.querySelector('section[aria-label="Turns"] tbody') !== null`)
    expect((await cellsOf('Turns')).map((cells) => cells[6])).toEqual(['–', 'not known', '$0.5000'])
    // a CSV file has the name of what it breaks down
    await visit(own, '#/cost?by=model&range=month')
    await page.evaluate(
      `HTMLAnchorElement.prototype.click = function () { globalThis.saved = this.download }`,
    )
    await page.until(`document.querySelector('section[aria-label="Cost by model"]') !== null`)
    await click('CSV')
    await page.until(`globalThis.saved === 'cost-by-model.csv'`)
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('a day is taken when its field is left or Enter is pressed, and a range must not be reversed', async () => {
    for (const name of ['cost', 'audit']) {
      await visit(full, `#/${name}`)
      await page.evaluate(`document.querySelector('.menu.range')?.setAttribute('open', '')`)
      await setDay('From', '2026-01-02')
      expect(await page.evaluate<string>('location.hash')).toBe(`#/${name}`)
      await page.evaluate('document.activeElement.blur()')
      await page.until(`location.hash.includes('from=2026-01-02')`)
      await setDay('To', '2026-01-01', `input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }))`)
      await page.until(`location.hash.includes('to=2026-01-01')`)
      await page.until(`document.querySelector('.bar-line > [role=alert], .filters [role=alert]') !== null`)
      expect(await text('.bar-line > [role=alert], .filters [role=alert]')).toBe('From is after To')
    }
    // the API refuses such a range too
    await page.until(`document.querySelectorAll('[role=alert]').length > 1`)
    expect(page.problems.splice(0).filter((problem) => !problem.includes('400'))).toEqual([])
  }, 180_000)

  test('a key that is refused later signs out, and the sign-in says why', async () => {
    await visit(full, '#/badges')
    await refuse('v1/quality', 401)
    await page.evaluate(`location.hash = '#/quality'`)
    await page.until(`document.querySelector('input[name=key]') !== null`)
    expect(await text('[role=alert]')).toBe('Signed out: Refused by the test')
    expect(await page.evaluate<number>('sessionStorage.length')).toBe(0)
    await page.until(`document.activeElement.name === 'email'`)
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('behind a path of PUBLIC_URL it also works without a slash at its end', async () => {
    const behind = testApp(shown.db.sql, {
      writes: shown.db.pool(2),
      config: { publicUrl: 'http://proxy.example/team/analytics' },
    })
    const proxy = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        const url = new URL(request.url)
        if (!url.pathname.startsWith('/team/analytics')) return new Response('not ours', { status: 404 })
        url.pathname = url.pathname.slice('/team/analytics'.length) || '/'
        return behind.handle(new Request(url.href, request))
      },
    })
    try {
      await page.open(`${proxy.url.origin}/team/analytics/live`)
      await page.evaluate(`sessionStorage.setItem('cloud-analytics.key', ${JSON.stringify(full.key)})`)
      await page.open('about:blank')
      await page.open(`${proxy.url.origin}/team/analytics#/quality`)
      await page.until(`document.querySelector('h1')?.innerText.startsWith('Sessions have ')`)
      // Chromium may ask the root for an icon of /live, which is no page
      expect(page.problems.splice(0).filter((problem) => !problem.includes('/favicon.ico'))).toEqual([])
    } finally {
      await proxy.stop(true)
    }
  }, 180_000)
})
