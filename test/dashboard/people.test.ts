import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKey } from '../../src/accounts/keys/queries.ts'
import { addMonths, dayOf } from '../../src/base/dates.ts'
import { formatMonth } from '../../src/dashboard/client/format.ts'
import { type HttpServer, listen } from '../../src/http/listen.ts'
import { addPerson, invite, PASSWORD, post } from '../features/sign-in/people.ts'
import { client, jsonPost, newKey, newOrg, testApp } from '../support/api.ts'
import { eventually } from '../support/cli.ts'
import { silent, type TestDatabase, testDatabase } from '../support/postgres.ts'
import { sessionRecord } from '../support/records.ts'
import { type Browser, findBrowser, type Page, startBrowser } from './browser.ts'

// An owner's first sign-in and the settings, in Chromium, by what is shown and clicked. Skipped on a machine without it.

const program = findBrowser()
const AXE = readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8')

let db: TestDatabase
let app: ReturnType<typeof testApp>
let server: HttpServer
let browser: Browser
let page: Page
let orgId: string
let ownerId: string

beforeAll(async () => {
  if (program === null) return
  db = await testDatabase()
  app = testApp(db.sql, { writes: db.pool(2) })
  server = listen(app, { host: '127.0.0.1', port: 0 }, silent)
  browser = await startBrowser(program)
  page = await browser.newPage()
  ;({ orgId } = await newOrg(db.sql, { plan: 'cloud_team' }))
  ;({ id: ownerId } = await addPerson(db.sql, orgId, 'ada@example.com', 'owner'))
})
afterAll(async () => {
  if (program === null) return
  await browser.close()
  await server.stop()
  await db.drop()
})

const quoted = JSON.stringify
/** Types into the field with this label. */
const type = (label: string, text: string) =>
  page.evaluate(`{
    const label = [...document.querySelectorAll('label')].find((one) => one.innerText.startsWith(${quoted(label)}))
    const field = label.querySelector('input, select') ?? document.getElementById(label.htmlFor)
    field.value = ${quoted(text)}
    field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }))
  }`)
/** Clicks what has this text: a button, a link or the label of a checkbox. */
const click = async (text: string) => {
  const found = `[...document.querySelectorAll('button, a, label.check')].filter((one) => one.innerText.trim().startsWith(${quoted(text)}))[0]`
  await page.until(`${found} !== undefined`)
  await page.evaluate(`${found}.click()`)
}
// a page that has begun to load has no body yet
const sees = (text: string) => page.until(`document.body?.innerText.includes(${quoted(text)}) === true`)
const checkAxe = async () => {
  // a value is paler while it is loaded again
  await page.until(`document.querySelector('.stale') === null`)
  await page.evaluate(AXE)
  const violations = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    "axe.run({ resultTypes: ['violations'], preload: false }).then(({ violations }) => violations)",
  )
  expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([])
}
const settings = async (section: string) => {
  await page.evaluate(`location.hash = '#/settings/${section}'`)
  await page.until(`document.querySelector('nav.sections [aria-current]')?.href.endsWith('/${section}')`)
}

/** Red, green and blue of the first badge as it is shown, at its end. */
const COLOR = `[...document.querySelectorAll('.preview img')].slice(0, 1).flatMap((image) => {
  if (!image.complete || image.naturalWidth === 0) return []
  const canvas = document.createElement('canvas')
  Object.assign(canvas, { width: image.naturalWidth, height: image.naturalHeight })
  const context = canvas.getContext('2d')
  context.drawImage(image, 0, 0)
  return [...context.getImageData(canvas.width - 4, 10, 1, 1).data]
})`

