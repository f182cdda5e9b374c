import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { client, jsonPost } from '../support/api.ts'
import { memberRecord, sessionRecord } from '../support/records.ts'
import { findBrowser, type Page } from './browser.ts'
import { quoted, type Shown, show } from './shown.ts'

// A manager, a security lead, a developer, an operator and an admin do their jobs in Chromium by mouse, by touch at 390 px and by
// the keyboard alone, from the overview on, with at most 5 clicks (or keys that act as one). Skipped on a machine without it.

const program = findBrowser()
const MAX_CLICKS = 5
const DAY_MS = 86_400_000

let shown: Shown
let page: Page
let mode: 'mouse' | 'touch' | 'keyboard'
let clicks = 0

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()
const sessionOf = (
  id: string,
  days: number,
  user_email: string,
  project_name: string,
  estimated_cost: number,
) =>
  sessionRecord(`sess_${id}`, {
    project_name,
    created_at: daysAgo(days),
    user_email,
    model: 'claude-opus-4-5',
    source: 'claude-code',
    branch: 'main',
    estimated_cost,
  })
const finding = {
  rule_id: 'aws-access-key',
  category: 'secret',
  severity: 'critical',
  title: 'AWS access key',
}

beforeAll(async () => {
  if (program === null) return
  shown = await show(program, ['read', 'write', 'webhooks', 'admin'])
  page = shown.page
  const post = async (path: string, body: unknown) => {
    const response = await client(shown.app, shown.acme.key)(path, jsonPost(body))
    expect([path, response.status, await response.clone().text()]).toEqual([
      path,
      expect.any(Number),
      expect.any(String),
    ])
    return (await response.json()) as { id: string }
  }
  const member = (name: string) => memberRecord(name, { display_name: name, joined_at: daysAgo(90) })
  await post('/v1/sync', {
    records: [
      member('ada'),
      member('bob'),
      { type: 'budget', month: new Date().toISOString().slice(0, 7), limit: 5 },
      ...[8, 9, 10].map((days) => sessionOf(`early${days}`, days, 'ada@example.com', 'search', 1)),
      ...[0, 1, 2].map((days) => sessionOf(`late${days}`, days, 'ada@example.com', 'checkout', 20)),
      ...[1, 9].map((days) => sessionOf(`steady${days}`, days, 'bob@example.com', 'search', 1)),
      ...['mouse', 'touch', 'keyboard'].map((name) => ({
        ...sessionOf(`found-${name}`, 3, 'bob@example.com', 'search', 1),
        security_metadata: { findings: [{ ...finding, file: 'src/deploy.ts', fingerprint: name }] },
      })),
    ],
  })
  const endpoint = { url: 'https://receiver.invalid/hook', events: ['compliance.report_ready'] }
  const { id } = await post('/v1/webhooks', endpoint)
  await post(`/v1/webhooks/${id}/test`, {})
}, 180_000)
afterAll(() => shown?.close())

const WHAT = 'a, button, summary, label, input, select'
/** The element with this text or label that is shown, in `main` before the header. */
const found = (text: string) =>
  `[...document.querySelectorAll('main, header')].reverse().flatMap((part) => [...part.querySelectorAll('${WHAT}')])
     .map((one) => one.querySelector('[type=checkbox]') ?? one)
     .filter((one) => one.checkVisibility() && ((one.innerText || one.labels?.[0]?.innerText || '').trim().startsWith(${quoted(text)}) || one.ariaLabel?.startsWith(${quoted(text)})))[0]`

/** Goes to what has this text, and clicks it or presses Enter. */
async function use(text: string): Promise<void> {
  clicks += 1
  await page.until(`${found(text)} !== undefined && document.querySelector('.stale') === null &&
    ![...document.querySelectorAll('[role=status]')].some((one) => one.textContent.startsWith('Loading'))`)
  if (mode !== 'keyboard') return await page.click(found(text), mode)
  for (
    let tabs = 0;
    !(await page.evaluate<boolean>(`document.activeElement === ${found(text)}`));
    tabs += 1
  ) {
    if (tabs > 120) throw new Error(`the Tab key does not reach ${text}`)
    await page.press('Tab')
  }
  await page.press((await page.evaluate<boolean>(`${found(text)}.type === 'checkbox'`)) ? ' ' : 'Enter')
}
/** Shows all of the first row, of which a narrow window has two lines. */
const open = async () => {
  if (mode === 'touch') await use('All of this row')
}
/** Writes into the field with this label, which the Tab key would reach. */
async function fill(label: string, text: string): Promise<void> {
  const field = `[...document.querySelectorAll('label')].find((one) => one.innerText.startsWith(${quoted(label)}))?.querySelector('input')`
  await page.until(`${field} != null`)
  await page.evaluate(`{
    const field = ${field}
    field.focus()
    field.select()
  }`)
  await page.type(text)
}
const sees = (text: string) =>
  page.until(`document.querySelector('main').innerText.includes(${quoted(text)})`)

