import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { addDays, addMonths, dateOf, daysBetween, monthOf } from '../../src/base/dates.ts'
import { comparedDays } from '../../src/dashboard/client/days.ts'
import {
  formatDay,
  formatMonth,
  formatRange,
  formatWeekday,
  formatWeekdayName,
  inRange,
  periodNames,
} from '../../src/dashboard/client/format.ts'
import { lookAtRules } from '../../src/features/alerts/look-at-rules.ts'
import { asker, newKey } from '../support/api.ts'
import { silent } from '../support/postgres.ts'
import { findBrowser, type Page } from './browser.ts'
import { quoted, type Shown, show } from './shown.ts'

// Pages say of money exactly what their filters leave, by figures made by hand. Skipped on a machine without Chromium.

const program = findBrowser()

let shown: Shown
let page: Page

const today = dateOf(new Date())
const month = monthOf(today)
const last = addDays(addMonths(month, 1), -1)
const before = addMonths(month, -1)
const monthYear = (day: string) => periodNames([day, addMonths(day, 1)])[0] ?? ''
const dollars = (amount: number) => amount.toLocaleString('en-US', { style: 'currency', currency: 'USD' })

const session = (
  who: string,
  project_name: string,
  day: string,
  estimated_cost: number,
  more: object = {},
) => ({
  ...{ type: 'session', id: `sess_${who}_${day}`, project_name, estimated_cost },
  ...{ created_at: `${day}T00:00:00Z`, user_email: `${who}@example.com` },
  ...{ model: 'claude-opus-4-5', source: 'claude-code' },
  ...more,
})
const member = (who: string, team: string) => ({
  ...{ type: 'member', email: `${who}@example.com`, display_name: who, role: 'developer', team },
  joined_at: `${before}T00:00:00Z`,
})
const linkedTo = (number: number) => ({ pull_requests: [{ repo: 'acme/shop', number }] })
const pullRequest = (pr_number: number, merged: string) => ({
  ...{ type: 'pr_risk', repo: 'acme/shop', pr_number, pr_title: 'Change', files_changed: 1, state: 'merged' },
  ...{ impact_score: 1, regression_score: 1, security_score: 1, coupling_score: 1 },
  ...{ created_at: `${merged}T00:00:00Z`, merged_at: `${merged}T00:00:00Z` },
})
const budget = (of: string, limit: number, scope: object = {}) => ({
  ...{ type: 'budget', month: of.slice(0, 7), limit },
  ...scope,
})

beforeAll(async () => {
  if (program === null) return
  shown = await show(program, ['read', 'write', 'webhooks', 'admin'])
  page = shown.page
  const records = [
    ...[member('ada', 'payments'), member('bob', 'web')],
    ...[budget(addMonths(month, -2), 1500), budget(before, 1000), budget(month, 400)],
    ...[budget(before, 200, { team: 'payments' }), budget(month, 100, { team: 'payments' })],
    budget(month, 1e6, { project: 'checkout' }),
    ...[
      session('ada', 'checkout', addDays(before, 4), 250),
      session('bob', 'shop', addDays(before, 5), 1000),
    ],
    session('ada', 'checkout', today, 90, linkedTo(1)),
    session('bob', 'shop', today, 30, linkedTo(2)),
    ...[pullRequest(1, today), pullRequest(2, addDays(before, 10))],
  ]
  await shown.send(records)
  await page.resize(1440, 900)
}, 180_000)
afterAll(() => shown?.close())

