import { beforeEach, describe, expect, test } from 'bun:test'
import { createKey } from '../../../src/accounts/keys/queries.ts'
import { deleteEnded } from '../../../src/accounts/people/sign-in-queries.ts'
import { createLog } from '../../../src/base/log.ts'
import { findMember } from '../../../src/features/members/member-queries.ts'
import type { App } from '../../../src/server/app.ts'
import { newOrg, PLENTY, testApp } from '../../support/api.ts'
import { eventually } from '../../support/cli.ts'
import { holdOrganization, testsDatabase } from '../../support/postgres.ts'
import { addPerson, browser, cookieOf, invite, PASSWORD, post, signedIn } from './people.ts'

// Signing in by password and out, sessions of the browser, and what an attacker would try.

/** All tries are in one minute. */
const MINUTE = new Date('2026-11-15T12:00:00Z')
const db = await testsDatabase()
let app: App
/** Each instance looks a session up anew when its memory is a second old; these look at once. */
let nowMs = 0
const instance = (config = {}) =>
  testApp(db.sql, {
    keyClock: () => nowMs,
    windowClock: () => MINUTE,
    config: { rateLimits: PLENTY, ...config },
  })

beforeEach(async () => {
  app = instance()
  await db.sql`delete from sign_in_tries`
})

const bodyOf = async (response: Response) => (await response.json()) as Record<string, unknown>
const entries = async (orgId: string) =>
  (
    await db.sql<{ action: string }[]>`
      select l.action from audit_log l where l.org_id = ${orgId} order by l.created_at`
  ).map(({ action }) => action)

