import { describe, expect, test } from 'bun:test'
import { VERSION } from '../../src/base/version.ts'
import { ticksTo } from '../../src/dashboard/charts/ticks.ts'
import {
  daysOfPeriod,
  finestGranularity,
  lengthOf,
  periodsOf,
  rangeBefore,
  weekdayOf,
} from '../../src/dashboard/client/days.ts'
import {
  formatCompact,
  formatDollars,
  formatDollarTick,
  formatDuration,
  formatParts,
  formatPercent,
  formatRange,
  formatScore,
  formatShare,
  formatTimes,
  periodNames,
  signed,
} from '../../src/dashboard/client/format.ts'
import { linkTo, routeOf } from '../../src/dashboard/client/links.ts'
import { keepWho, keptWho, noteSign, signedBy } from '../../src/dashboard/client/signed-in.ts'
import { connect } from '../../src/database/client.ts'
import type { WhoAmI } from '../../src/features/whoami/model.ts'
import { client, testApp } from '../support/api.ts'

// Nothing here asks the database: a pool opens its first connection with its first query.
const ask = client(
  testApp(connect({ url: 'postgres://localhost/none' }, { max: 1, applicationName: 'test' })),
)
/** All that the page loads has at most this size, compressed. */
const MAX_BYTES = 60 * 1024

describe('the page', () => {
  test('loads nothing from elsewhere, has nothing inline, and is small', async () => {
    const page = await ask('/', { headers: { accept: 'text/html,*/*' } })
    const html = await page.text()
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('content-security-policy')).toStartWith("default-src 'self'; ")
    expect(page.headers.get('content-security-policy')).not.toContain('unsafe')
    expect(html).not.toMatch(/https?:|<script>|<style|style="|\son\w+="/)
    const links = [...html.matchAll(/(?:href|src)="(dashboard\/[^"]+)"/g)].map((match) => match[1])
    // icon, style, script, and the parts of the script that it needs at first
    expect(links.map((link) => link?.replace(/\d+/, ''))).toEqual(
      ['icon.svg', 'app.css', 'part.js', 'app.js'].map((name) => `dashboard/${name}`),
    )
    let bytes = html.length
    for (const link of links) {
      const file = await ask(`/${link}`, { headers: { 'accept-encoding': 'gzip' } })
      expect([link, file.status]).toEqual([link, 200])
      bytes += (await file.arrayBuffer()).byteLength
    }
    expect(bytes).toBeLessThan(MAX_BYTES)
  })

  test('has the path of PUBLIC_URL before all that it loads', async () => {
    const prefixed = client(
      testApp(connect({ url: 'postgres://localhost/none' }, { max: 1, applicationName: 'test' }), {
        config: { publicUrl: 'https://example.com/a&b' },
      }),
    )
    const html = await (await prefixed('/', { headers: { accept: 'text/html' } })).text()
    const links = [...html.matchAll(/(?:href|src|"base" content)="([^"]*)"/g)].map((match) =>
      match[1]?.replace(/\d+/, ''),
    )
    expect(links).toEqual([
      '/a&amp;b/',
      ...['icon.svg', 'app.css', 'part.js', 'app.js'].map((name) => `/a&amp;b/dashboard/${name}`),
      ...['docs'].map((link) => `/a&amp;b/${link}`),
    ])
  })

  test('has an icon, also at the path where a browser asks that shows JSON', async () => {
    const [icon, usual] = [await ask('/dashboard/icon.svg'), await ask('/favicon.ico')]
    expect([usual.status, usual.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(await usual.text()).toBe(await icon.text())
  })

  test('is JSON for a program that asks for JSON', async () => {
    const response = await ask('/', { headers: { accept: 'application/json' } })
    expect(await response.json()).toEqual({ name: 'Cloud Analytics', version: VERSION, docs: '/docs' })
    expect(response.headers.get('vary')).toContain('Accept')
    const browser = await ask('/', { headers: { accept: 'text/html,application/json;q=0.9' } })
    expect(browser.headers.get('content-type')).toBe('text/html; charset=utf-8')
  })
})

describe('URLs of pages', () => {
  test.each([
    ['', '', undefined, {}],
    ['#/cost?by=model', 'cost', undefined, { by: 'model' }],
    ['#/sessions/sess_1', 'sessions', 'sess_1', {}],
    ['#/sessions?project=a%20%26%20b%2Fc', 'sessions', undefined, { project: 'a & b/c' }],
    ['#/%E0%A4%A', '%E0%A4%A', undefined, {}],
  ])('%s', (fragment, page, id, query) => {
    const route = routeOf(fragment)
    expect([route.page, route.id, Object.fromEntries(route.query)]).toEqual([page, id, query])
  })

  test('are made so that they are read back as they were, without what is empty', () => {
    const link = linkTo('sessions', { project: '<script>&=#/', branch: '', page: undefined }, 'a/b')
    const { page, id, query } = routeOf(link)
    expect([page, id, Object.fromEntries(query)]).toEqual(['sessions', 'a/b', { project: '<script>&=#/' }])
  })
})