const visit = (fragment: string, key?: string) => shown.visit(fragment, key)
const texts = (selector: string) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll(${quoted(selector)})].map((one) => one.textContent.replace(/\\s+/g, ' ').trim())`,
  )
/** Finds what a page of cost says of a budget, in its answer or below it; empty for nothing. */
const saidBudget = async () =>
  /[\d.]+% of (?:its|the \w+) budget of [^;]*/.exec((await texts('h1, .soft')).join(' '))?.[0] ?? ''

describe.skipIf(program === null)('the page of cost', () => {
  /** Nothing was spent before today. */
  const forecast = (spent: number) =>
    dollars(today === month ? spent * (daysBetween(month, last) + 1) : spent)

  test('has a budget only where that is of the filters', async () => {
    const said = async (filters: string) => {
      await visit(`#/cost?from=${month}&to=${last}${filters}`)
      await page.until(`document.querySelector('h1') !== null`)
      return await saidBudget()
    }
    expect(await said('')).toStartWith('30.0% of its budget of $400.00, which ')
    expect(await said('')).toContain(`${forecast(120)} is expected`)
    expect(await said('&team=payments')).toStartWith('90.0% of its budget of $100.00, which ')
    expect(await said('&team=payments')).toContain(`${forecast(90)} is expected`)
    expect(await said('&project=checkout')).toStartWith(
      '0.0% of its budget of $1,000,000.00, which will not be passed',
    )
    for (const other of [
      '&project=shop',
      '&team=web',
      '&member=ada%40example.com',
      '&team=payments&agent=claude-code',
    ]) {
      expect(await said(other)).toBe('')
      // the head and notes are asked for later
      const asked = page.ownRequests().filter((url) => /\/v1\/(?!changes|whoami|attention|notes)/.test(url))
      expect(asked.length).toBeLessThanOrEqual(6)
    }
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('has the budget of the month that it shows, and one line of each month’s', async () => {
    await visit(`#/cost?from=${before}&to=${addDays(month, -1)}`)
    const passed = formatDay(addDays(before, 5))
    expect(await saidBudget()).toBe(`125.0% of its budget of $1,000.00, passed on ${passed}`)
    await visit(`#/cost?from=${addMonths(month, -11)}&to=${last}`)
    await page.until(`document.querySelector('.chart path.limit') !== null`)
    const rows = await page.evaluate<string[][]>(
      `[...document.querySelectorAll('.chart tbody tr')].map((row) => [row.cells[0].textContent, row.cells[1].textContent])`,
    )
    expect(rows.slice(-4)).toEqual([
      [monthYear(addMonths(month, -3)), '–'],
      [monthYear(addMonths(month, -2)), '$1,500.00'],
      [monthYear(before), '$1,000.00'],
      [`${monthYear(month)}, unfinished`, '$400.00'],
    ])
    const steps = `document.querySelector('path.limit').getAttribute('d').replaceAll(/[^A-Z]/g, '')`
    expect(await page.evaluate<string>(steps)).toBe('MHVHVH')
  }, 180_000)
})