describe('an invitation', () => {
  test('is accepted once, sets the password and signs in', async () => {
    const { orgId, slug } = await newOrg(db.sql)
    const { id } = await addPerson(db.sql, orgId, 'ada@example.com', 'admin')
    const token = await invite(db.sql, orgId, id)
    for (const password of ['too short', 'x'.repeat(257)]) {
      expect((await post(app, '/auth/accept', { token, password })).status).toBe(400)
    }
    const accepted = await post(app, '/auth/accept', { token, password: PASSWORD })
    expect([accepted.status, await accepted.text()]).toEqual([204, ''])
    expect(accepted.headers.get('set-cookie')).toMatch(
      /^ca_session=[A-Za-z0-9_-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    const again = await post(app, '/auth/accept', { token, password: PASSWORD })
    expect([again.status, (await bodyOf(again)).code]).toEqual([401, 'UNAUTHORIZED'])
    const page = await browser(app, cookieOf(accepted))
    expect(await bodyOf(await page.get('/v1/whoami'))).toMatchObject({
      organization: { slug },
      key: null,
      member: { id, email: 'ada@example.com', role: 'admin' },
      scopes: ['read', 'write', 'audit:write', 'webhooks', 'admin'],
      csrf_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    })
    expect(await entries(orgId)).toEqual([
      'organization.created',
      'api_key.created',
      'member.created',
      'member.invited',
      'invitation.accepted',
      'member.signed_in',
    ])
  })

  test('is replaced by a new one, ends after 7 days, and ends the sessions before it', async () => {
    const { orgId } = await newOrg(db.sql)
    const ada = await signedIn(app, db.sql, orgId, 'ada@example.com')
    const [old, newer] = [await invite(db.sql, orgId, ada.id), await invite(db.sql, orgId, ada.id)]
    expect((await post(app, '/auth/accept', { token: old, password: PASSWORD })).status).toBe(401)
    expect((await post(app, '/auth/accept', { token: newer, password: `${PASSWORD} 2` })).status).toBe(204)
    nowMs += 1_000
    expect((await ada.get('/v1/whoami')).status).toBe(401)
    const late = await invite(db.sql, orgId, ada.id)
    await db.sql`update invitations set expires_at = now() where member_id = ${ada.id}`
    expect((await post(app, '/auth/accept', { token: late, password: PASSWORD })).status).toBe(401)
  })
})

describe('a password', () => {
  test('signs in, in one organization; wrong ones, unknown people and organizations are answered alike', async () => {
    const { orgId, slug } = await newOrg(db.sql)
    await signedIn(app, db.sql, orgId, 'Bob@Example.com')
    const right = await post(app, '/auth/password', { email: 'BOB@example.com', password: PASSWORD })
    expect([right.status, await right.text()]).toEqual([204, ''])
    expect((await (await browser(app, cookieOf(right))).get('/v1/sessions')).status).toBe(200)
    const answers = []
    for (const wrong of [
      { email: 'bob@example.com', password: 'not the password' },
      { email: 'nobody@example.com', password: PASSWORD },
      { email: 'bob@example.com', password: PASSWORD, organization: 'another' },
      { email: 'bob@example.com ', password: PASSWORD, organization: slug },
    ]) {
      const answer = await post(app, '/auth/password', wrong)
      expect(answer.headers.get('set-cookie')).toBeNull()
      const { request_id, ...body } = await bodyOf(answer)
      answers.push([answer.status, body])
    }
    expect(answers[0]?.[0]).toBe(401)
    for (const answer of answers) expect(answer).toEqual(answers[0] ?? [])
    expect((await entries(orgId)).filter((action) => action === 'member.sign_in_failed')).toHaveLength(1)
  })

  test('that is wrong is answered a second after it was sent, also while the organizations write', async () => {
    const [one, two] = [await newOrg(db.sql), await newOrg(db.sql)]
    const app = testApp(db.sql)
    for (const { orgId } of [one, two]) await signedIn(app, db.sql, orgId, 'busy@example.com')
    const refuse = async (email: string) => {
      const start = performance.now()
      const { status } = await post(app, '/auth/password', { email, password: 'wrong password here' })
      expect([email, status]).toEqual([email, 401])
      expect(performance.now() - start).toBeGreaterThanOrEqual(999)
    }
    const release = await Promise.all([one, two].map(({ orgId }) => holdOrganization(db.sql, orgId)))
    await Promise.all([refuse('busy@example.com'), refuse('nobody@example.com')])
    await Promise.all(release.map((end) => end()))
    for (const { orgId } of [one, two])
      await eventually(
        () => entries(orgId),
        (actions) => actions.includes('member.sign_in_failed'),
      )
  })

  test('belongs to an address in ASCII lower case: the Kelvin sign is no k', async () => {
    const { orgId } = await newOrg(db.sql)
    await signedIn(app, db.sql, orgId, 'Kim@example.com')
    const statusOf = async (email: string) =>
      (await post(app, '/auth/password', { email, password: PASSWORD })).status
    expect(await statusOf('KIM@Example.com')).toBe(204)
    expect(await statusOf('\u212Aim@example.com')).toBe(401)
    const { id } = await addPerson(db.sql, orgId, '\u212Aim@example.com')
    expect(id).not.toBe((await findMember(db.sql, orgId, 'kim@example.com'))?.id ?? '')
  })

  test('of a person of several organizations asks which', async () => {
    const [one, two] = [await newOrg(db.sql), await newOrg(db.sql)]
    for (const { orgId } of [one, two]) await signedIn(app, db.sql, orgId, 'both@example.com')
    const login = { email: 'both@example.com', password: PASSWORD }
    const asked = await post(app, '/auth/password', login)
    expect([asked.status, asked.headers.get('set-cookie')]).toEqual([200, null])
    expect(await bodyOf(asked)).toEqual({
      organizations: [one.slug, two.slug].sort().map((slug) => ({ slug, name: slug })),
    })
    const chosen = await post(app, '/auth/password', { ...login, organization: two.slug })
    expect(chosen.status).toBe(204)
    const { organization } = await bodyOf(await (await browser(app, cookieOf(chosen))).get('/v1/whoami'))
    expect(organization).toMatchObject({ slug: two.slug })
  })

  test('is tried ten times a minute for each account and each address, by all instances together', async () => {
    const { orgId } = await newOrg(db.sql)
    await signedIn(app, db.sql, orgId, 'eve@example.com')
    await db.sql`delete from sign_in_tries`
    const instances = [app, instance()]
    const tried = (n: number, email: string, from: string) =>
      post(
        instance({ trustProxy: 1 }),
        '/auth/password',
        { email, password: `wrong ${n}` },
        { 'x-forwarded-for': from },
      )
    for (let n = 0; n < 10; n += 1) {
      const answer = await post(instances[n % 2] ?? app, '/auth/password', {
        email: 'eve@example.com',
        password: 'wrong',
      })
      expect(answer.status).toBe(401)
    }
    const refused = await tried(0, 'Eve@example.com', '192.0.2.1')
    expect([refused.status, (await bodyOf(refused)).code]).toEqual([429, 'RATE_LIMITED'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const fromOne = []
    for (let n = 0; n < 11; n += 1) fromOne.push((await tried(n, `x${n}@example.com`, '192.0.2.2')).status)
    expect(fromOne).toEqual([...new Array(10).fill(401), 429])
  })

  test('is checked for 64 people at once, and further ones are told when to try again', async () => {
    const behind = instance({ trustProxy: 2 })
    const { orgId } = await newOrg(db.sql)
    await signedIn(app, db.sql, orgId, 'sixty@example.com')
    const tries = Array.from({ length: 100 }, (_, n) =>
      post(
        behind,
        '/auth/password',
        { email: n === 0 ? 'sixty@example.com' : `s${n}@example.com`, password: PASSWORD },
        { 'x-forwarded-for': `192.0.2.${n}, 10.0.0.1` },
      ),
    )
    const answers = await Promise.all(tries)
    const refused = answers.filter(({ status }) => status === 429)
    // A hash that ends before the last request arrives makes room for one more.
    expect(refused.length).toBeLessThanOrEqual(36)
    expect(refused.length).toBeGreaterThan(0)
    for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    const checked = answers.filter(({ status }) => status === 401 || status === 204)
    expect(checked).toHaveLength(100 - refused.length)
    const after = await post(behind, '/auth/password', { email: 'sixty@example.com', password: PASSWORD })
    expect(after.status).toBe(204)
  })

  test('and bodies that are none are refused', async () => {
    const answer = (type: string, body: string) =>
      app.handle(
        new Request('http://localhost/auth/password', {
          method: 'POST',
          headers: { 'content-type': type },
          body,
        }),
      )
    expect((await answer('text/plain', '{"email":"a","password":"b"}')).status).toBe(415)
    expect((await answer('application/x-www-form-urlencoded', 'email=a&password=b')).status).toBe(415)
    expect((await answer('application/json', '{"email":1}')).status).toBe(400)
    expect((await answer('application/json', `{"email":"${'x'.repeat(9000)}"}`)).status).toBe(413)
  })
})

describe('a session', () => {
  test('acts as the person, whose role says what is allowed, on the next request', async () => {
    const { orgId } = await newOrg(db.sql)
    const ada = await signedIn(app, db.sql, orgId, 'ada@example.com')
    expect((await ada.get('/v1/audit')).status).toBe(403)
    expect((await ada.get('/v1/members')).status).toBe(403)
    await db.sql`update members set role = 'owner' where id = ${ada.id}`
    nowMs += 1_000
    expect((await ada.get('/v1/audit')).status).toBe(200)
    const made = await ada.send('POST', '/v1/members', {
      email: 'bob@example.com',
      display_name: 'Bob',
      role: 'owner',
    })
    expect(made.status).toBe(201)
    const [entry] = await db.sql<{ user_id: string }[]>`
      select l.user_id from audit_log l where l.org_id = ${orgId} order by l.created_at desc limit 1`
    expect(entry?.user_id).toBe(ada.id)
    await db.sql`delete from members where id = ${ada.id}`
    nowMs += 1_000
    expect((await ada.get('/v1/whoami')).status).toBe(401)
  })

  test('changes nothing without the token of its pages, and no other page may read by it', async () => {
    const { orgId } = await newOrg(db.sql)
    const ada = await signedIn(app, db.sql, orgId, 'ada@example.com', 'admin')
    const bob = await signedIn(app, db.sql, orgId, 'bob@example.com', 'admin')
    for (const token of ['', 'x', bob.csrf]) {
      const answer = await ada.send('PATCH', '/v1/organization', { name: 'X' }, { 'x-csrf-token': token })
      expect([answer.status, (await bodyOf(answer)).code]).toEqual([403, 'FORBIDDEN'])
    }
    expect((await ada.send('PATCH', '/v1/organization', { name: 'X' })).status).toBe(200)
    const { id } = await createKey(db.sql, orgId, { name: 'k', scopes: ['read'] })
    for (const [method, path] of [
      ['DELETE', `/v1/keys/${id}`],
      ['POST', '/v1/keys'],
      ['PUT', '/v1/budgets/2026-11'],
    ] as const) {
      const answer = await ada.send(method, path, undefined, { 'x-csrf-token': bob.csrf })
      expect([method, answer.status, (await bodyOf(answer)).code]).toEqual([method, 403, 'FORBIDDEN'])
    }
    expect((await ada.send('DELETE', `/v1/keys/${id}`)).status).toBe(204)
    const read = await app.handle(
      new Request('http://localhost/v1/whoami', {
        headers: { cookie: ada.cookie, origin: 'https://evil.example' },
      }),
    )
    expect(read.headers.get('access-control-allow-origin')).toBe('*')
    expect(read.headers.get('access-control-allow-credentials')).toBeNull()
  })

  test('counts in the limit of its organization, and an Authorization header comes before it', async () => {
    const { orgId, key } = await newOrg(db.sql, { plan: 'cloud_pro' })
    const limited = testApp(db.sql, { windowClock: () => new Date('2026-11-15T12:00:00Z') })
    const ada = await signedIn(limited, db.sql, orgId, 'ada@example.com')
    const remaining = async (headers: Record<string, string>) => {
      const answer = await limited.handle(new Request('http://localhost/v1/team', { headers }))
      return [answer.status, Number(answer.headers.get('x-ratelimit-remaining'))] as const
    }
    const [, first] = await remaining({ cookie: ada.cookie })
    const [, second] = await remaining({ authorization: `Bearer ${key}` })
    expect(second).toBe(first - 1)
    expect((await remaining({ cookie: ada.cookie, authorization: 'Bearer no' }))[0]).toBe(401)
  })

  test('is a new one at each sign-in, whatever cookie the browser came with', async () => {
    const { orgId } = await newOrg(db.sql)
    const ada = await signedIn(app, db.sql, orgId, 'new@example.com')
    const planted = `ca_session=${'A'.repeat(43)}`
    const login = { email: 'new@example.com', password: PASSWORD }
    const answer = await post(app, '/auth/password', login, { cookie: planted })
    expect(cookieOf(answer)).not.toBe(planted)
    expect(
      (await app.handle(new Request('http://localhost/v1/team', { headers: { cookie: planted } }))).status,
    ).toBe(401)
    await post(app, '/auth/password', login, { cookie: ada.cookie })
    nowMs += 1_000
    expect((await ada.get('/v1/whoami')).status).toBe(401)
  })

  test('that is over changes nothing, at once and on every instance, nor does what is on its way', async () => {
    const { orgId } = await newOrg(db.sql)
    const other = instance()
    const ada = await signedIn(app, db.sql, orgId, 'ada@example.com', 'admin')
    const stolen = await browser(other, ada.cookie)
    const key = { name: 'kept', scopes: ['admin'] }
    const keys = () => db.sql`select 1 from api_keys k where k.org_id = ${orgId} and k.name = 'kept'`
    // its body comes when the session has ended: it was admitted before
    const body = new TransformStream<Uint8Array, Uint8Array>()
    const late = other.handle(
      new Request('http://localhost/v1/keys', {
        method: 'POST',
        headers: { cookie: ada.cookie, 'x-csrf-token': ada.csrf, 'content-type': 'application/json' },
        body: body.readable,
      }),
    )
    const writer = body.writable.getWriter()
    await writer.write(new TextEncoder().encode('{"name":"kept",'))
    expect(
      (await post(app, '/auth/logout', {}, { cookie: ada.cookie, 'x-csrf-token': ada.csrf })).status,
    ).toBe(204)
    await writer.write(new TextEncoder().encode('"scopes":["admin"]}'))
    await writer.close()
    expect((await late).status).toBe(401)
    // no time has passed for what the instances remember
    expect((await ada.get('/v1/whoami')).status).toBe(401)
    expect((await stolen.send('POST', '/v1/keys', key)).status).toBe(401)
    expect(await keys()).toHaveLength(0)
  })

  test('of a member who is removed is over at once', async () => {
    const { orgId } = await newOrg(db.sql)
    const ada = await signedIn(app, db.sql, orgId, 'ada@example.com', 'admin')
    const bob = await signedIn(app, db.sql, orgId, 'bob@example.com', 'admin')
    expect((await bob.get('/v1/members')).status).toBe(200)
    expect((await ada.send('DELETE', `/v1/members/${bob.id}`)).status).toBe(204)
    expect((await bob.get('/v1/members')).status).toBe(401)
    expect((await bob.send('PATCH', '/v1/organization', { name: 'B' })).status).toBe(401)
    // somebody may remove themselves: that is written before it is so
    expect((await ada.send('DELETE', `/v1/members/${ada.id}`)).status).toBe(204)
    expect((await ada.get('/v1/members')).status).toBe(401)
  })

  test('is not ended by a page of another site', async () => {
    const { orgId } = await newOrg(db.sql)
    const ada = await signedIn(app, db.sql, orgId, 'ada@example.com')
    for (const headers of [{}, { 'x-csrf-token': 'x' }]) {
      const answer = await post(app, '/auth/logout', {}, { cookie: ada.cookie, ...headers })
      expect([answer.status, (await bodyOf(answer)).code]).toEqual([403, 'FORBIDDEN'])
    }
    expect((await ada.get('/v1/whoami')).status).toBe(200)
    expect((await post(app, '/auth/logout', {})).status).toBe(204)
  })

  test('ends on every instance within a second of the sign-out', async () => {
    const { orgId } = await newOrg(db.sql)
    const other = instance()
    const ada = await signedIn(app, db.sql, orgId, 'ada@example.com')
    const stolen = await browser(other, ada.cookie)
    expect((await stolen.get('/v1/team')).status).toBe(200)
    const headers = { cookie: ada.cookie, 'x-csrf-token': ada.csrf }
    const out = await post(app, '/auth/logout', {}, headers)
    expect([out.status, out.headers.get('set-cookie')]).toEqual([
      204,
      'ca_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
    ])
    nowMs += 1_000
    expect((await stolen.get('/v1/team')).status).toBe(401)
    expect((await ada.get('/v1/team')).status).toBe(401)
    expect((await post(app, '/auth/logout', {}, headers)).status).toBe(204)
    expect((await entries(orgId)).at(-1)).toBe('member.signed_out')
  })

  test('ends after 12 hours without use and after 7 days', async () => {
    const { orgId } = await newOrg(db.sql)
    for (const [column, age] of [
      ['last_used_at', '12 hours'],
      ['created_at', '7 days'],
    ] as const) {
      const ada = await signedIn(app, db.sql, orgId, `${column.slice(0, 4)}@example.com`)
      nowMs += 1_000
      await db.sql`
        update browser_sessions set ${db.sql(column)} = now() - ${age}::interval + interval '1 minute'
        where member_id = ${ada.id}`
      expect((await ada.get('/v1/team')).status).toBe(200)
      nowMs += 1_000
      await db.sql`
        update browser_sessions set ${db.sql(column)} = now() - ${age}::interval - interval '1 second'
        where member_id = ${ada.id}`
      expect((await ada.get('/v1/team')).status).toBe(401)
    }
    expect(await deleteEnded(db.sql)).toBeGreaterThanOrEqual(2)
    expect(await deleteEnded(db.sql)).toBe(0)
  })

  test('has a cookie for https alone where PUBLIC_URL is https', async () => {
    const { orgId } = await newOrg(db.sql)
    const secure = instance({ publicUrl: 'https://analytics.example.com' })
    const { id } = await addPerson(db.sql, orgId, 'sec@example.com')
    const answer = await post(secure, '/auth/accept', {
      token: await invite(db.sql, orgId, id),
      password: PASSWORD,
    })
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Host-ca_session=\S{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    )
  })
})

test('no secret reaches the log or an answer, and none is stored', async () => {
  const lines: string[] = []
  const logged = testApp(db.sql, { log: createLog('debug', 'json', (line) => lines.push(line)) })
  const { orgId } = await newOrg(db.sql)
  const { id } = await addPerson(db.sql, orgId, 'log@example.com')
  const token = await invite(db.sql, orgId, id)
  const accepted = await post(logged, '/auth/accept', { token, password: PASSWORD })
  const ada = await browser(logged, cookieOf(accepted))
  await post(logged, '/auth/password', { email: 'log@example.com', password: 'another password' })
  logged.flushAccessLog()
  const cookie = ada.cookie.split('=')[1] ?? ''
  const dump = await db.sql<{ row: string }[]>`
    select a::text as row from accounts a union all select b::text from browser_sessions b
    union all select i::text from invitations i union all select l::text from audit_log l`
  const text = `${lines.join('\n')}\n${dump.map(({ row }) => row).join('\n')}`
  expect(lines.join()).toContain('/auth/accept')
  for (const secret of [token, PASSWORD, cookie, ada.csrf, 'another password']) {
    expect(text.includes(secret)).toBe(false)
  }
})

test('without passwords nobody signs in by one', async () => {
  const without = instance({ passwords: false })
  for (const [path, body] of [
    ['/auth/password', { email: 'a@example.com', password: PASSWORD }],
    ['/auth/accept', { token: 'x', password: PASSWORD }],
  ] as const) {
    expect((await post(without, path, body)).status).toBe(403)
  }
})
