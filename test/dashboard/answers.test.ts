import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createKey } from '../../src/accounts/keys/queries.ts'
import { client, jsonInit, jsonPost, newOrg } from '../support/api.ts'
import { memberRecord, pullRecord, sessionRecord } from '../support/records.ts'
import { findBrowser, type Page } from './browser.ts'
import { quoted, SETTLED, type Shown, show } from './shown.ts'

// Pages say the right figures of known data: the overview, Me, and what stands beside them. Skipped on a machine without Chromium.

const program = findBrowser()
const DAY_MS = 86_400_000

let shown: Shown
let page: Page

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()
const sessionOf = (
  id: string,
  days: number,
  project_name: string,
  estimated_cost: number,
  more: object = {},
) =>
  sessionRecord(`sess_${id}`, {
    project_name,
    created_at: daysAgo(days),
    user_email: 'ada@example.com',
    model: 'claude-opus-4-5',
    source: 'claude-code',
    estimated_cost,
    ...more,
  })
const pullRequest = (pr_number: number, scores: number, more: object) =>
  pullRecord(pr_number, {
    repo: 'acme/checkout',
    pr_title: `Change ${pr_number}`,
    impact_score: scores,
    regression_score: scores,
    security_score: scores,
    coupling_score: scores,
    files_changed: 3,
    created_at: daysAgo(3),
    ...more,
  })
const finding = (fingerprint: string) => ({
  rule_id: 'aws-access-key',
  category: 'secret',
  severity: 'critical',
  title: 'AWS access key',
  file: 'src/deploy.ts',
  fingerprint,
})

const send = (records: object[], key?: string) => shown.send(records, key)

beforeAll(async () => {
  if (program === null) return
  shown = await show(program, ['read', 'write', 'webhooks', 'admin'])
  page = shown.page
  const merged = (number: number) => ({ pull_requests: [{ repo: 'acme/checkout', number }] })
  const records = [
    memberRecord('ada', { joined_at: daysAgo(90) }),
    { type: 'budget', month: new Date().toISOString().slice(0, 7), limit: 1e9 },
    sessionOf('a', 0, 'checkout', 20, { ...merged(1), quality_score: 70 }),
    sessionOf('b', 0, 'checkout', 10, { ...merged(2), quality_score: 80 }),
    sessionOf('c', 40, 'checkout', 10, { quality_score: 81 }),
    sessionOf('d', 40, 'search', 6, {
      quality_score: 85,
      security_metadata: { findings: [finding('old')] },
    }),
    sessionOf('e', 1, 'docs', 4, {
      quality_score: 90,
      security_metadata: { findings: [finding('new'), finding('newer')] },
    }),
    pullRequest(1, 90, { state: 'merged', merged_at: daysAgo(0) }),
    pullRequest(2, 10, { state: 'merged', merged_at: daysAgo(0) }),
    pullRequest(3, 50, { state: 'open' }),
  ]
  await send(records)
}, 180_000)
afterAll(() => shown?.close())

