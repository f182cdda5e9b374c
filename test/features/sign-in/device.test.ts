import { beforeEach, expect, test } from 'bun:test'
import type { App } from '../../../src/server/app.ts'
import { client, newOrg, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { browser, post, signedIn } from './people.ts'

// Signing a machine in by a person's approval (RFC 8628).

const db = await testsDatabase()
let app: App
/** All tries are in one minute. */
const instance = (config = {}) =>
  testApp(db.sql, { windowClock: () => new Date('2026-11-15T12:00:00Z'), config })
beforeEach(async () => {
  app = instance()
  await db.sql`delete from sign_in_tries`
})

const APPROVE = '/auth/device/approve'
type Device = { device_code: string; user_code: string; verification_uri: string }
const ask = async (path: string, body: unknown) => {
  const answer = await post(app, path, body)
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}
const newDevice = async (name = 'adas-laptop') =>
  (await ask('/auth/device', { name })).body as unknown as Device
const poll = ({ device_code }: Device) => ask('/auth/device/token', { device_code })
/** Moves the machine's last question back, so that it has waited. */
const waited = () => db.sql`update device_requests set asked_at = now() - interval '1 minute'`

test('a machine gets a key that is bound to who approves it, once', async () => {
  const { orgId, slug } = await newOrg(db.sql)
  const ada = await signedIn(app, db.sql, orgId, 'ada@example.com')
  const device = await newDevice()
  expect(device).toEqual({
    device_code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
    verification_uri: 'http://127.0.0.1:8080/device',
    verification_uri_complete: `http://127.0.0.1:8080/device#code=${device.user_code}`,
    expires_in: 600,
    interval: 5,
  } as never)
  expect(await poll(device)).toEqual({ status: 400, body: { error: 'authorization_pending' } })
  expect(await poll(device)).toEqual({ status: 400, body: { error: 'slow_down' } })
  await waited()
  expect(await poll(device)).toEqual({ status: 400, body: { error: 'authorization_pending' } })
  const approved = await ada.send('POST', '/auth/device/approve', {
    user_code: device.user_code.toLowerCase().replace('-', ' '),
    approve: true,
  })
  expect(approved.status).toBe(204)
  const { status, body } = await poll(device)
  expect({ status, body: { ...body, key: '' } as unknown }).toEqual({
    status: 200,
    body: {
      key: '',
      organization: { id: orgId, slug, name: slug },
      member: { id: ada.id, email: 'ada@example.com' },
    },
  })
  expect(await poll(device)).toEqual({ status: 400, body: { error: 'expired_token' } })
  const who = (await (await client(app, String(body.key))('/v1/whoami')).json()) as Record<string, unknown>
  expect(who).toMatchObject({
    key: {
      name: 'adas-laptop',
      scopes: ['sessions:write', 'commits:write', 'sessions:read', 'cost:read'],
      member: { email: 'ada@example.com' },
    },
    member: { id: ada.id },
  })
})

test('a machine that is refused, unknown or too late gets none', async () => {
  const { orgId } = await newOrg(db.sql)
  const ada = await signedIn(app, db.sql, orgId, 'ada@example.com')
  const refused = await newDevice()
  const no = { user_code: refused.user_code, approve: false }
  expect((await ada.send('POST', '/auth/device/approve', no)).status).toBe(204)
  expect(await poll(refused)).toEqual({ status: 400, body: { error: 'access_denied' } })
  expect((await ada.send('POST', '/auth/device/approve', { ...no, approve: true })).status).toBe(404)
  const late = await newDevice()
  await db.sql`update device_requests set expires_at = now()`
  expect((await ada.send('POST', '/auth/device/approve', { ...no, user_code: late.user_code })).status).toBe(
    404,
  )
  expect(await poll(late)).toEqual({ status: 400, body: { error: 'expired_token' } })
  expect(await ask('/auth/device/token', { device_code: 'x' })).toEqual({
    status: 400,
    body: { error: 'expired_token' },
  })
})

test('only a signed-in person approves, by a page of this server, and no auditor', async () => {
  const { orgId } = await newOrg(db.sql)
  const ada = await signedIn(app, db.sql, orgId, 'ada@example.com')
  const otto = await signedIn(app, db.sql, orgId, 'otto@example.com', 'auditor')
  const { user_code } = await newDevice()
  const yes = { user_code, approve: true }
  expect((await post(app, '/auth/device/approve', yes)).status).toBe(401)
  expect((await ada.send('POST', '/auth/device/approve', yes, { 'x-csrf-token': otto.csrf })).status).toBe(
    403,
  )
  expect((await otto.send('POST', '/auth/device/approve', yes)).status).toBe(403)
  expect((await ada.send('POST', '/auth/device/approve', yes)).status).toBe(204)
})

test('codes are tried ten times a minute at most, looks and right ones among them, by all instances', async () => {
  const { orgId } = await newOrg(db.sql)
  const ada = await signedIn(app, db.sql, orgId, 'ada@example.com')
  const [there, { user_code }, last] = [
    await browser(instance(), ada.cookie),
    await newDevice(),
    await newDevice(),
  ]
  await db.sql`delete from sign_in_tries`
  const statuses = []
  for (let n = 0; n < 9; n += 1) {
    const code = `BBBB-BBB${'BCDFGHJKLMN'[n]}`
    const page = n % 2 === 0 ? ada : there
    const guess = { user_code: code, approve: true }
    const answer =
      n % 3 === 0 ? page.get(`/auth/device?user_code=${code}`) : page.send('POST', APPROVE, guess)
    statuses.push((await answer).status)
  }
  statuses.push((await ada.send('POST', APPROVE, { user_code, approve: true })).status)
  for (const page of [ada, there]) {
    const refused = await page.send('POST', APPROVE, { user_code: last.user_code, approve: true })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    statuses.push(refused.status, (await page.get(`/auth/device?user_code=${last.user_code}`)).status)
  }
  expect(statuses).toEqual([...new Array(9).fill(404), 204, 429, 429, 429, 429])
})

test('a machine is shown by its name, address and time to who is signed in', async () => {
  const { orgId } = await newOrg(db.sql)
  const behind = instance({ trustProxy: 1 })
  const ada = await signedIn(behind, db.sql, orgId, 'ada@example.com')
  const asked = await post(
    behind,
    '/auth/device',
    { name: 'adas-laptop' },
    { 'x-forwarded-for': '192.0.2.7' },
  )
  const { user_code } = (await asked.json()) as Device
  const path = `/auth/device?user_code=${user_code.toLowerCase()}`
  const shown = await ada.get(path)
  expect([shown.status, shown.headers.get('cache-control')]).toEqual([200, 'no-store'])
  const { requested_at, ...rest } = (await shown.json()) as Record<string, string>
  expect(rest).toEqual({ name: 'adas-laptop', ip_address: '192.0.2.7' })
  expect(Math.abs(Date.parse(requested_at ?? '') - Date.now())).toBeLessThan(60_000)
  expect((await behind.handle(new Request(`http://localhost${path}`))).status).toBe(401)
  expect((await ada.get('/auth/device')).status).toBe(404)
})

test('approvals and refusals are audited, and the key with the address of who approved', async () => {
  const { orgId } = await newOrg(db.sql)
  const behind = instance({ trustProxy: 1 })
  const ada = await signedIn(behind, db.sql, orgId, 'ada@example.com')
  const [yes, no] = [await newDevice('yes'), await newDevice('no')]
  for (const [{ user_code }, approve] of [
    [yes, true],
    [no, false],
  ] as const) {
    const from = { 'x-forwarded-for': '198.51.100.4' }
    expect((await ada.send('POST', APPROVE, { user_code, approve }, from)).status).toBe(204)
  }
  expect((await poll(no)).body).toEqual({ error: 'access_denied' })
  expect((await poll(yes)).status).toBe(200)
  const log = await db.sql<{ action: string; user_id: string; ip_address: string; details: object }[]>`
    select l.action, l.user_id, l.ip_address, l.details
    from audit_log l
    where l.org_id = ${orgId}
      and l.ip_address is not null
    order by l.created_at`
  const by = { user_id: ada.id, ip_address: '198.51.100.4' }
  expect([...log]).toEqual([
    { action: 'device.approved', details: { name: 'yes' }, ...by },
    { action: 'device.refused', details: { name: 'no' }, ...by },
    { action: 'api_key.created', details: expect.objectContaining({ name: 'yes' }), ...by },
  ])
})

test('a machine that many ask for at once gets one key', async () => {
  const { orgId } = await newOrg(db.sql)
  const ada = await signedIn(app, db.sql, orgId, 'ada@example.com')
  const device = await newDevice()
  await ada.send('POST', APPROVE, { user_code: device.user_code, approve: true })
  const answers = await Promise.all(Array.from({ length: 8 }, () => poll(device)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...new Array(7).fill(400)])
  expect(
    await db.sql`select 1 from api_keys k where k.org_id = ${orgId} and k.member_email = 'ada@example.com'`,
  ).toHaveLength(1)
})

test('who is no longer allowed to has no key made', async () => {
  const { orgId } = await newOrg(db.sql)
  const ada = await signedIn(app, db.sql, orgId, 'ada@example.com')
  const device = await newDevice()
  await ada.send('POST', '/auth/device/approve', { user_code: device.user_code, approve: true })
  await db.sql`update members set role = 'auditor' where id = ${ada.id}`
  expect(await poll(device)).toEqual({ status: 400, body: { error: 'access_denied' } })
})
