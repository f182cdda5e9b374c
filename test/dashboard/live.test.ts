import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { findBrowser, type Page } from './browser.ts'
import { type Shown, show } from './shown.ts'

// Pages that are open while data change. Skipped on a machine without Chromium.

const program = findBrowser()
let shown: Shown
let made = 0

async function send(count: number, more: object = {}): Promise<void> {
  const records = Array.from({ length: count }, () => ({
    type: 'session',
    id: `sess_live${made++}`,
    project_name: 'checkout',
    // the overview compares whole days: those of today are not among them
    created_at: new Date(Date.now() - 86_400_000).toISOString(),
    estimated_cost: 10,
    ...more,
  }))
  await shown.send(records)
}

beforeAll(async () => {
  if (program === null) return
  shown = await show(program, ['read', 'write'])
  await send(4)
}, 180_000)
afterAll(() => shown?.close())

async function open(fragment: string): Promise<Page> {
  const page = await shown.browser.newPage()
  await page.resize(1440, 900)
  await page.open(`${shown.server.url}/live`)
  await page.evaluate(`sessionStorage.setItem('cloud-analytics.key', ${JSON.stringify(shown.acme.key)})`)
  await page.open(`${shown.server.url}/${fragment}`)
  await page.until(
    `(document.querySelector('h1.answer')?.innerText ?? '…') !== '…' && document.querySelector('.stale') === null`,
  )
  // changes are told from the stream's beginning on
  for (;;) {
    if (page.responses.some((url) => url.endsWith('/v1/changes'))) return page
    await page.evaluate('new Promise(requestAnimationFrame)')
  }
}
const streams = (page: Page) => page.ownRequests().filter((url) => url.endsWith('/v1/changes')).length
const rows = (page: Page) => page.evaluate<number>(`document.querySelectorAll('tbody tr').length`)
/** The overview says this of 30 days. */
const cost = `/\\$\\d+\\.\\d\\d/.exec(document.querySelector('h1.answer')?.innerText)?.[0]`

const costOf = async (page: Page): Promise<string> => {
  await page.until(`${cost} !== undefined`)
  return await page.evaluate<string>(cost)
}

describe.skipIf(program === null)('a page', () => {
  test('has the figures of a change without being loaded again, and shows nothing of the wait', async () => {
    const page = await open('#/')
    await page.until(`${cost} === '$40.00'`)
    await page.evaluate(`{
      globalThis.seen = new Set()
      new MutationObserver(() => globalThis.seen.add(document.querySelector('.stale') !== null))
        .observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true })
    }`)
    await send(1)
    await page.until(`${cost} === '$50.00'`)
    expect(await page.evaluate<boolean[]>('[...globalThis.seen]')).toEqual([false])
    expect(streams(page)).toBe(1)
    expect(page.problems).toEqual([])
  }, 180_000)

  test('with a list keeps its rows and offers the new ones', async () => {
    const page = await open('#/sessions')
    const before = await rows(page)
    const { x, y } = await page.middleOf(`document.querySelectorAll('tbody tr')[2]`)
    await send(3)
    await page.until(`document.querySelector('.offer')?.innerText === '3 new sessions'`)
    expect(await rows(page)).toBe(before)
    expect(await page.middleOf(`document.querySelectorAll('tbody tr')[2]`)).toEqual({ x, y })
    await page.click(`document.querySelector('.offer')`)
    await page.until(`document.querySelector('.offer') === null`)
    expect(await rows(page)).toBe(before + 3)
    expect(page.problems).toEqual([])
  }, 180_000)

  test('that is not seen has no stream, and is current once it is', async () => {
    const first = await open('#/')
    const before = await costOf(first)
    const second = await open('#/sessions')
    await first.until('document.hidden')
    expect(await second.evaluate<boolean>('document.hidden')).toBe(false)
    await send(1)
    await second.until(`document.querySelector('.offer') !== null`)
    expect(await first.evaluate<string>(cost)).toBe(before)
    await first.front()
    await first.until(`${cost} !== ${JSON.stringify(before)}`)
    expect(first.problems).toEqual([])
  }, 180_000)

  test('keeps a filter that is being typed, with what is typed behind it later', async () => {
    const page = await open('#/cost')
    const total = `document.querySelector('h1')?.innerText`
    const before = await page.evaluate<string>(total)
    const field = `[...document.querySelectorAll('label')].find((one) => one.textContent.startsWith('Project')).querySelector('input')`
    // its suggestions load after the first letters
    await page.evaluate(`{
      const { fetch } = globalThis
      const held = new Promise((resolve) => (globalThis.release = resolve))
      globalThis.fetch = async (url, ...more) => {
        if (String(url).includes('/projects')) await held
        return await fetch(url, ...more)
      }
    }`)
    await page.evaluate(`document.querySelector('.menu.add').open = true`)
    await page.click(field)
    await page.type('che')
    await page.evaluate('release()')
    await page.until(`${field}.list.options.length > 1`)
    expect(await page.evaluate<string>(`${field}.value`)).toBe('che')
    await page.type('ck')
    await send(1)
    await page.until(`${total} !== ${JSON.stringify(before)}`)
    expect(await page.evaluate<string>(`${field}.value`)).toBe('check')
    await page.type('out')
    await page.press('Enter')
    await page.until(`location.hash.includes('project=checkout')`)
    // the page shows the filter before the reader goes back
    await page.until(`document.querySelector('.chips')?.innerText.includes('checkout')`)
    await page.evaluate('history.back()')
    await page.until(`${field}.value === ''`)
    expect(page.problems).toEqual([])
  }, 180_000)

  test('in which somebody fills in a form is not changed under their hands', async () => {
    const page = await open('#/')
    const before = await costOf(page)
    await page.evaluate(`{
      document.body.insertAdjacentHTML('beforeend', '<form id="own"><input></form>')
      document.querySelector('#own input').focus()
    }`)
    const other = await open('#/sessions')
    await page.front()
    await page.evaluate(`document.querySelector('#own input').focus()`)
    await send(1)
    await other.front()
    await other.until(`!document.hidden`)
    await page.front()
    expect(await page.evaluate<string>(cost)).toBe(before)
    await page.evaluate(`document.querySelector('#own input').blur()`)
    await page.until(`${cost} !== ${JSON.stringify(before)}`)
  }, 180_000)
})
