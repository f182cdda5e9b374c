import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { formatWeekday } from '../../src/dashboard/client/format.ts'
import { eventually } from '../support/cli.ts'
import { memberRecord, sessionRecord } from '../support/records.ts'
import { findBrowser, type Page } from './browser.ts'
import { quoted, SETTLED, type Shown, show } from './shown.ts'

// Pages are read and narrowed: charts by mouse, finger and keys, suggestions, columns, places that are kept, failures
// that are tried again. Skipped on a machine without Chromium.

const program = findBrowser()
const DAY_MS = 86_400_000

let shown: Shown
let page: Page

const dayAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

beforeAll(async () => {
  if (program === null) return
  shown = await show(program, ['read', 'write', 'webhooks'])
  page = shown.page
  const sessions = Array.from({ length: 60 }, (_, nth) =>
    sessionRecord(`sess_${nth}`, {
      project_name: nth % 3 === 0 ? 'search' : 'checkout',
      created_at: dayAgo(nth % 5),
      user_email: 'ada@example.com',
      model: 'claude-opus-4-5',
      source: 'claude-code',
      branch: nth % 2 === 0 ? 'main' : 'feat/SHOP-7-refunds',
      estimated_cost: 2,
    }),
  )
  const ada = memberRecord('ada', { joined_at: dayAgo(9) })
  const month = new Date().toISOString().slice(0, 7)
  await shown.send([ada, { type: 'budget', month, limit: 3000 }, ...sessions])
}, 180_000)
afterAll(() => shown?.close())

const visit = (fragment: string, key?: string) => shown.visit(fragment, key)
const text = (selector: string) =>
  page.evaluate<string>(`document.querySelector(${quoted(selector)})?.innerText ?? ''`)
const hash = () => page.evaluate<string>('location.hash')
const button = (label: string) =>
  `[...document.querySelectorAll('button, summary, label.check')].find((one) => one.innerText.startsWith(${quoted(label)}))`
/** The middle of the last bar of the chart. */
const lastBar = () => page.middleOf(`[...document.querySelectorAll('.chart svg[role=img] g > rect')].at(-1)`)
const today = new Date().toISOString().slice(0, 10)

describe.skipIf(program === null)('a chart', () => {
  beforeEach(async () => {
    await page.resize(1440, 900)
    // today is one of its days
    await visit('#/cost?range=month')
    // no longer the chart of the day that a click led to
    await page.until(`document.querySelectorAll('.chart svg[role=img] g > rect').length > 2`)
  })

  test('has the budget as a line', async () => {
    await page.until(`/Budget in a day \\$\\d+\\.\\d\\d/.test(document.querySelector('.chart').textContent)`)
  })

  test('says its values to a mouse, and a click narrows the page to the days', async () => {
    // the chart is placed anew when what comes later is shown
    const click = async () => {
      const { x, y } = await lastBar()
      if (!(await hash()).includes('from=')) await page.clickAt(x, y)
      return await hash()
    }
    expect(await eventually(click, (at) => at.includes(`from=${today}`))).toContain(`to=${today}`)
    await page.until(SETTLED)
    await page.until(`document.querySelector('h1').innerText.includes(' cost $24.00 on ')`)
  }, 180_000)

  test('says its values to a finger, and the second tap goes there', async () => {
    const { x, y } = await lastBar()
    await page.clickAt(x, y, 'touch')
    await page.until(`document.querySelector('.tip') !== null`)
    const said = await text('.tip')
    expect(said).toContain(formatWeekday(today))
    expect(said).toContain('checkout')
    expect(said).toContain('$24.00')
    expect(await hash()).toBe('#/cost?range=month')
    await page.clickAt(x, y, 'touch')
    await page.until(`location.hash.includes('from=${today}')`)
  }, 180_000)

  test('says its values to the keys, and Enter goes there', async () => {
    // on the first of a month that has one day only
    await visit(`#/cost?from=${dayAgo(4).slice(0, 10)}&to=${today}`)
    await page.until(`document.querySelectorAll('.chart svg[role=img] g > rect').length > 2`)
    await page.evaluate(`document.querySelector('.tips').focus()`)
    await page.press('End')
    await page.until(`document.querySelector('.tip')?.innerText.includes('${formatWeekday(today)}')`)
    await page.press('ArrowLeft')
    const before = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10)
    await page.until(`document.querySelector('.tip')?.innerText.includes('${formatWeekday(before)}')`)
    await page.press('Escape')
    await page.until(`document.querySelector('.tip') === null`)
    await page.press('End')
    await page.press('Enter')
    await page.until(`location.hash.includes('from=${today}')`)
  }, 180_000)
})