describe.skipIf(program === null).each(['mouse', 'touch', 'keyboard'] as const)('by %s', (name) => {
  const begin = async () => {
    mode = name
    clicks = 0
    await page.resize(name === 'touch' ? 390 : 1440, 900)
    await page.open(`${shown.server.url}/live`)
    await page.evaluate(`sessionStorage.setItem('cloud-analytics.key', ${quoted(shown.acme.key)})`)
    await page.open(`${shown.server.url}/`)
    await page.until(`document.querySelector('.tile') !== null`)
  }
  afterEach(() => {
    expect(clicks).toBeLessThanOrEqual(MAX_CLICKS)
    expect(page.problems.splice(0)).toEqual([])
  })

  test('a manager sees whether the budget holds, and what drove the rise of the last 7 days', async () => {
    await begin()
    await sees('above its budget of $5.00.')
    await use('Cost')
    await page.until(`location.hash.startsWith('#/cost')`)
    await use('Last 30 whole days')
    await use('Last 7 whole days')
    await sees('more than from')
    await sees('checkout')
    await page.until(
      `document.querySelector('section[aria-label="Cost by project"] tbody td').innerText.includes('checkout')`,
    )
    await use('checkout')
    await page.until(
      `document.querySelector('section[aria-label="Cost by member"] tbody td')?.innerText.includes('ada')`,
    )
    await sees('+$')
  }, 180_000)

  test('a security lead dismisses a new finding', async () => {
    await begin()
    await use('Look at it')
    await sees('src/deploy.ts')
    await open()
    await use('Decide')
    await page.until(`document.activeElement.tagName === 'INPUT'`)
    await page.type('a key of the examples')
    const rows = `document.querySelectorAll('section[aria-label="Findings"] tbody tr').length`
    const before = await page.evaluate<number>(rows)
    await use('Dismiss')
    await page.until(`${rows} === ${before - 1}`)
  }, 180_000)

  test('a developer sees their cost, and why a session has its score', async () => {
    await begin()
    await use('Team')
    await use('ada')
    await page.until(`location.hash.startsWith('#/team/user_')`)
    await page.until(`document.querySelector('section[aria-label="Newest sessions"] tbody') !== null`)
    // the table of the chart adds up to what Ada's sessions cost
    await page.until(
      `[...document.querySelectorAll('.chart tbody tr')].reduce((sum, row) => sum + Number(row.cells[1].textContent.slice(1)), 0) === 63`,
    )
    await use('20')
    await sees('What would raise it most: ')
  }, 180_000)

  test('an operator sees which receiver fails and why, sends again, and retries all', async () => {
    await begin()
    await sees('receiver.invalid failed')
    await use('See why')
    await sees('webhook.test')
    await use('dlv_')
    await page.until(`document.querySelector('section[aria-label="Attempts"] tbody .bad') !== null`)
    await use('Redeliver')
    await sees('It is sent again')
    await use('Retry all that wait')
    await sees('for a retry')
  }, 180_000)

  test.each([
    [
      'makes a key and revokes it',
      async () => {
        await fill('What it is for', `ci ${name}`)
        await use('read sessions')
        await use('Make the key')
        await sees('shown only now')
        const key = await page.evaluate<string>(`document.querySelector('.copied code').innerText`)
        expect(
          (await fetch(`${shown.server.url}/v1/sessions`, { headers: { authorization: `Bearer ${key}` } }))
            .status,
        ).toBe(200)
        expect(clicks).toBeLessThanOrEqual(MAX_CLICKS)
        clicks = 0
        await open()
        await use('Revoke')
        await use('Revoke it for ever?')
        await sees('Revoked')
      },
    ],
    [
      'invites a member',
      async () => {
        await use('Members')
        await fill('E-mail', `carol.${name}@example.com`)
        await fill('Name', 'Carol')
        await use('Add and make a link')
        await sees('Send this link to Carol')
      },
    ],
    [
      'sets the budget',
      async () => {
        await use('Cost')
        await use('Budgets')
        await fill('US dollars a month', '5')
        await use('Set the limit')
        await sees('$5.00')
      },
    ],
    [
      'colours a badge',
      async () => {
        await use('Badges')
        await fill('Color of good', 'blue')
        await use('Save')
        await sees('Saved')
      },
    ],
  ] as const)(
    'an admin %s',
    async (_, work) => {
      await begin()
      await use(shown.acme.slug)
      await use('Settings')
      await page.until(`document.querySelector('nav.sections') !== null`)
      await work()
    },
    180_000,
  )
})
