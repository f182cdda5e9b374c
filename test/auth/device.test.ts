import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { App } from '../../src/app.ts'
import { client, tenant, testApp } from '../support/api.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'
import { post, signedIn } from './people.ts'

// Signing a machine in by a person's approval (RFC 8628).

let db: TestDatabase
let app: App
beforeAll(async () => {
  db = await testDatabase()
  // all tries are in one minute
  app = testApp(db.sql, { windowClock: () => new Date('2026-11-15T12:00:00Z') })
})
afterAll(() => db.drop())
beforeEach(async () => {
  await db.sql`delete from sign_in_tries`
})

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
  const { orgId, slug } = await tenant(db.sql)
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
  const { orgId } = await tenant(db.sql)
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
  const { orgId } = await tenant(db.sql)
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

test('codes are guessed ten times a minute at most', async () => {
  const { orgId } = await tenant(db.sql)
  const ada = await signedIn(app, db.sql, orgId, 'ada@example.com')
  await db.sql`delete from sign_in_tries`
  const statuses = []
  for (let n = 0; n < 11; n += 1) {
    const guess = { user_code: `BBBB-BBB${'BCDFGHJKLMN'[n]}`, approve: true }
    statuses.push((await ada.send('POST', '/auth/device/approve', guess)).status)
  }
  expect(statuses).toEqual([...new Array(10).fill(404), 429])
})

test('who is no longer allowed to has no key made', async () => {
  const { orgId } = await tenant(db.sql)
  const ada = await signedIn(app, db.sql, orgId, 'ada@example.com')
  const device = await newDevice()
  await ada.send('POST', '/auth/device/approve', { user_code: device.user_code, approve: true })
  await db.sql`update members set role = 'auditor' where id = ${ada.id}`
  expect(await poll(device)).toEqual({ status: 400, body: { error: 'access_denied' } })
})
