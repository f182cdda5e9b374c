import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { addDays, dateOf } from '../../src/base/dates.ts'
import type { PlanPage } from '../../src/features/seats/model.ts'
import { asker, newKey } from '../support/api.ts'
import { findBrowser } from './browser.ts'
import { type Shown, show } from './shown.ts'

// The page of seats, on a phone and on a desk. Skipped on a machine without Chromium.

const program = findBrowser()
const TODAY = dateOf(new Date())
const LAST = addDays(TODAY, -1)
const FROM = addDays(LAST, -29)

let shown: Shown

beforeAll(async () => {
  if (program !== null) shown = await show(program, ['read', 'write', 'audit:write', 'admin'])
}, 180_000)
afterAll(() => shown?.close())

const address = (name: string) => `${name}@example.com`
const member = (name: string) => ({
  ...{ type: 'member', id: `user_${name}`, email: address(name), display_name: name },
  ...{ role: 'developer', joined_at: '2026-01-01T00:00:00Z' },
})
const session = (name: string, day: number, estimated_cost: number) => ({
  ...{ type: 'session', id: `sess_${name}_${day}`, project_name: 'web', source: 'claude-code' },
  ...{ created_at: `${addDays(FROM, day)}T09:00:00Z`, user_email: address(name), estimated_cost },
})
const limit = (name: string, day: number) => ({
  ...{ type: 'limit', vendor: 'anthropic', agent: 'claude-code', user_email: address(name) },
  at: `${addDays(FROM, day)}T10:00:00Z`,
  windows: [
    { limit: 'five_hour', used_percent: 100, resets_at: `${addDays(FROM, day)}T12:00:00Z`, hit: true },
  ],
})
const range = `?from=${FROM}&to=${LAST}`
const text = (selector: string) =>
  shown.page.evaluate<string>(
    `[...document.querySelectorAll('${selector}')].map((node) => node.textContent).join(' | ')`,
  )
const shoot = async (name: string) => {
  const folder = process.env.PICTURES
  if (folder) await Bun.write(`${folder}/${name}.png`, await shown.page.screenshot())
}

