import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DaySum, firingsOf } from '../../src/dashboard/alerts/past-firings.ts'
import { lookAtRules } from '../../src/features/alerts/look-at-rules.ts'
import type { Watched } from '../../src/features/alerts/model.ts'
import { type Ask, asker } from '../support/api.ts'
import { silent } from '../support/postgres.ts'
import { receiver, webhookApp } from '../support/webhook-api.ts'
import { findBrowser, type Page } from './browser.ts'
import { quoted, SETTLED, type Shown, show } from './shown.ts'

// Alerts are tried on the past; alerts and digests are made in Chromium. The browser's part is skipped on a machine without it.

const RANGE = { from: '2026-03-02', to: '2026-03-15' }
const COST: Watched = {
  ...{ metric: 'cost', scope: {}, each: null, window: 'day' },
  ...{ no_data: 'ok', renotify_minutes: null },
}
const sum = (day: number, value: number, key = '', sessions = 1): DaySum => ({
  ...{ day: `2026-03-${String(day).padStart(2, '0')}`, key, sum: value, sessions },
})
const firings = (watched: Partial<Watched>, sums: readonly DaySum[]) =>
  firingsOf({ ...COST, ...watched }, sums, RANGE).map(({ day, key, value, threshold }) => [
    ...[day.slice(8), key, value, threshold],
  ])

describe('an alert that is tried on the past', () => {
  test('fires once in each window that goes beyond the threshold, also on days that follow each other', () => {
    const sums = [sum(3, 11), sum(4, 12), sum(5, 10), sum(9, 8), sum(11, 8)]
    expect(firings({ above: 10 }, sums)).toEqual([
      ['03', '', 11, 10],
      ['04', '', 12, 10],
    ])
    // the second week begins on the 9th
    expect(firings({ above: 10, window: 'week' }, sums)).toEqual([
      ['03', '', 11, 10],
      ['11', '', 16, 10],
    ])
  })

  test('has states of each key, and the usual is the median of the 14 windows before', () => {
    const usual = Array.from({ length: 9 }, (_, index) => sum(index + 1, 4, 'a'))
    const sums = [...usual, sum(10, 9, 'a'), sum(10, 50, 'b')].map((one) => one)
    // eight of the 14 days before have 4, six have nothing: b has no usual
    expect(firings({ times: 2, each: 'project' }, sums)).toEqual([['10', 'a', 9, 8]])
    expect(firings({ above: 8, each: 'project' }, sums)).toEqual([
      ['10', 'a', 9, 8],
      ['10', 'b', 50, 8],
    ])
  })

  test('weighs days of a mean by their sessions, and has no data without', () => {
    const sums = [sum(2, 50, '', 1), sum(3, 3 * 90, '', 3), sum(10, 59, '', 1)]
    const watched = { metric: 'average_quality', below: 60 } as const
    expect(firings({ ...watched, window: 'week' }, sums)).toEqual([
      ['02', '', 50, 60],
      ['10', '', 59, 60],
    ])
    expect(firings({ ...watched, window: 'day' }, sums).map(([day]) => day)).toEqual(['02', '10'])
  })

  test('forecasts the month from whole days', () => {
    expect(firings({ metric: 'forecast', window: 'month', above: 100 }, [sum(1, 3), sum(6, 20)])).toEqual([
      ['07', '', 118.833333, 100],
    ])
  })
})

const program = findBrowser()
const AXE = readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8')
const DAY_MS = 86_400_000
const MAX_REQUESTS = 6

let shown: Shown
let page: Page
let ask: Ask
const slack = receiver()

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()
const sessionOf = (days: number, project_name: string, estimated_cost: number) => ({
  ...{ type: 'session', id: `sess_${estimated_cost}of${days}`, project_name, created_at: daysAgo(days) },
  ...{ model: 'claude-opus-4-5', source: 'claude-code', user_email: 'ada@example.com', estimated_cost },
})

beforeAll(async () => {
  if (program === null) return
  shown = await show(program, ['read', 'write', 'webhooks', 'admin'], (db) =>
    webhookApp(db, { writes: db.pool(2) }),
  )
  page = shown.page
  ask = asker(shown.app, shown.acme.key)
  const records = [
    ...Array.from({ length: 40 }, (_, days) => sessionOf(days + 1, 'checkout', days === 20 ? 100 : 10)),
    sessionOf(3, 'search, "new"', 4),
  ]
  await shown.send(records)
}, 180_000)
afterAll(async () => {
  await slack.stop()
  await shown?.close()
})

