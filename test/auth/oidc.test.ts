import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { App } from '../../src/app.ts'
import { loadConfig, type OidcConfig, type Role } from '../../src/config.ts'
import { tenant, testApp } from '../support/api.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'
import { CLIENT_ID, CLIENT_SECRET, type Issuer, signInAtIssuer, startIssuer } from './issuer.ts'
import { addPerson, browser, signedIn } from './people.ts'

// Signing in by an identity provider, against a real one.

const PUBLIC_URL = 'http://analytics.test/figures'
const CALLBACK = `${PUBLIC_URL}/auth/oidc/callback`
const ROLES = new Map<string, Role>([
  ['everyone', 'auditor'],
  ['engineering', 'developer'],
  ['analytics-admins', 'admin'],
])

let db: TestDatabase
let issuer: Issuer
let slug: string
let orgId: string
let nowMs = 0

const instance = (oidc: Partial<OidcConfig> = {}, config: object = {}) =>
  testApp(db.sql, {
    keyClock: () => nowMs,
    config: {
      publicUrl: PUBLIC_URL,
      oidc: {
        issuer: issuer.url,
        clientId: CLIENT_ID,
        clientSecret: CLIENT_SECRET,
        scopes: 'openid email profile',
        organization: slug,
        roleClaim: 'groups',
        roles: ROLES,
        defaultRole: null,
        ...oidc,
      },
      ...config,
    },
  })

beforeAll(async () => {
  db = await testDatabase()
  issuer = await startIssuer({ redirectUri: CALLBACK })
})
afterAll(async () => {
  await issuer.stop()
  await db.drop()
})
beforeEach(async () => {
  issuer.accounts.clear()
  const made = await tenant(db.sql)
  slug = made.slug
  orgId = made.orgId
})

const ask = (app: App, path: string, headers: Record<string, string> = {}) =>
  app.handle(new Request(`http://localhost${path}`, { headers }))
const cookieNamed = (response: Response, name: string) =>
  response.headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith(`${name}=`))
    ?.split(';')[0]

/** Begins a sign-in: the issuer's address, and the cookie that the browser keeps. */
async function begin(app: App) {
  const response = await ask(app, '/auth/oidc')
  expect([response.status, response.headers.get('cache-control')]).toEqual([302, 'no-store'])
  return { url: response.headers.get('location') ?? '', flow: cookieNamed(response, 'ca_oidc') ?? '' }
}

/** A whole sign-in as this account of the issuer: the response of the callback. */
async function signIn(app: App, account: string, headers: Record<string, string> = {}) {
  const { url, flow } = await begin(app)
  const back = await signInAtIssuer(issuer, url, account)
  expect(back).toStartWith(`${CALLBACK}?`)
  return await ask(app, back.slice(PUBLIC_URL.length), { cookie: flow, ...headers })
}
const ada = (groups: unknown, more: object = {}) =>
  issuer.accounts.set('ada', {
    email: 'Ada@example.com',
    email_verified: true,
    name: 'Ada Lovelace',
    groups,
    ...more,
  })
async function memberOf(app: App, response: Response) {
  expect([response.status, response.headers.get('location')]).toEqual([302, '/figures/'])
  const page = await browser(app, cookieNamed(response, 'ca_session') ?? '')
  return { page, member: ((await (await page.get('/v1/whoami')).json()) as { member: object }).member }
}