describe.skipIf(program === null)('the page of seats', () => {
  test('says what was used where no plan is entered, and adds the first one', async () => {
    const { page } = shown
    await shown.send([...['ada', 'bob', 'cem'].map(member), session('ada', 3, 10)])
    await page.resize(1440, 900)
    await shown.visit(`#/seats${range}`)
    expect(await text('h1')).toContain('would have cost $10.00 by API')
    await shoot('seats-empty-1440')
    for (const [name, value] of Object.entries({ plan: 'max_5x', member: address('ada'), price: '100' })) {
      await page.click(`document.querySelector('form.settings [name=${name}]')`)
      await page.type(value)
    }
    await page.evaluate(`{
      const from = document.querySelector('form.settings [name=from]')
      from.value = '2026-01-01'
      from.dispatchEvent(new Event('input', { bubbles: true }))
    }`)
    await page.click(
      `[...document.querySelectorAll('button')].find((button) => button.textContent === 'Add the plan')`,
    )
    await page.until(`document.querySelector('h1').textContent.includes('1 seat cost')`)
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('shows both totals, never their sum, and groups of seats', async () => {
    const { page } = shown
    const plan = { type: 'plan', vendor: 'anthropic', from: '2026-01-01' }
    await shown.send([
      { ...plan, plan: 'max_20x', member: address('bob'), price_month: 200 },
      { ...plan, plan: 'pro', member: address('cem'), price_month: 20 },
      ...[5, 6, 7, 8].map((day) => session('bob', day, 120)),
      ...[5, 7, 8].map((day) => limit('bob', day)),
    ])
    for (const width of [1440, 390]) {
      await page.resize(width, 844)
      await shown.visit(`#/seats${range}`)
      await page.until(`document.querySelector('.chart rect') !== null`)
      await shoot(`seats-${width}`)
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    }
    const tiles = await text('.tile')
    const amount = (of: RegExp) => Number(of.exec(tiles)?.[1])
    const [paid, cost] = [amount(/Paid\$([\d.]+)/), amount(/API-equivalent\$([\d.]+)/)]
    expect(cost).toBe(490)
    const sum = (paid + cost).toFixed(2)
    expect(await text('body')).not.toContain(sum)
    expect(tiles).toContain('Give back1 idle')
    // a row may be several seats
    expect(await text('.pager')).toContain('3 rows')
    expect(tiles).toContain('Move up1')
    expect(
      page.ownRequests().filter((url) => /\/v1\/(seats|plans|team)/.test(url)).length,
    ).toBeLessThanOrEqual(4)
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('changes a plan in one step: the one before ends the day before', async () => {
    const { page, app, acme } = shown
    await page.resize(1440, 900)
    await shown.visit(`#/seats${range}`)
    const row = `[...document.querySelectorAll('tr')].find((one) => one.cells[1]?.textContent === 'Claude Pro')`
    await page.click(`${row}?.querySelector('summary')`)
    for (const [name, value] of Object.entries({ plan: 'max_5x', price: '100' })) {
      await page.click(`${row}?.querySelector('[name=${name}]')`)
      await page.type(value)
    }
    await shoot('seats-change-1440')
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1440)
    await page.click(`${row}?.querySelector('button[type=submit]')`)
    await page.until(`[...document.querySelectorAll('table')].at(-1).tBodies[0].rows.length === 4`)
    const { body } = await asker(app, acme.key)(
      'GET',
      `/v1/plans?member=${encodeURIComponent(address('cem'))}`,
    )
    const plans = (body as unknown as PlanPage).data.map(({ plan, from, to }) => ({ plan, from, to }))
    expect(plans).toContainEqual({ plan: 'max_5x', from: TODAY, to: null })
    expect(plans).toContainEqual({ plan: 'pro', from: '2026-01-01', to: LAST })
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('says what groups cost that are larger than the page', async () => {
    const { page } = shown
    const many = Array.from({ length: 130 }, (_, n) => `many${n}`)
    const plan = { type: 'plan', vendor: 'cursor', plan: 'teams', from: '2026-01-01', price_month: 40 }
    await shown.send(many.map(member))
    await shown.send(many.map((name) => ({ ...plan, member: address(name) })))
    await shown.visit(`#/seats${range}&vendor=cursor`)
    await page.until(`document.body.textContent.includes('was paid.')`)
    const [, idle, paid] =
      /Give back(\d+) idleNo session of its vendor came in these days; \$([\d.,]+) was paid/.exec(
        await text('.tile'),
      ) ?? []
    expect(idle).toBe('130')
    expect(await text('.tile')).toContain(`Paid$${paid}for 130 seats`)
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('fills in the list price where one pays in another currency', async () => {
    const { page } = shown
    const plan = { type: 'plan', vendor: 'anthropic', plan: 'team_premium', from: '2026-01-01' }
    await shown.send([{ ...plan, price_month: 99, currency: 'EUR', usd_rate: 1.1 }])
    await shown.visit(`#/seats${range}`)
    const chosen = `[...document.querySelectorAll('option')].find(({ value }) => value === 'anthropic team_premium')`
    await page.until(`${chosen} !== undefined`)
    await page.evaluate(
      `{ const option = ${chosen}; option.selected = true; option.closest('select').dispatchEvent(new Event('change', { bubbles: true })) }`,
    )
    await page.until(`document.body.textContent.includes('you pay 99 EUR')`)
    const price = `${chosen}.closest('form').querySelector('[name=price]').value`
    expect(await page.evaluate<string>(price)).toBe('150')
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('shows to others what is their own, without prices', async () => {
    const { db, acme, page } = shown
    const key = await newKey(db.sql, acme.orgId, ['read'], address('bob'))
    expect((await asker(shown.app, key)('GET', '/v1/seats/mine')).status).toBe(200)
    await shown.visit('#/seats', key)
    await shoot('seats-own-390')
    expect(await text('h1')).toContain('Claude Max 20x')
    expect(await text('body')).not.toContain('$')
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)
})