const visit = (fragment: string, key?: string) => shown.visit(fragment, key)
const texts = (selector: string) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll(${quoted(selector)})].map((one) => one.innerText.replace(/\\s+/g, ' ').trim())`,
  )
const click = (selector: string) => page.click(`document.querySelector(${quoted(selector)})`)

describe.skipIf(program === null)('the overview', () => {
  test('says what yesterday cost, and what changed most in the days of the page, each a link', async () => {
    await page.resize(1440, 900)
    await visit('#/')
    expect((await texts('h1'))[0]).toStartWith('Yesterday cost $4.00. ')
    // today is not over: it is compared with nothing
    expect(await texts('.movers li')).toEqual([
      'checkout nothing now −$10.00',
      'search nothing now −$6.00',
      'docs new +$4.00',
      'All −$12.00 (−75.0%)',
    ])
    await click('.movers li:nth-child(3) a')
    await page.until(`location.hash.startsWith('#/cost?project=docs')`)
    await page.until(`document.querySelector('h1')?.innerText.startsWith('Docs cost $4.00 ')`)
    await page.evaluate('history.back()')
    await page.until(`document.querySelector('.attention') !== null && ${SETTLED}`)
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('says what was spent of the budget, what came of it, and what is to decide with what to do', async () => {
    await visit('#/?range=month')
    const [month] = await texts('figure.chart')
    // yesterday’s are of the month before on the first
    const [spent, left] =
      new Date().getUTCDate() === 1 ? ['$30.00', '$999,999,970.00'] : ['$34.00', '$999,999,966.00']
    const name = new Date().toLocaleString('en', { month: 'long', timeZone: 'UTC' })
    expect(month).toStartWith(
      `Cost of each day ${spent} in ${name}, 0.0% of $1,000,000,000.00, ${left} left ${name}’s forecast from whole days: $`,
    )
    expect(month).toContain('within the budget')
    const tiles = await texts('.tile')
    expect(tiles[0]).toStartWith(
      `Shipped 2 pull requests merged in ${name} $15.00 each, from the sessions linked to them`,
    )
    expect(tiles[1]).toStartWith('Stays – is not known yet')
    expect(tiles[2]).toStartWith('Smooth ')
    expect(await texts('.attention li')).toEqual([
      'AWS access key is in search, src/deploy.ts · open for 40 days · nobody has it Look at it →',
      expect.stringMatching(/^2 other critical findings, the oldest from \d+ \w+ Review all 3 →$/),
      'There is no backup of this server See the server →',
    ])
    // the last day is today
    const rows = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.chart tbody tr')].map((row) => row.cells[2].textContent)`,
    )
    expect(rows).toHaveLength(new Date().getUTCDate())
    expect(rows.at(-1)).toBe('$30.00')
  }, 180_000)

  test('says what has happened since the last look of this browser', async () => {
    const { key } = await newOrg(shown.db.sql, { scopes: ['read', 'write'] })
    await send([sessionOf('seen', 1, 'docs', 4)], key)
    await visit('#/', key)
    expect(await page.evaluate<boolean>(`document.querySelector('.soft') === null`)).toBe(true)
    await send([sessionOf('later', 1, 'docs', 2.5), sessionOf('last', 0, 'docs', 1)], key)
    // a look is the last one when half an hour has passed
    await page.evaluate(`for (const name of Object.keys(localStorage)) {
      if (!name.startsWith('cloud-analytics-look')) continue
      const { latest } = JSON.parse(localStorage[name])
      localStorage[name] = JSON.stringify({ latest: { ...latest, at: latest.at - 3_600_000 } })
    }`)
    await visit('#/', key)
    expect((await texts('.soft'))[0]).toMatch(/^Last look: \w+ \d\d:\d\d\. Since then 2 sessions, \$3\.50\.$/)
    await page.evaluate('localStorage.clear()')
  }, 180_000)

  test('says that past months have moved where there is data of before, until somebody has read it', async () => {
    const { key, orgId } = await newOrg(shown.db.sql, { scopes: ['read', 'write'] })
    await send([sessionOf('moved', 1, 'docs', 4)], key)
    const notice = () => page.evaluate<boolean>(`document.body.innerText.includes('Past months have moved')`)
    await visit('#/', key)
    expect(await notice()).toBe(false)
    await shown.db.sql`update organizations set created_at = '2026-01-01' where org_id = ${orgId}`
    await visit('#/', key)
    expect(await notice()).toBe(true)
    await click('.attention button')
    await page.until(`!document.body.innerText.includes('Past months have moved')`)
    await visit('#/', key)
    expect(await notice()).toBe(false)
    await page.evaluate('localStorage.clear()')
  }, 180_000)
})