describe('a sign-in', () => {
  test('makes a member with the highest role, and gives the role of the claim each time', async () => {
    const app = instance()
    ada(['everyone', 'analytics-admins', 'others'])
    const { member } = await memberOf(app, await signIn(app, 'ada'))
    expect(member).toMatchObject({ email: 'ada@example.com', display_name: 'Ada Lovelace', role: 'admin' })
    ada('engineering')
    const later = await memberOf(app, await signIn(app, 'ada'))
    expect(later.member).toEqual({ ...member, role: 'developer' })
    const actions = await db.sql<{ action: string; user_id: string }[]>`
      select l.action, l.user_id
      from audit_log l
      where l.org_id = ${orgId}
        and l.action like 'member.%'
      order by l.created_at`
    expect(actions.map(({ action }) => action)).toEqual([
      'member.created',
      'member.signed_in',
      'member.updated',
      'member.signed_in',
    ])
  })

  test('without a role is refused, ends what sessions there are, and a default lets in', async () => {
    const app = instance()
    ada(['engineering'])
    const { page } = await memberOf(app, await signIn(app, 'ada'))
    ada(['others'])
    const refused = await signIn(app, 'ada')
    expect([refused.status, cookieNamed(refused, 'ca_session')]).toEqual([403, undefined])
    nowMs += 1_000
    expect((await page.get('/v1/cost')).status).toBe(401)
    const lenient = instance({ defaultRole: 'auditor' })
    expect((await memberOf(lenient, await signIn(lenient, 'ada'))).member).toMatchObject({ role: 'auditor' })
    issuer.accounts.set('eve', { email: 'eve@example.com', email_verified: true })
    expect((await signIn(app, 'eve')).status).toBe(403)
    const members = await db.sql`
      select 1 from members m where m.org_id = ${orgId} and m.email = 'eve@example.com'`
    expect(members).toHaveLength(0)
  })

  test('by an alias is that of the member, and the last owner stays one', async () => {
    const app = instance()
    const { id } = await addPerson(db.sql, orgId, 'countess@example.com', 'owner')
    await db.sql`
      insert into member_aliases (org_id, email, member_email)
      values (${orgId}, 'ada@example.com', 'countess@example.com')`
    ada(['engineering'])
    expect((await memberOf(app, await signIn(app, 'ada'))).member).toMatchObject({ id, role: 'owner' })
    await addPerson(db.sql, orgId, 'second@example.com', 'owner')
    expect((await memberOf(app, await signIn(app, 'ada'))).member).toMatchObject({ id, role: 'developer' })
  })

  test('needs an address that the provider has verified', async () => {
    const app = instance()
    for (const claims of [
      { email_verified: false },
      { email_verified: 'true' },
      { email_verified: undefined },
      { email: undefined },
      { email: 'no address' },
    ]) {
      ada(['engineering'], claims)
      const response = await signIn(app, 'ada')
      expect([claims, response.status, cookieNamed(response, 'ca_session')]).toEqual([claims, 401, undefined])
    }
  })

  test('ends the session that the browser had, so that none can be planted', async () => {
    const app = instance()
    const before = await signedIn(app, db.sql, orgId, 'bob@example.com')
    ada(['engineering'])
    const { url, flow } = await begin(app)
    const back = await signInAtIssuer(issuer, url, 'ada')
    const response = await ask(app, back.slice(PUBLIC_URL.length), { cookie: `${flow}; ${before.cookie}` })
    expect(response.status).toBe(302)
    nowMs += 1_000
    expect((await before.get('/v1/cost')).status).toBe(401)
  })
})