const visit = (fragment: string) => shown.visit(fragment)
const sees = (text: string) =>
  page.until(`document.querySelector('main').innerText.includes(${quoted(text)}) && ${SETTLED}`)
const clickOn = (text: string) =>
  page.click(
    `[...document.querySelectorAll('main button, main summary')].find((one) => one.innerText.startsWith(${quoted(text)}))`,
  )
const fill = async (name: string, text: string): Promise<void> => {
  await page.evaluate(`document.querySelector('main form [name=${name}]').select()`)
  await page.type(text)
  await page.press('Tab')
}
const choose = (name: string, value: string) =>
  page.evaluate(`{
    const list = document.querySelector('main form [name=${name}]')
    list.value = ${quoted(value)}
    list.dispatchEvent(new Event('change', { bubbles: true }))
  }`)
/** The page has no finding of axe in either width and colours, scrolls in one direction, and makes few requests. */
async function expectGood(fragment: string): Promise<void> {
  for (const [width, scheme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const) {
    await page.resize(width, 900, scheme)
    await visit(fragment)
    // the head asks for the number of alerts later
    const asked = page.ownRequests().filter((url) => /\/v1\/(?!changes|whoami|attention)/.test(url))
    expect(asked.length).toBeLessThanOrEqual(MAX_REQUESTS)
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    await page.evaluate(`document.querySelectorAll('main details').forEach((one) => { one.open = true })`)
    await page.until(SETTLED)
    await page.evaluate(AXE)
    const found = await page.evaluate<[string, string][]>(
      `axe.run({ resultTypes: ['violations'], preload: false }).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))`,
    )
    expect(found).toEqual([])
  }
  await page.resize(1440, 900)
}
const linesOf = (body: string | undefined): string[] => {
  const { blocks } = JSON.parse(body ?? '') as { blocks: { text: { text: string } }[] }
  return blocks.map(({ text }) => text.text.replaceAll('*', ''))
}

describe.skipIf(program === null)('in Chromium', () => {
  test('an alert is made in three choices that say how often it would have fired, tested, changed, silenced', async () => {
    await expectGood('#/alerts')
    await sees('There is no alert')
    const day = new Date(daysAgo(21)).toLocaleString('en-GB', {
      day: 'numeric',
      month: 'short',
      timeZone: 'UTC',
    })
    await sees(`It would have fired 1 time in the last 90 days, last on ${day}`)
    await sees('Firing $100.00 this day, above $30.00')
    await choose('side', 'above')
    await fill('limit', '3.5')
    await choose('where', 'each project')
    await sees('It would have fired 41 times in the last 90 days')
    await choose('metric', 'findings')
    await page.until(`!document.querySelector('main').innerText.includes('would have fired')`)
    await choose('metric', 'cost')
    await choose('where', 'project')
    await fill('subject', 'search, "new"')
    await sees('It would have fired 1 time')
    await page.click(`document.querySelector('[name=webhook]')`)
    await fill('slack', slack.url)
    await clickOn('Make the alert')
    await sees('Cost of search, "new" above $3.50 in a day')
    await page.until(`location.hash.startsWith('#/alerts/alert_')`)
    const fragment = await page.evaluate<string>('location.hash')
    const masked = `${new URL(slack.url).origin}/…${slack.url.slice(-4)}`
    await sees(`slack ${masked}`)

    await clickOn('Send a test')
    await sees('slack: answered 200')
    await sees('alert.fired (test)')
    expect(linesOf(slack.got[0]?.body)).toEqual([
      'Test of an alert: Cost of search, "new" above $3.50 in a day',
      'Firing $3.50 this day, above $3.50',
    ])
    await clickOn('Edit')
    await page.until(`document.querySelector('[name=slack]')?.value === ${quoted(masked)}`)
    await fill('limit', '5')
    await fill('name', 'Search')
    await clickOn('Save')
    await sees('above $5.00 in a day')
    await clickOn('Silence')
    await sees('silenced')
    const { body } = await ask('GET', `/v1${fragment.slice(1)}`)
    expect(body).toMatchObject({
      ...{ name: 'Search', above: 5, scope: { project: 'search, "new"' }, each: null, enabled: false },
      destinations: [{ type: 'slack', url: masked }],
    })
    await expectGood(fragment)
    await clickOn('Delete')
    await clickOn('Delete it?')
    await sees('There is no alert')
    // a change that is told while it is deleted has the page ask for it once more
    const asked = `/v1${fragment.slice(1)}`
    expect(page.problems.splice(0).filter((problem) => !problem.includes(asked))).toEqual([])
  }, 300_000)

  test('a digest says what the page shows before it is made, and the page of any week', async () => {
    await expectGood('#/digests')
    // the message is opened there
    await sees('In Slack')
    const lines = await page.evaluate<string[]>(
      `[...document.querySelectorAll('section[aria-label="In Slack"] p:not(.note)')].map((one) => one.innerText)`,
    )
    await page.click(`document.querySelector('[name=webhook]')`)
    await fill('slack', slack.url)
    await choose('weekday', 'friday')
    await clickOn('Make the digest')
    await sees('on Fridays at 8:00 UTC')
    await clickOn('Send a test')
    await sees('slack: answered 200')
    const [title, ...said] = linesOf(slack.got.at(-1)?.body)
    expect(title).toBe(lines[0]?.replace('The week', 'Test of a digest'))
    // no route says which findings are new
    expect(said.slice(0, -1)).toEqual(lines.slice(1, -1))
    expect(said).toHaveLength(7)

    await expectGood('#/week')
    const from = await page.evaluate<string>(`document.querySelector('[type=date]').value`)
    await page.click(`document.querySelector('main a.button')`)
    const before = new Date(Date.parse(from) - 7 * DAY_MS).toISOString().slice(0, 10)
    await page.until(`location.hash === '#/week?from=${before}' && ${SETTLED}`)
    await sees('cost $7')
    await sees('open of those first seen in the week')
    await page.click(`document.querySelector('section[aria-label="The week"] a')`)
    await page.until(`location.hash.startsWith('#/cost?from=${before}')`)
    expect(page.problems.splice(0)).toEqual([])
  }, 300_000)

  test('an alert of each project shows the state of each, and what only the API can ask for stays', async () => {
    const records = [sessionOf(0, 'checkout', 11), sessionOf(0, 'docs', 2)]
    expect((await ask('POST', '/v1/sync', { records })).status).toBe(200)
    const alert = {
      metric: 'cost',
      window: 'day',
      above: 3,
      destinations: [{ type: 'slack', url: slack.url }],
    }
    const { id } = (await ask('POST', '/v1/alerts', { ...alert, name: 'Each', each: 'project' })).body
    const scope = { project: 'docs', agent: 'claude-code' }
    const both = await ask('POST', '/v1/alerts', { ...alert, name: 'Both', scope })
    await lookAtRules({ sql: shown.db.sql, log: silent, publicUrl: null }, new Date())
    const cells = (caption: string) =>
      page.evaluate<string[][]>(
        `[...document.querySelectorAll('section[aria-label="${caption}"] tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText))`,
      )
    await visit('#/alerts')
    expect((await cells('alerts')).map((row) => [row[0], row[2], row[4]])).toEqual([
      ['Each', 'firing', '$11.00'],
      ['Both', 'ok', '$2.00'],
    ])
    await visit(`#/alerts/${id}`)
    expect((await cells('State of each project')).map((row) => [row[0], row[1], row[3]])).toEqual([
      ['checkout', 'firing', '$11.00'],
      ['docs', 'ok', '$2.00'],
    ])
    expect((await cells('Deliveries')).map((row) => row[1])).toEqual(['alert.fired'])
    await visit(`#/alerts/${both.body.id}`)
    await clickOn('Edit')
    await sees('as it is')
    await fill('limit', '1')
    await clickOn('Save')
    await sees('above $1.00 in a day')
    expect((await ask('GET', `/v1/alerts/${both.body.id}`)).body).toMatchObject({
      name: 'Both',
      above: 1,
      scope,
    })
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)
})