describe.skipIf(program === null)('a list', () => {
  beforeEach(() => page.resize(1440, 900))

  test('of costs has a second key, and a name narrows it to what it names, by the next key', async () => {
    await visit('#/cost?by=project&and_by=branch')
    const rows = await page.evaluate<string[]>(
      `[...document.querySelectorAll('section[aria-label="Cost by project and branch"] tbody tr')].map((row) => row.innerText)`,
    )
    expect(rows).toHaveLength(4)
    await page.click(`document.querySelector('tbody a')`)
    await page.until(`location.hash.includes('by=member')`)
    expect(await hash()).toContain('project=checkout')
  }, 180_000)

  test('suggests members and branches once its field has the focus, and asks for nothing before', async () => {
    await visit('#/sessions')
    const asked = () =>
      page
        .ownRequests()
        .filter((url) => /\/v1\/(?!changes)/.test(url))
        .map((url) => url.split('?')[0]?.split('/v1')[1])
    // who is signed in was asked before
    // what needs attention is asked for a little later
    expect(
      asked()
        .filter((path) => path !== '/attention')
        .toSorted(),
      // the page, and how many there are of today
    ).toEqual(['/cost/breakdown', '/sessions', '/sessions'])
    await page.evaluate(`document.querySelector('.menu.add').open = true`)
    for (const [label, suggestion] of [
      ['Member', 'ada@example.com'],
      ['Branch', 'feat/SHOP-7-refunds'],
    ]) {
      const field = `[...document.querySelectorAll('label')].find((one) => one.innerText.startsWith('${label}')).querySelector('input')`
      await page.evaluate(`${field}.focus()`)
      await page.until(`[...${field}.list.options].some(({ value }) => value === '${suggestion}')`)
    }
  }, 180_000)

  test('of sessions has the columns that were chosen, also in another tab', async () => {
    await page.resize(1440, 500)
    await visit('#/sessions')
    // all in one request
    expect(page.ownRequests().filter((url) => url.includes('/sessions/sess_'))).toEqual([])
    const first = await text('tbody tr')
    for (const known of ['ada@example.com', 'claude-code', 'claude-opus-4-5']) expect(first).toContain(known)
    await page.click(button('Columns'))
    for (const name of ['Branch', 'Turns']) await page.click(button(name))
    await page.until(`document.querySelector('thead').innerText.includes('Branch')`)
    await visit('#/sessions')
    expect(await text('thead')).toContain('Branch')
    expect(await text('thead')).not.toContain('Turns')
    await page.evaluate(`localStorage.clear()`)
  }, 180_000)

  test('keeps its headings in view, begins at its top, and is where it was after Back', async () => {
    await page.resize(1440, 500)
    await visit('#/sessions')
    await page.evaluate(`scrollTo(0, 600)`)
    await page.until(`document.querySelector('thead th').getBoundingClientRect().top === 0`)
    await page.until(`history.state?.y === 600`)
    await page.click(`document.querySelector('a[rel=next]')`)
    await page.until(`location.hash.includes('page=2') && scrollY === 0`)
    await page.until(SETTLED)
    await page.evaluate('history.back()')
    await page.until(`!location.hash.includes('page=2') && scrollY > 500`)
  }, 180_000)

  test('that could not be loaded is tried again by a click, and by itself when the browser is online', async () => {
    await visit('#/badges')
    await page.evaluate(`{
      globalThis.send = globalThis.fetch
      globalThis.fetch = () => Promise.reject(new TypeError('no network'))
    }`)
    await page.evaluate(`location.hash = '#/quality'`)
    await page.until(`document.querySelectorAll('[role=alert]').length === 2`)
    expect(await text('[role=alert]')).toContain('The server does not respond')
    await page.evaluate(`globalThis.fetch = globalThis.send`)
    await page.click(button('Try again'))
    await page.until(`document.querySelectorAll('[role=alert]').length === 1`)
    await page.evaluate(`dispatchEvent(new Event('online'))`)
    await page.until(`document.querySelectorAll('[role=alert]').length === 0`)
    await page.until(`document.querySelector('h1')?.innerText.startsWith('Sessions have ')`)
  }, 180_000)

  test('of tickets leads to what a ticket cost', async () => {
    await visit('#/outcomes')
    const link = `[...document.querySelectorAll('section[aria-label="Cost of tickets"] a')].find((one) => one.innerText === 'SHOP-7')`
    await page.until(`${link} !== undefined`)
    await page.click(link)
    await page.until(`location.hash.includes('ticket=SHOP-7')`)
    await page.until(`document.querySelector('h1')?.innerText.includes(' cost $')`)
  }, 180_000)

  test('of endpoints: one is changed, and deleted once that was asked', async () => {
    const response = await fetch(`${shown.server.url}/v1/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${shown.acme.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: 'https://receiver.invalid/a', events: ['*'] }),
    })
    const { id } = (await response.json()) as { id: string }
    await visit(`#/webhooks/${id}`)
    await page.click(button('Edit'))
    await page.evaluate(`document.querySelector('input[type=url]').select()`)
    await page.type('https://receiver.invalid/b')
    await page.press('Enter')
    await page.until(`document.querySelector('h1').innerText === 'https://receiver.invalid/b'`)
    await page.click(button('Delete'))
    await page.until(`${button('Delete it?')} !== undefined`)
    await page.click(button('Delete it?'))
    await page.until(`location.hash === '#/webhooks'`)
    await page.until(`document.querySelector('main').innerText.includes('No endpoints yet')`)
    expect(await text('h1')).toBe('Nothing is sent anywhere: there is no webhook')
    // a change that is told while it is deleted has the page ask for it once more
    expect(page.problems.splice(0).filter((problem) => !problem.includes(`/v1/webhooks/${id}`))).toEqual([])
  }, 180_000)
})