describe('the way back', () => {
  test('is refused without the browser’s flow, with another’s, with a wrong state, and twice', async () => {
    const app = instance()
    ada(['engineering'])
    const { url, flow } = await begin(app)
    const other = await begin(app)
    const back = (await signInAtIssuer(issuer, url, 'ada')).slice(PUBLIC_URL.length)
    const statusOf = async (path: string, cookie: string) => (await ask(app, path, { cookie })).status
    expect(await statusOf(back, 'a=b')).toBe(401)
    expect(await statusOf(back, other.flow)).toBe(401)
    expect(await statusOf(back.replace(/state=[^&]+/, 'state=another'), flow)).toBe(401)
    expect(await statusOf('/auth/oidc/callback', flow)).toBe(401)
    expect(await statusOf('/auth/oidc/callback?error=access_denied', flow)).toBe(401)
    expect(await statusOf(back, flow)).toBe(302)
    expect(await statusOf(back, flow)).toBe(401)
  })

  test('leads to the dashboard, whatever the request names, and a browser is told in words', async () => {
    const app = instance()
    const start = await ask(app, '/auth/oidc?next=https://evil.test/&redirect_uri=https://evil.test/')
    expect(start.headers.get('location')).toStartWith(`${issuer.url}/auth?`)
    expect(start.headers.get('location')).not.toContain('evil')
    ada(['others'])
    const page = await signIn(app, 'ada', { accept: 'text/html,*/*' })
    expect([page.status, page.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
    expect(await page.text()).toContain('Your account has no role')
  })
})

describe('the provider', () => {
  test('authenticates this server as it advertises, and gives the claims in the token or by userinfo', async () => {
    for (const authMethod of ['client_secret_basic', 'client_secret_post'] as const) {
      for (const inToken of [true, false]) {
        const another = await startIssuer({ redirectUri: CALLBACK, authMethod, inToken })
        const [kept, app] = [issuer, instance({ issuer: another.url })]
        issuer = another
        try {
          ada(['engineering'])
          expect((await memberOf(app, await signIn(app, 'ada'))).member).toMatchObject({ role: 'developer' })
          const wrong = instance({ clientSecret: 'another' })
          expect((await signIn(wrong, 'ada')).status).toBe(401)
        } finally {
          issuer = kept
          await another.stop()
        }
      }
    }
  })

  test('is not believed with a wrong signature of its token', async () => {
    const forger = await startIssuer({ redirectUri: CALLBACK, forges: true, inToken: true })
    const [kept, app] = [issuer, instance({ issuer: forger.url })]
    issuer = forger
    try {
      ada(['analytics-admins'])
      expect((await signIn(app, 'ada')).status).toBe(401)
    } finally {
      issuer = kept
      await forger.stop()
    }
  })

  test('may be away when the server starts, and be there later', async () => {
    const gone = await startIssuer({ redirectUri: CALLBACK })
    await gone.stop()
    const app = instance({ issuer: gone.url })
    expect((await ask(app, '/auth/oidc')).status).toBe(503)
    expect((await ask(app, '/live')).status).toBe(200)
  })

  test('is not asked where none is set', async () => {
    const app = instance({}, { oidc: null })
    expect((await ask(app, '/auth/oidc')).status).toBe(404)
    expect(await (await ask(app, '/auth/methods')).json()).toEqual({ password: true, oidc: false })
    const only = instance({}, { passwords: false })
    expect(await (await ask(only, '/auth/methods')).json()).toEqual({ password: false, oidc: true })
  })
})

test('the settings are checked', () => {
  const base = { OIDC_ISSUER: 'https://id.example.com/', OIDC_CLIENT_ID: 'a', OIDC_ORGANIZATION: 'acme' }
  const roles = { OIDC_ROLES: 'analytics-admins=admin, engineering = developer' }
  const { oidc } = loadConfig({ ...base, ...roles, OIDC_DEFAULT_ROLE: 'auditor' })
  expect(oidc).toMatchObject({
    issuer: 'https://id.example.com/',
    roleClaim: 'groups',
    defaultRole: 'auditor',
  })
  expect([...(oidc?.roles ?? [])]).toEqual([
    ['analytics-admins', 'admin'],
    ['engineering', 'developer'],
  ])
  expect(loadConfig({}).oidc).toBeNull()
  for (const [wrong, message] of [
    [{ OIDC_ISSUER: 'http://id.example.com' }, /OIDC_ISSUER must be an https URL/],
    [{ OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: '' }, /OIDC_CLIENT_ID must be set/],
    [{ OIDC_ORGANIZATION: '' }, /OIDC_ORGANIZATION must be set/],
    [{ OIDC_ROLES: 'engineering=boss' }, /OIDC_ROLES must be value=role/],
    [{ OIDC_DEFAULT_ROLE: 'boss' }, /OIDC_DEFAULT_ROLE must be one of/],
  ] as const) {
    expect(() => loadConfig({ ...base, ...wrong })).toThrow(message)
  }
})