describe.skipIf(program === null)('the overview', () => {
  test('has firing alerts, exceeded budgets and the reader’s own', async () => {
    const scopes = ['read']
    const key = await newKey(shown.db.sql, shown.acme.orgId, scopes, 'ada@example.com')
    const ask = asker(shown.app, shown.acme.key)
    const sent = await ask('PUT', `/v1/budgets/${month.slice(0, 7)}?member=bob%40example.com`, { limit: 20 })
    expect(sent.status).toBe(200)
    const rule = { metric: 'cost', window: 'month', above: 100, destinations: [{ type: 'webhook' }] }
    const { body } = await ask('POST', '/v1/alerts', { name: 'Dear month', ...rule })
    await lookAtRules({ sql: shown.db.sql, log: silent, publicUrl: null }, new Date())
    await visit('#/', key)
    await page.until(`document.querySelector('.attention') !== null`)
    const items = await page.evaluate<string[][]>(
      `[...document.querySelectorAll('.attention li')].map((one) => [one.innerText.replace(/\\s+/g, ' '), one.querySelector('a').hash])`,
    )
    expect(items.filter(([text]) => /^(Alert|bob|Team)/.test(text ?? ''))).toEqual([
      ['Alert Dear month: $120.00 · firing for 0 days See the alert →', `#/alerts/${body.id}`],
      [
        'bob is at 150.0% of their budget: $30.00 of $20.00 What costs most →',
        expect.stringMatching(/^#\/cost\?range=month&member=user_/),
      ],
    ])
    // the number of alerts that fire is in the head
    await page.until(`document.querySelector('header .count')?.textContent === '1 fires'`)
    // the reader’s own: a team’s
    expect((await texts('.tile')).at(-1)).toContain('$10.00 of the $100.00 of team payments')
    const asked = page.ownRequests().filter((url) => /\/v1\/(?!changes|whoami)/.test(url))
    expect(asked.length).toBeLessThanOrEqual(6)
    await visit('#/alerts')
    expect((await texts('h1'))[0]).toStartWith('1 of 1 alert fires: Dear month')
    expect((await texts('.soft'))[0]).toEndWith('stands on the Overview.')
    await visit('#/sessions', key)
    await page.click(
      `[...document.querySelectorAll('main a')].find((one) => one.textContent === 'Only mine')`,
    )
    await page.until(`location.hash.includes('member=ada%40example.com')`)
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)
})

describe.skipIf(program === null)('what is compared', () => {
  test('is whole days: a month with the same days of the one before', async () => {
    const said = async (from: string, to: string) => {
      await visit(`#/cost?from=${from}&to=${to}&sort=key&order=asc`)
      const changes = `[...document.querySelectorAll('section[aria-label="Cost by project"] :is(tbody, tfoot) tr')].map((row) => [row.cells[2].textContent, row.cells[3].textContent])`
      return [
        /; .*/.exec((await texts('h1')).join())?.[0],
        ...(await page.evaluate<string[][]>(changes)).flat(),
      ]
    }
    const nothing = (from: string, to: string) => `; nothing ${inRange({ from, to })}.`
    const beforeThat = addMonths(before, -1)
    expect(await said(before, addDays(month, -1))).toEqual([
      nothing(beforeThat, addDays(before, -1)),
      ...['+$250.00', 'new', '+$1,000.00', 'new', '+$1,250.00', 'new'],
    ])
    const daysOver = daysBetween(month, today)
    // last month’s 250 and 1,000 were on the 5th and 6th
    if (daysOver > 5)
      expect(await said(month, last)).toEqual([
        `; $1,250.00 (100.0%) less than ${inRange({ from: before, to: addDays(before, daysOver - 1) })}.`,
        ...['−$250.00', '−100.0%', '−$1,000.00', '−100.0%', '−$1,250.00', '−100.0%'],
      ])
    // today and yesterday: of yesterday and the day before nothing is known
    expect(await said(addDays(today, -1), today)).toEqual([
      undefined,
      '$0.00',
      '–',
      '$0.00',
      '–',
      '$0.00',
      '–',
    ])
  }, 180_000)
})

describe('days to compare', () => {
  const day = (back: number) => addDays(today, -back)
  test.each([
    [
      'a past month: the whole one before',
      '2024-03-01',
      '2024-03-31',
      '2024-03-31',
      '2024-02-01',
      '2024-02-29',
    ],
    [
      'a range that is over: as many before',
      '2024-03-02',
      '2024-03-31',
      '2024-03-31',
      '2024-02-01',
      '2024-03-01',
    ],
    ['one with today: to yesterday', day(19), day(0), day(1), day(38), day(20)],
    ['one that goes on: to yesterday', day(2), addDays(today, 4), day(1), day(4), day(3)],
  ])('%s', (_name, from, to, until, first, end) => {
    expect(comparedDays({ from, to })).toEqual({ now: { from, to: until }, before: { from: first, to: end } })
  })
  test('none of today alone', () => expect(comparedDays({ from: today, to: today })).toBeUndefined())
})

describe.skipIf(program === null)('the page of outcomes', () => {
  test('says the cost of a merged pull request from half of the cost linked on, and of which cost a share is', async () => {
    await visit('#/outcomes?by=month&range=6m')
    await page.until(
      `document.querySelectorAll('section[aria-label="Outcomes by month"] tbody tr').length === 2`,
    )
    const rows = (name: string, cells: string) =>
      page.evaluate<string[][]>(
        `[...document.querySelectorAll('section[aria-label="${name}"] tbody tr')].map((row) => [${cells}].map((at) => row.cells[at].textContent))`,
      )
    // month, merged, cost, linked, what pull requests cost, per merged: the sessions of last month’s pull request are of today
    expect(await rows('Outcomes by month', '0, 1, 3, 4, 5, 6')).toEqual([
      [formatRange({ from: before, to: addDays(month, -1) }), '1', '$1,250.00', '0.0%', '$30.00', '–'],
      [formatRange({ from: month, to: last }), '1', '$120.00', '100.0%', '$90.00', '$90.00'],
    ])
    expect((await rows('Cost by month, as a table', '1, 2')).slice(-2)).toEqual([
      ['$0.00', '$1,250.00'],
      ['$120.00', '$0.00'],
    ])
    // 120 of 1,370: what one cost is not said
    expect((await texts('h1'))[0]).toStartWith('2 pull requests were merged ')
    expect((await texts('h1'))[0]).not.toContain('each')
    expect((await texts('.soft'))[0]).toStartWith(
      '8.8% of the cost of these days is linked to pull requests of any time. Those of these days cost $120.00',
    )
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)
})

describe.skipIf(program === null)('a day and a month', () => {
  test('stand beside what is usual, and beside the limits of the month before', async () => {
    await visit('#/budgets')
    const [said = ''] = await texts('.soft')
    expect(said).toStartWith(`2 of 2 budgets were exceeded in ${formatMonth(before)}: `)
    expect(said).toContain('the organization ($1,250.00 of $1,000.00)')
    expect(said).toContain('team payments ($250.00 of $200.00)')
    const [yesterday, weekBefore] = [addDays(today, -1), addDays(today, -8)]
    await shown.send([session('ada', 'weekly', yesterday, 20), session('ada', 'weekly', weekBefore, 40)])
    await visit('#/cost?project=weekly')
    const all = `document.querySelector('section[aria-label="Cost by project"] tfoot')`
    expect(await page.evaluate<string>(`${all}.querySelector('a').getAttribute('href')`)).toBe(
      '#/sessions?project=weekly',
    )
    expect(await page.evaluate<number>(`${all}.querySelectorAll('.bar').length`)).toBe(0)
    const rows = await page.evaluate<string[][]>(
      `[...document.querySelectorAll('section[aria-label="Cost by day and project, as a table"] tbody tr')].map((row) => [row.cells[0], [...row.cells].at(-2)].map((cell) => cell.textContent))`,
    )
    // a quarter of the only such weekday in the four weeks before
    expect(rows.at(-1)).toEqual([formatWeekday(yesterday), `×2.0 a usual ${formatWeekdayName(yesterday)}`])
    expect(rows.find(([day]) => day === formatWeekday(weekBefore))?.[1]).toBe('–')
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)
})