describe.skipIf(program === null)('Quality', () => {
  test('has the overview’s change for the same days: of means over sessions, in points', async () => {
    await visit('#/quality')
    // one session is of the last 30 whole days, and two are of 40 days ago
    expect((await texts('h1'))[0]).toMatch(
      /^Sessions have 90\.0 of 100 on average, \+7\.0 points compared with /,
    )
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)
})

describe.skipIf(program === null)('tokens without a known price', () => {
  test('are those of the same days on both pages, and each model has a line for a price', async () => {
    const { key } = await newOrg(shown.db.sql, { scopes: ['read', 'write'] })
    const used = (input: number) => ({ input, output: 0, cache_read: 0, cache_creation: 0 })
    const unpriced = (id: string, days: number, model: string, input: number) =>
      sessionOf(id, days, 'lab', 0, { estimated_cost: undefined, model, tokens: used(input) })
    await send(
      [
        unpriced('sol', 1, 'gpt-6.9-sol', 15_000_000),
        unpriced('house', 1, 'in-house', 1_000_000),
        unpriced('old', 40, 'gpt-6.9-sol', 23_400_000),
        sessionOf('known', 1, 'shop', 2, { tokens: used(1_000) }),
      ],
      key,
    )
    for (const [width, height] of [
      [390, 844],
      [1440, 900],
    ] as const) {
      await page.resize(width, height)
      await visit('#/', key)
      expect(await texts('.attention li')).toEqual([
        '16.0M tokens of 2 models count as $0.00: gpt-6.9-sol, in-house Give it a price →',
      ])
      await click('.attention a')
      await page.until(`document.querySelectorAll('.attention summary').length === 2 && ${SETTLED}`)
      expect((await texts('.attention'))[0]).toMatch(
        /^Without a known price: these tokens count as \$0 gpt-6\.9-sol: 15\.0M tokens Give/,
      )
      expect(await texts('.attention summary')).toEqual([
        'gpt-6.9-sol: 15.0M tokens Give it a price',
        'in-house: 1.0M tokens Give it a price',
      ])
      const unpriced = `[...document.querySelectorAll('tbody td[data-name="Without a price"]')].map((one) => one.textContent)`
      expect(await page.evaluate<string[]>(unpriced)).toEqual(['0', '15.0M', '1.0M'])
      await click('.attention summary')
      await page.until(`document.querySelector('.attention pre') !== null`)
      expect((await texts('.attention details'))[0]).toContain(
        'A guess: the price of gpt-6.2-sol. Check it with the vendor. Put the line into the file of MODEL_PRICES',
      )
      expect(await texts('.attention pre')).toEqual([
        '"gpt-6.9-sol": { "input": 2, "output": 10, "cache_read": 0.1, "cache_write": 2.5 }',
      ])
      if (process.env.PICTURES)
        await Bun.write(`${process.env.PICTURES}/unpriced-${width}.png`, await page.screenshot())
    }
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)
})

test.skipIf(program === null)(
  'a machine that has stopped sending is the first, and marked',
  async () => {
    const { key, orgId } = await newOrg(shown.db.sql, { scopes: ['read', 'write'] })
    for (const machine of ['laptop', 'desktop', 'retired']) {
      const records = [memberRecord('ada'), sessionOf(machine, 7, 'checkout', 1)]
      const sent = await client(shown.app, key)(
        '/v1/sync',
        jsonInit('POST', { records }, { 'x-machine': machine }),
      )
      expect(sent.status).toBe(200)
    }
    await shown.db.sql`
    update machines m
    set last_seen_at = now() - interval '6 days 1 hour'
    where m.org_id = ${orgId}
      and m.machine = 'desktop'`
    await shown.db.sql`
    update machines m
    set last_seen_at = now() - interval '40 days'
    where m.org_id = ${orgId}
      and m.machine = 'retired'`
    await visit('#/devices', key)
    expect(await texts('h1')).toEqual(['desktop of ada@example.com has stopped sending, 6 days ago'])
    expect(await texts('section:first-of-type tbody td[data-name="Machine"]')).toEqual([
      'desktop',
      'laptop',
      'retired',
    ])
    expect(await texts('section:first-of-type tbody td[data-name="State"]')).toEqual([
      'silent for 6 days',
      'sends',
      'no longer expected',
    ])
    expect((await texts('.soft'))[0]).toStartWith(
      'Sessions come as files; telemetry comes beside them from none of 1 member.',
    )
    expect(await texts('details summary')).toContain('By transcripts alone: 1 pair of member and agent')
    expect(page.problems.splice(0)).toEqual([])
  },
  180_000,
)

describe.skipIf(program === null)('findings', () => {
  const main = () => page.evaluate<string>(`document.querySelector('main').innerText`)

  test('that are open stand before the mean score, on a wide page and a narrow one', async () => {
    for (const [width, height] of [
      [390, 844],
      [1440, 900],
    ] as const) {
      await page.resize(width, height)
      await visit('#/security')
      expect(await texts('h1')).toEqual([
        '3 critical findings are open, in 2 files, the oldest 40 days; nobody has them.',
      ])
      const [came = ''] = await texts('.soft')
      const more = await page.evaluate<string>(`document.querySelector('details.soft').textContent`)
      expect(came).toMatch(
        /^Worse than before: 2 findings came up from .*, 1 more than from .*; 2 of them critical, 1 of those before\.$/,
      )
      expect(more).toMatch(
        /3 × AWS access key: in src\/deploy.ts of search since [\w ]+, src\/deploy.ts of docs since [\w ]+\. Of 3 findings 3 critical\. 3 secrets, most in docs \(2\), all in sessions of ada@example.com \(3\)\./,
      )
      // a phone has the list at once: the rest is said by a tap
      expect(await page.evaluate(`document.querySelector('details.soft').open`)).toBe(width > 390)
      expect(await texts('section[aria-label="Findings"] tbody td:first-child')).toEqual([
        ...['AWS access key', 'AWS access key', 'AWS access key'],
      ])
      if (process.env.PICTURES)
        await Bun.write(`${process.env.PICTURES}/security-${width}.png`, await page.screenshot())
    }
    // an older address leads here, with its filters
    await visit('#/findings?severity=critical&project=docs')
    await page.until(`location.hash === '#/security?severity=critical&project=docs'`)
    const found = '2 critical findings are open, in 1 file, the oldest 1 day'
    await page.until(`document.querySelector('h1')?.innerText.startsWith('${found}')`)
    // scores and risks are not known by severity
    expect(await main()).not.toMatch(/mean score|Files by risk/)
    // the form of a decision closes by Escape, and gives the focus back
    await page.evaluate(`document.querySelector('.decision button').click()`)
    await page.until(`document.activeElement.name === 'why'`)
    await page.press('Escape')
    await page.until(
      `document.querySelector('.decide') === null && document.activeElement.innerText === 'Decide'`,
    )
    await visit('#/security?project=docs')
    expect(await main()).toMatch(/1 session was looked at|sessions were looked at/)
    expect(await main()).toContain('Files by risk')
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('are not said to be none where nothing was looked at', async () => {
    const { key } = await newOrg(shown.db.sql, { scopes: ['read', 'write'] })
    await visit('#/', key)
    // this machine is the server's: the program may be that of a clone, in whose folder the command works
    expect(await texts('.connect pre')).toEqual([
      `export PATH="$PWD/dist:$PATH" cloud-analytics login --server ${shown.server.url} cloud-analytics sync`,
    ])
    for (const fragment of ['#/security', '#/findings?project=none']) {
      await visit(fragment, key)
      await page.until(`document.querySelector('main').innerText.includes('Nothing was looked at yet')`)
      expect(await main()).not.toMatch(/no open findings/i)
    }
    await send([sessionOf('looked', 40, 'shop', 1)], key)
    await visit('#/security', key)
    await page.until(`document.querySelector('h1')?.innerText === 'No critical finding is open.'`)
    expect(await main()).toContain('No open findings in 1 session.')
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)
})

describe.skipIf(program === null)('a heading', () => {
  /** The first heading of the page's table, not of that of a chart. */
  const ROWS = 'section.scroll:not(details *) th:first-child'
  const LAST = new Date(Date.now() - 7 * DAY_MS)
  LAST.setUTCDate(LAST.getUTCDate() - ((LAST.getUTCDay() + 6) % 7))
  test.each([
    [
      '#/quality',
      `#/quality?from=${daysAgo(150).slice(0, 10)}&to=${daysAgo(0).slice(0, 10)}`,
      'figcaption',
      /^Quality by day$/,
      'Quality by week',
    ],
    ['#/cost', '#/cost?by=model', 'figcaption', /^Cost by day and project$/, 'Cost by day and model'],
    ['#/cost', '#/cost?by=model', ROWS, /^Project$/, 'Model'],
    ['#/outcomes', '#/outcomes?by=project', ROWS, /^Week$/, 'Project'],
    [
      '#/week',
      `#/week?from=${LAST.toISOString().slice(0, 10)}`,
      'main h1',
      /^[\d–]+ .* cost |^No session /,
      undefined,
    ],
  ])(
    'of %s stays until %s is answered: %s',
    async (from, to, selector, before, after) => {
      await visit(from)
      const shown = await texts(selector)
      expect(shown.length).toBeGreaterThan(0)
      for (const text of shown) expect(text).toMatch(before)
      await page.evaluate(`{
      const { fetch } = globalThis
      const held = new Promise((resolve) => (globalThis.release = resolve))
      globalThis.fetch = async (...request) => {
        await held
        return await fetch(...request)
      }
      location.hash = ${quoted(to)}
    }`)
      await page.until(`document.querySelector('.stale') !== null`)
      expect(await texts(selector)).toEqual(shown)
      await page.evaluate('release()')
      await page.until(SETTLED)
      if (after !== undefined) expect(await texts(selector)).toContain(after)
    },
    180_000,
  )
})

describe.skipIf(program === null)('Me', () => {
  test('has what is the reader’s own, and is in the head only of somebody', async () => {
    await visit('#/')
    expect(await texts('header .account nav a')).not.toContain('Me')
    const wanted = { name: 'ada', scopes: ['read'], member: 'ada@example.com' }
    const { key } = await createKey(shown.db.sql, shown.acme.orgId, wanted)
    await page.resize(390, 844)
    await visit('#/', key)
    await click('header .account summary')
    await page.click(`[...document.querySelectorAll('.account nav a')].find((one) => one.innerText === 'Me')`)
    await page.until(`location.hash === '#/me' && ${SETTLED}`)
    await page.until(`document.querySelector('.totals')?.innerText.includes('$4.00')`)
    // each section is shown when its own request is answered
    await page.until(`document.querySelectorAll('h2').length === 4`)
    // nobody else has sessions: there is nobody to compare with
    expect((await texts('.totals'))[0]).toBe(
      'Cost, 30 whole days $4.00 Against the 30 before −$12.00 (−75.0%) Sessions 1',
    )
    expect((await texts('h1'))[0]).toMatch(/^Left in \w+: \$[\d,.]+ of the \$[\d,.]+ of the organization$/)
    expect((await texts('.soft'))[0]).toContain('5 sessions, $50.00 in the last 16 weeks')
    expect((await texts('main p')).join(' ')).toMatch(
      /Your last session, .*, cost \$10\.00: 0 turns in checkout/,
    )
    expect(await texts('h2')).toEqual(['5 sessions', '3 open findings', 'Pull requests', 'Expertise'])
    const asked = page.ownRequests().filter((url) => /\/v1\/(?!whoami)/.test(url))
    expect(
      asked.filter((url) => !url.includes('/team/expertise')).map((url) => url.split('?')[0]),
    ).not.toContain(`${shown.server.url}/v1/team`)
    // the compared cost of others is shown where there are some
    await send([sessionOf('bob', 1, 'docs', 8, { user_email: 'bob@example.com' })])
    await visit('#/me', key)
    expect((await texts('.totals'))[0]).toContain('Median of 2 people $6.00')
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)
})

describe.skipIf(program === null)('every page', () => {
  test('has times of the browser’s zone, with UTC on hover', async () => {
    await page.resize(1440, 900)
    await page.zone('Asia/Kolkata')
    await visit('#/sessions?range=all&sort=created_at&order=asc')
    const created = daysAgo(0)
    const times = await page.evaluate<{ text: string; title: string; at: string }[]>(
      `[...document.querySelectorAll('tbody time')].map((one) => ({ text: one.innerText, title: one.title, at: one.dateTime }))`,
    )
    expect(times.length).toBeGreaterThan(2)
    for (const { text, title, at } of times) {
      expect(title).toBe(`${at.slice(0, 16).replace('T', ' ')} UTC`)
      const there = new Date(Date.parse(at) + 5.5 * 3_600_000).toISOString()
      expect(text).toBe(there.slice(0, 16).replace('T', ' '))
    }
    expect(created > (times[0]?.at ?? '')).toBe(true)
    for (const name of ['sessions', 'audit', 'security', 'pull-requests']) {
      await visit(`#/${name}`)
      expect((await texts('th')).filter((heading) => heading.includes('UTC'))).toEqual([])
    }
    await page.zone('')
  }, 180_000)

  test('with data that end before its range says the newest, with one click to them', async () => {
    await visit('#/cost?project=search')
    const day = daysAgo(40).slice(0, 10)
    const name = new Date(day).toLocaleString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
    const link = `[...document.querySelectorAll('main a')].find((one) => one.innerText.startsWith(${quoted(name)}))`
    await page.until(`${link} !== undefined`)
    await page.click(link)
    await page.until(`document.querySelector('h1')?.innerText.startsWith('Search cost $6.00 ')`)
    expect(await page.evaluate<string>('location.hash')).toContain(`to=${day}`)
    await click('.menu.range summary')
    await page.click(
      `[...document.querySelectorAll('.menu.range button')].find((one) => one.innerText === 'All time')`,
    )
    await page.until(`location.hash.includes('from=${day.slice(0, 7)}-01')`)
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('of days that end yesterday leads to the sessions of today, which are compared with nothing', async () => {
    await visit('#/sessions')
    await page.until(
      `/Not among them: \\d sessions of today/.test(document.querySelector('.soft')?.innerText)`,
    )
    await click('.soft a')
    await page.until(`/^\\d sessions began on /.test(document.querySelector('h1')?.innerText)`)
    expect(await page.evaluate<string>('location.hash')).toBe('#/sessions?range=today')
    await visit('#/cost?range=today&project=docs')
    const month = new Date().toLocaleString('en', { month: 'long', timeZone: 'UTC' })
    expect((await texts('h1, .soft')).join(' ')).toMatch(/^Docs cost nothing on \d+ \w+\.$/)
    await visit('#/cost?range=month&project=docs')
    expect((await texts('h1'))[0]).toEndWith(`Docs has no budget for ${month}.`)
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('is found by Ctrl-K, as projects, people and sessions are', async () => {
    await visit('#/')
    const go = async (text: string, hash: string, found = text) => {
      await page.evaluate(`dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))`)
      await page.until(`document.querySelector('.palette').open`)
      await page.type(text)
      await page.until(
        `document.querySelector('[role=option][aria-selected=true]')?.innerText.startsWith(${quoted(found)})`,
      )
      await page.press('Enter')
      await page.until(`location.hash.startsWith(${quoted(hash)})`)
    }
    await go('Outc', '#/outcomes')
    await go('checkout', '#/cost?project=checkout')
    await go('Ada', '#/team/user_')
    await go('backup', '#/settings/server', 'Server')
    // the tests before made a second organization, so that the page is refused what it asks for
    await page.until(`document.querySelector('h1')?.innerText.startsWith('Several organizations share')`)
    await go('machine', '#/devices', 'Devices')
    await go('limits', '#/budgets', 'Budgets')
    await go('sess_a', '#/sessions/sess_a')
    const added = (path: string, at: number) => ({
      ...{ type: 'commit', project: 'checkout', sha: `abcdef${at}`, author_email: 'ada@example.com' },
      ...{
        author_name: 'Ada',
        committed_at: daysAgo(1),
        files: [{ path, additions: 3, deletions: 0, status: 'added' }],
      },
    })
    await send(['src/auth/login.go', 'src/cart.go', 'web/cart.go'].map(added))
    // a bare name is that of a file of any folder
    await go('login.go', '#/team?q=login.go')
    await page.until(
      `/^Ada .*knows src\\/auth\\/login.go best/.test(document.querySelector('h1')?.innerText)`,
    )
    await go('none.go', '#/team?q=none.go')
    await page.until(
      `document.querySelector('h1')?.innerText === 'Nobody is known to have written a file called none.go'`,
    )
    await go('cart.go', '#/team?q=cart.go')
    await page.until(
      `document.querySelector('h1')?.innerText === '2 files are called cart.go: src/cart.go, web/cart.go'`,
    )
    await page.until(SETTLED)
    await page.click(`document.querySelector('.find')`)
    await page.until(`document.querySelector('.palette').open`)
    await page.press('Escape')
    await page.until(`!document.querySelector('.palette').open`)
    expect(page.problems.splice(0).filter((one) => !one.includes('/v1/server'))).toEqual([])
  }, 180_000)
})

describe.skipIf(program === null)('one thing', () => {
  test('of sessions: a chart of its turns says where the money went, and the score is said in words', async () => {
    const turn = (cost: number, ok: boolean | null, more: object = {}) => ({
      ...{ role: 'assistant', model: 'claude-opus-4-5', cost },
      ...{ tokens: { input: 1000, output: 100, cache_read: 0, cache_creation: 0 } },
      tool_calls: ok === null ? [] : [{ name: 'Bash', ok }],
      ...more,
    })
    const turn_records = [turn(1, true), turn(7, false), turn(2, null, { model: 'claude-haiku-4-5' })]
    await send([
      sessionOf('turns', 0, 'checkout', 10, {
        turn_records,
        security_metadata: { findings: [{ ...finding('turn'), turn_number: 3 }] },
      }),
    ])
    await visit('#/sessions/sess_turns')
    await page.until(`document.body.innerText.includes('Turn 2 cost most: $7.00, 70.0% of the session.')`)
    expect(
      await page.evaluate<string[][]>(
        `[...document.querySelectorAll('.chart tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))`,
      ),
    ).toEqual([
      ['Turn 1', '$1.00', '$0.00', '$1.00', '–', '1.1K', 'Bash', '0', '0'],
      ['Turn 2', '$7.00', '$0.00', '$7.00', '–', '1.1K', 'Bash', '1', '0'],
      ['Turn 3', '$0.00', '$2.00', '$2.00', '–', '1.1K', '–', '0', '1'],
    ])
    const main = () => page.evaluate<string>(`document.querySelector('main').innerText`)
    expect(await main()).toMatch(/It went (smoothly|with)/)
    expect(await main()).toContain('fewer failed tool calls (up to')

    // none failed: only more calls would raise it
    await send([sessionOf('clean', 0, 'checkout', 10, { turn_records: [turn(1, true)] })])
    await visit('#/sessions/sess_clean')
    await page.until(`document.querySelector('main').innerText.includes('0 tool calls failed')`)
    expect(await main()).toContain('What would raise it most: a commit or passing tests at the end')
    expect(await main()).not.toContain('fewer failed tool calls')
  }, 180_000)

  test('of endpoints: its events are checkboxes, and a failed delivery is sent again by one press', async () => {
    const post = (path: string, body: object) => client(shown.app, shown.acme.key)(path, jsonPost(body))
    await visit('#/webhooks')
    await page.click(`document.querySelector('input[type=url]')`)
    await page.type('https://receiver.invalid/hook')
    await page.click(`document.querySelector('input[value="*"]')`)
    await page.click(`document.querySelector('input[value="security.alert"]')`)
    await page.click(`[...document.querySelectorAll('button')].find((one) => one.innerText === 'Add')`)
    await page.until(
      `document.querySelector('section[aria-label="Endpoints"] tbody')?.innerText.includes('security.alert')`,
    )
    const { data } = (await (await client(shown.app, shown.acme.key)('/v1/webhooks')).json()) as {
      data: { id: string; events: string[] }[]
    }
    expect(data.map(({ events }) => events)).toEqual([['security.alert']])
    const id = data[0]?.id
    await (await post(`/v1/webhooks/${id}/test`, {})).json()
    await visit(`#/webhooks/${id}`)
    await page.click(
      `[...document.querySelectorAll('td button')].find((one) => one.innerText === 'Redeliver')`,
    )
    await page.until(`document.querySelector('main').innerText.includes('It is sent again')`)
    page.problems.splice(0)
  }, 180_000)
})