describe.skipIf(program === null)('an owner in Chromium', () => {
  test('accepts the invitation, signs out and in', async () => {
    await page.open(`${server.url}/accept#token=old`)
    await page.until(`document.querySelector('form') !== null`)
    await type('Password', PASSWORD)
    await type('The same again', PASSWORD)
    await click('Set the password')
    await sees('The invitation is not valid')
    // a second link in the same tab, which loads nothing
    await page.evaluate(`location.hash = 'token=${await invite(db.sql, orgId, ownerId)}'`)
    await page.until(`!document.body.innerText.includes('The invitation is not valid')`)
    await checkAxe()
    await type('Password', PASSWORD)
    await type('The same again', `${PASSWORD}x`)
    await click('Set the password')
    await sees('The two passwords differ')
    await type('The same again', PASSWORD)
    await click('Set the password')
    await page.until(`document.querySelector('header nav') !== null`)
    expect(await page.evaluate<string>('location.pathname')).toBe('/')
    await page.evaluate(`document.querySelector('details.account').open = true`)
    await click('Sign out')
    await page.until(`document.querySelector('input[name=email]') !== null`)
    await checkAxe()
    await type('E-mail', 'ada@example.com')
    await type('Password', 'not the password')
    await click('Sign in')
    await sees('The address or the password is wrong')
    await type('Password', PASSWORD)
    await click('Sign in')
    await page.until(`document.querySelector('header nav') !== null`)
    // another tab is signed in too
    const tab = await browser.newPage()
    await tab.open(`${server.url}/#/settings`)
    await tab.until(`document.querySelector('nav.sections') !== null`)
    page.problems.splice(0)
  }, 180_000)

  test('opens a link with a key in an own tab, and a second one', async () => {
    const tab = await browser.newPage()
    for (const name of ['first', 'second']) {
      const { key } = await createKey(db.sql, orgId, { name, scopes: ['read'] })
      await tab.open(`${server.url}/#key=${key}`)
      await tab.until(`document.querySelector('header nav') !== null && location.href === '${server.url}/'`)
      const { key: used } = await tab.evaluate<{ key: { name: string } }>(
        `fetch('/v1/whoami', { headers: { authorization: 'Bearer ' + sessionStorage['cloud-analytics.key'] } }).then((r) => r.json())`,
      )
      expect(used.name).toBe(name)
    }
    expect(tab.problems).toEqual([])
  }, 180_000)

  test('dismisses a finding with a note, and opens it again', async () => {
    const key = await newKey(db.sql, orgId, ['sessions:write'])
    const finding = { rule_id: 'aws-access-key', category: 'secret', severity: 'critical', title: 'AWS key' }
    const session = sessionRecord('sess_found', {
      project_name: 'checkout',
      created_at: new Date().toISOString(),
      quality_score: 10,
      security_metadata: { findings: [{ ...finding, file: 'src/deploy.ts', fingerprint: 'f1' }] },
    })
    const stored = await client(app, key)('/v1/sync', jsonPost({ records: [session] }))
    expect(stored.status).toBe(200)
    await page.open('about:blank')
    await page.open(`${server.url}/#/`)
    await click('Look at it')
    await sees('src/deploy.ts')
    await checkAxe()
    await click('Decide')
    await type('Why', 'a key of the examples')
    await type('Who has it', 'ada@example.com')
    await checkAxe()
    await click('Dismiss')
    await sees('No findings match')
    await page.evaluate(`location.hash = '#/security?status=dismissed'`)
    await sees('a key of the examples')
    await sees('1 finding is dismissed. No critical finding is open')
    await click('Open again')
    await sees('No findings match')
    await page.evaluate(`location.hash = '#/security'`)
    await sees('1 critical finding is open, in 1 file, the oldest 0 days')
    await click('Decide')
    await click('Fixed')
    await sees('No critical finding is open')
  }, 180_000)

  test('makes a key, which works, and revokes it', async () => {
    await settings('keys')
    await checkAxe()
    await type('What it is for', 'ci')
    await click('read everything')
    await click('Make the key')
    await sees('shown only now')
    const key = await page.evaluate<string>(`document.querySelector('.copied code').innerText`)
    const ask = client(testApp(db.sql), key)
    expect((await ask('/v1/sessions')).status).toBe(200)
    await sees('ci ')
    await click('Revoke')
    await click('Revoke it for ever?')
    await sees('revoked 20')
    expect((await client(testApp(db.sql), key)('/v1/sessions')).status).toBe(401)
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('adds and invites a member, whose role changes', async () => {
    await settings('members')
    await type('E-mail', 'bob@example.com')
    await type('Name', 'Bob')
    await click('Add and make a link')
    await sees('Send this link to Bob')
    const link = await page.evaluate<string>(`document.querySelector('.copied code').innerText`)
    expect(link).toStartWith(`${server.url}/accept#token=`)
    const token = link.split('=')[1]
    expect((await post(app, '/auth/accept', { token, password: PASSWORD })).status).toBe(204)
    await checkAxe()
    await page.evaluate(`{
      const row = [...document.querySelectorAll('tr')].find((one) => one.innerText.includes('bob@example.com'))
      const choice = row.querySelector('select')
      choice.value = 'auditor'
      choice.dispatchEvent(new Event('change', { bubbles: true }))
    }`)
    await sees('Saved')
    const [bob] = await db.sql<{ role: string }[]>`select role from members where email = 'bob@example.com'`
    expect(bob?.role).toBe('auditor')
    await page.evaluate(`{
      const row = [...document.querySelectorAll('tr')].find((one) => one.innerText.includes('bob@example.com'))
      const team = row.querySelector('input')
      team.value = 'payments'
      team.dispatchEvent(new Event('change', { bubbles: true }))
    }`)
    await eventually(
      () => db.sql<{ team: string }[]>`select team from members where email = 'bob@example.com'`,
      ([row]) => row?.team === 'payments',
    )
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  const lastMonth = addMonths(dayOf(new Date(), 'UTC'), -1).slice(0, 7)
  test('sets a budget, colours a badge and renames the organization', async () => {
    await page.evaluate(`location.hash = '#/settings/budget'`)
    await page.until(`location.hash === '#/budgets'`)
    await sees('New limit')
    await type('US dollars a month', '2500')
    await click('Set the limit')
    await sees('$2,500.00')
    await type('Of', 'team')
    await type('Its name', 'payments')
    await type('US dollars a month', '300')
    await click('Set the limit')
    await sees('team payments')
    await sees('None of 2 budgets is exceeded')
    await type('Month', lastMonth)
    await sees(`No budget held in ${formatMonth(`${lastMonth}-01`)}`)
    await checkAxe()
    await settings('badges')
    await sees('Label of cost')
    await type('Who sees them', 'public')
    await type('Color of good', 'blue')
    await click('Save')
    // the form of what was saved
    await page.until(`document.querySelector('input[name="colors good"]')?.defaultValue === 'blue'`)
    // red once the changed look has come: who sees badges decides whether it was grey
    await page.until(`(([red, green]) => red > 150 && green < 120)(${COLOR})`)
    await type('Color of bad', 'blue')
    await click('Save')
    await page.until(`(([red, , blue]) => red < 100 && blue > 150)(${COLOR})`)
    await checkAxe()
    await settings('organization')
    await sees('Who sees whom')
    await type('Name', 'Acme Inc')
    await type('Time zone of its days, weeks and months', 'Europe/Berlin')
    await click('Save')
    await sees('Days will be those of Europe/Berlin')
    await checkAxe()
    await settings('telemetry')
    await type('Agent', 'codex')
    await click('Make a key with its settings')
    await sees('~/.codex/config.toml')
    await sees('/otlp/v1/logs')
    await checkAxe()
    await settings('sign-in')
    await sees('not configured')
    await checkAxe()
    const [row] = await db.sql<{ name: string; look: object; badges_public: boolean }[]>`
      select name, badge_look as look, badges_public from organizations where org_id = ${orgId}`
    expect(row).toMatchObject({
      name: 'Acme Inc',
      look: { colors: ['blue', 'yellow', 'blue'] },
      badges_public: true,
    })
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('approves a machine, and refuses one where FormData takes no button', async () => {
    const askFor = async (name: string) => {
      const device = (await (await post(app, '/auth/device', { name })).json()) as Record<string, string>
      // the second link changes the fragment only
      await page.evaluate(`{ location.href = '/device#code=${device.user_code}' }`)
      await sees(`${name}, from `)
      expect(await page.evaluate<string>(`document.querySelector('main').innerText`)).not.toContain(
        'Approved',
      )
      return () => post(app, '/auth/device/token', { device_code: device.device_code })
    }
    const laptop = await askFor('laptop')
    await checkAxe()
    await click('Approve')
    await sees('Approved')
    expect((await laptop()).status).toBe(200)
    const stranger = await askFor('stranger')
    await page.evaluate(`{
      globalThis.FormData = class extends FormData {
        constructor(form) {
          super(form)
        }
      }
    }`)
    await click('Refuse')
    await sees('Refused.')
    expect(await (await stranger()).json()).toEqual({ error: 'access_denied' })
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('returns to the page from which an identity provider signed in', async () => {
    await page.open(`${server.url}/live`)
    await page.evaluate(`sessionStorage.setItem('place-before-sign-in', ${quoted(`${server.url}/#/cost`)})`)
    await page.open(`${server.url}/`)
    await page.until(`document.querySelector('h1')?.innerText.includes(' cost ')`)
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)

  test('signs in over http, and reads there that the browser does not copy', async () => {
    await page.open(`http://dashboard.test:${new URL(server.url).port}/#/settings/telemetry`)
    expect(await page.evaluate<boolean>('isSecureContext')).toBe(false)
    await page.until(`document.querySelector('input[name=email]') !== null`)
    page.problems.splice(0)
    await type('E-mail', 'ada@example.com')
    await type('Password', PASSWORD)
    await click('Sign in')
    await click('Make a key with its settings')
    await click('Copy')
    await sees('The browser does not allow it: select the text')
    expect(page.problems.splice(0)).toEqual([])
  }, 180_000)
})