describe('days', () => {
  test('a range, the one before it, and its periods', () => {
    const range = { from: '2026-02-27', to: '2026-03-02' }
    expect(lengthOf(range)).toBe(4)
    expect(rangeBefore(range)).toEqual({ from: '2026-02-23', to: '2026-02-26' })
    expect(periodsOf(range, 'day')).toEqual(['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02'])
    expect(periodsOf(range, 'week')).toEqual(['2026-02-23', '2026-03-02'])
    expect(periodsOf(range, 'month')).toEqual(['2026-02-01', '2026-03-01'])
    expect(weekdayOf('2026-03-02')).toBe(0)
  })
})

test('axes have round steps up to their largest value', () => {
  expect(ticksTo(47.8)).toEqual([0, 20, 40, 60])
  expect(ticksTo(0.00012)).toEqual([0, 0.00005, 0.0001, 0.00015])
  expect(ticksTo(100)).toEqual([0, 25, 50, 75, 100])
  expect(ticksTo(0)).toEqual([0, 1])
})

test('amounts on an axis are short', () => {
  expect([0, 0.0005, 7.5, 40, 2500, 2e6].map(formatDollarTick)).toEqual([
    '$0',
    '$0.0005',
    '$7.50',
    '$40',
    '$2.5K',
    '$2M',
  ])
})

test('shares, scores and changes have one form', () => {
  expect([0.5, 1, 0.0004].map(formatShare)).toEqual(['50.0%', '100.0%', '0.0%'])
  expect(formatPercent(12.34)).toBe('12.3%')
  expect([75, 79.29, -1.85].map(formatScore)).toEqual(['75.0', '79.3', '−1.9'])
  expect([0.25, -0.25, 0].map((value) => signed(value, formatShare))).toEqual(['+25.0%', '−25.0%', '0.0%'])
})

test('months are named without a day, days and weeks with one', () => {
  expect(periodNames(['2026-01-01', '2026-02-01'])).toEqual(['Jan 2026', 'Feb 2026'])
  expect(periodNames(['2019-02-01', '2019-02-02'])).toEqual(['1 Feb 2019', '2 Feb 2019'])
  expect(periodNames(['2019-02-01'])).toEqual(['1 Feb 2019'])
  expect(periodNames(['Turn 1'])).toEqual(['Turn 1'])
  const range = (from: string, to: string) => formatRange({ from: `2019-${from}`, to: `2019-${to}` })
  expect([
    range('11-22', '11-28'),
    range('10-30', '11-03'),
    range('11-01', '11-30'),
    range('11-01', '11-01'),
  ]).toEqual([...['22–28 Nov 2019', '30 Oct 2019 – 3 Nov 2019', 'November 2019', '1 Nov 2019']])
})

test('costs of turns have the same decimals, whether above a cent or below', () => {
  expect([0.007752, 0.0231, 1.5].map(formatParts)).toEqual(['$0.0078', '$0.0231', '$1.5000'])
})

test('a period has the days of it that are in the range', () => {
  const range = { from: '2026-02-04', to: '2026-03-10' }
  expect(daysOfPeriod('2026-02-02', 'week', range)).toEqual({ from: '2026-02-04', to: '2026-02-08' })
  expect(daysOfPeriod('2026-02-01', 'month', range)).toEqual({ from: '2026-02-04', to: '2026-02-28' })
  expect(daysOfPeriod('2026-03-09', 'week', range)).toEqual({ from: '2026-03-09', to: '2026-03-10' })
  expect(daysOfPeriod('2026-03-09', 'day', range)).toEqual({ from: '2026-03-09', to: '2026-03-09' })
})

test('a range has the finest periods of which it has few enough', () => {
  const from = (day: string) => ({ from: day, to: '2026-03-10' })
  expect(finestGranularity(from('2026-02-06'), 33)).toBe('day')
  expect(finestGranularity(from('2026-02-05'), 33)).toBe('week')
  expect(finestGranularity(from('2025-01-01'), 33)).toBe('month')
  for (const day of ['2026-02-06', '2026-02-05', '2025-07-30', '2025-07-29', '2025-07-28', '2025-07-27']) {
    expect(periodsOf(from(day), finestGranularity(from(day), 33)).length).toBeLessThanOrEqual(33)
  }
})

test('amounts below a cent are said to be so, durations have one unit', () => {
  expect([0, 0.004, 0.01, 1234.5].map(formatDollars)).toEqual(['$0.00', '<$0.01', '$0.01', '$1,234.50'])
  expect([999, 34e6, 1_234].map(formatCompact)).toEqual(['999', '34.0M', '1.2K'])
  expect([1.5, 861].map(formatTimes)).toEqual(['×1.5', '×861'])
  expect([12, 90, 5400, 200_000].map(formatDuration)).toEqual(['12 s', '1.5 min', '1.5 h', '2.3 d'])
})

test('who is signed in is not kept once somebody signed in while it was asked for', () => {
  const who: WhoAmI = {
    organization: { id: 'org_1', slug: 'acme', name: 'Acme', plan: 'cloud_team', time_zone: 'UTC' },
    member: null,
    key: null,
    scopes: ['read'],
    limits: { read: 500, sync: 500 },
  }
  const by = signedBy()
  keepWho(who, by)
  expect(keptWho()).toEqual(who)
  noteSign()
  expect(keptWho()).toBeUndefined()
  keepWho(who, by)
  expect(keptWho()).toBeUndefined()
})
