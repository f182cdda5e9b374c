import { beforeEach, describe, expect, test } from 'bun:test'
import { createLog } from '../../../src/base/log.ts'
import { loadConfig, type OidcConfig, type Role } from '../../../src/config.ts'
import type { App } from '../../../src/server/app.ts'
import { asker, newKey, newOrg, testApp } from '../../support/api.ts'
import { atEnd } from '../../support/at-end.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { CLIENT_ID, CLIENT_SECRET, signInAtIssuer, startIssuer } from './issuer.ts'
import { addPerson, browser, invite, signedIn } from './people.ts'

// Signing in by an identity provider, against a real one.

const PUBLIC_URL = 'http://analytics.test/figures'
const CALLBACK = `${PUBLIC_URL}/auth/oidc/callback`
const ROLES = new Map<string, Role>([
  ['everyone', 'auditor'],
  ['engineering', 'developer'],
  ['analytics-admins', 'admin'],
])

let slug: string
let orgId: string
let nowMs = 0

const lines: string[] = []
const instance = (oidc: Partial<OidcConfig> = {}, config: object = {}) =>
  testApp(db.sql, {
    log: createLog('info', 'json', (line) => lines.push(line)),
    keyClock: () => nowMs,
    config: {
      publicUrl: PUBLIC_URL,
      oidc: {
        issuer: issuer.url,
        clientId: CLIENT_ID,
        clientSecret: CLIENT_SECRET,
        scopes: 'openid email profile',
        organization: slug,
        roleClaim: ['groups'],
        teamClaim: null,
        roles: ROLES,
        defaultRole: null,
        requireVerifiedEmail: true,
        allowedDomains: [],
        ...oidc,
      },
      ...config,
    },
  })

const db = await testsDatabase()
let issuer = await startIssuer({ redirectUri: CALLBACK })
atEnd(() => issuer.stop())

/** An instance with another provider, by which people sign in until it is disposed of. */
async function atAnother(options: object = {}) {
  const kept = issuer
  issuer = await startIssuer({ redirectUri: CALLBACK, ...options })
  const end = async () => {
    await issuer.stop()
    issuer = kept
  }
  return { app: instance(), [Symbol.asyncDispose]: end }
}
beforeEach(async () => {
  issuer.accounts.clear()
  const made = await newOrg(db.sql)
  slug = made.slug
  orgId = made.orgId
})

async function findByAddress(email: string) {
  const [row] = await db.sql<{ id: string }[]>`
    select m.id from members m where m.org_id = ${orgId} and m.email = ${email}`
  if (row === undefined) throw new Error(`no member ${email}`)
  return row
}
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

  test('by an alias is refused', async () => {
    const app = instance()
    await addPerson(db.sql, orgId, 'countess@example.com', 'owner')
    await db.sql`
      insert into member_aliases (org_id, email, member_email)
      values (${orgId}, 'ada@example.com', 'countess@example.com')`
    ada(['engineering'])
    const refused = await signIn(app, 'ada')
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining('another one of a member'),
    ])
  })

  test('leaves an owner one, whatever the claim says, which is logged, and makes none', async () => {
    const app = instance({ roles: new Map<string, Role>([...ROLES, ['bosses', 'owner']]) })
    const { id } = await addPerson(db.sql, orgId, 'ada@example.com', 'owner')
    await addPerson(db.sql, orgId, 'second@example.com', 'owner')
    ada(['engineering'])
    lines.length = 0
    expect((await memberOf(app, await signIn(app, 'ada'))).member).toMatchObject({ id, role: 'owner' })
    expect(lines.join()).toContain('an owner stays one, where the claim says developer')
    issuer.accounts.set('eve', { email: 'eve@example.com', email_verified: true, groups: ['bosses'] })
    const refused = await signIn(app, 'eve')
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining('only an owner makes an owner'),
    ])
    issuer.accounts.set('eve', {
      email: 'eve@example.com',
      email_verified: true,
      groups: ['bosses', 'everyone'],
    })
    expect((await memberOf(app, await signIn(app, 'eve'))).member).toMatchObject({ role: 'auditor' })
  })

  test('is bound to the person at the first one, not to an address that somebody else gets', async () => {
    const app = instance()
    ada(['engineering'])
    const { member } = await memberOf(app, await signIn(app, 'ada'))
    const { id } = member as { id: string }
    issuer.accounts.set('other', {
      email: 'ada@example.com',
      email_verified: true,
      groups: ['analytics-admins'],
    })
    const refused = await signIn(app, 'other')
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('Another account')])
    // the same person by another address, which an admin may give them
    ada(['engineering'], { email: 'lovelace@example.com' })
    expect((await memberOf(app, await signIn(app, 'ada'))).member).toEqual(member)
    const [{ count }] =
      (await db.sql`select count(*)::integer as count from members m where m.org_id = ${orgId}`) as [
        { count: number },
      ]
    expect(count).toBe(1)
    // another issuer names its people as it likes
    await using another = await atAnother()
    const { app: there } = another
    ada(['engineering'])
    expect((await signIn(there, 'ada')).status).toBe(403)
    ada(['engineering'], { email: 'else@example.com' })
    expect((await memberOf(there, await signIn(there, 'ada'))).member).not.toMatchObject({ id })
    // an invitation is the way to another person
    await invite(db.sql, orgId, id)
    issuer.accounts.set('new', { email: 'ada@example.com', email_verified: true, groups: ['everyone'] })
    expect((await memberOf(there, await signIn(there, 'new'))).member).toMatchObject({
      id,
      role: 'auditor',
    })
  })

  test('with more groups than a token has keeps a role that an admin or the provider gave, which is logged', async () => {
    const overages = [
      { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph.test' } } },
      { hasgroups: true },
    ]
    const writer = await newKey(db.sql, orgId, ['write'])
    let made = 0
    for (const many of overages) {
      const someone = () => {
        made += 1
        const account = `p${made}`
        const email = `${account}@example.com`
        const claims = { email, email_verified: true }
        const claim = (more: object) => issuer.accounts.set(account, { ...claims, ...more })
        claim(many)
        return { account, email, claim }
      }
      const record = (app: App, email: string, role: Role) =>
        asker(app, writer)('POST', '/v1/sync', {
          records: [{ type: 'member', email, display_name: 'P', role, joined_at: '2026-01-01T00:00:00Z' }],
        })
      const [app, withDefault] = [instance(), instance({ defaultRole: 'auditor' })]
      const roleIn = async (there: App, { account }: { account: string }) =>
        (await memberOf(there, await signIn(there, account))).member

      const given = someone()
      await addPerson(db.sql, orgId, given.email, 'admin')
      expect((await record(app, given.email, 'admin')).status).toBe(200)
      lines.length = 0
      expect(await roleIn(app, given)).toMatchObject({ role: 'admin' })
      expect(lines.join()).toContain('too many')

      // a key without the scope admin gave it: the default counts, else nobody comes in
      const recorded = someone()
      expect((await record(app, recorded.email, 'developer')).status).toBe(200)
      const refused = await signIn(app, recorded.account)
      expect([refused.status, await refused.text()]).toEqual([
        403,
        expect.stringContaining('too many groups'),
      ])
      expect(await roleIn(withDefault, recorded)).toMatchObject({ role: 'auditor' })

      // an admin's role that such a record changes is no longer theirs
      const changed = someone()
      await addPerson(db.sql, orgId, changed.email, 'auditor')
      expect((await record(app, changed.email, 'developer')).status).toBe(200)
      expect((await signIn(app, changed.account)).status).toBe(403)

      // the provider, or an admin, gives the same role as the record
      const confirmed = someone()
      expect((await record(app, confirmed.email, 'developer')).status).toBe(200)
      confirmed.claim({ groups: ['engineering'] })
      expect(await roleIn(app, confirmed)).toMatchObject({ role: 'developer' })
      confirmed.claim(many)
      expect(await roleIn(app, confirmed)).toMatchObject({ role: 'developer' })
      const invited = someone()
      expect((await record(app, invited.email, 'developer')).status).toBe(200)
      const admin = await signedIn(app, db.sql, orgId, `admin${made}@example.com`, 'admin')
      const { id } = await findByAddress(invited.email)
      expect((await admin.send('PATCH', `/v1/members/${id}`, { display_name: 'Q' })).status).toBe(200)
      expect((await signIn(app, invited.account)).status).toBe(403)
      expect((await admin.send('PATCH', `/v1/members/${id}`, { role: 'developer' })).status).toBe(200)
      expect(await roleIn(app, invited)).toMatchObject({ role: 'developer' })
    }
    const app = instance()
    issuer.accounts.set('eve', { email: 'eve@example.com', email_verified: true, ...overages[0] })
    expect((await signIn(app, 'eve')).status).toBe(403)
    // without such a claim no groups are none
    await addPerson(db.sql, orgId, 'ada@example.com', 'admin')
    ada(undefined)
    expect((await signIn(app, 'ada')).status).toBe(403)
  })

  test('takes the role from a claim inside of others, and by a name with dots', async () => {
    for (const [roleClaim, claims] of [
      [['realm_access', 'roles'], { realm_access: { roles: ['engineering'] } }],
      [['https://acme.test/roles'], { 'https://acme.test/roles': ['engineering'] }],
      [['https://acme', 'test/roles'], { 'https://acme.test/roles': 'engineering' }],
      [['a', 'b.c', 'd'], { a: { 'b.c': { d: ['engineering'] } } }],
    ] as const) {
      const app = instance({ roleClaim })
      ada(undefined, claims)
      expect([roleClaim, (await memberOf(app, await signIn(app, 'ada'))).member]).toMatchObject([
        roleClaim,
        { role: 'developer' },
      ])
    }
    const app = instance({
      roleClaim: ['realm_access', 'constructor', 'name'],
      roles: new Map([['Object', 'admin']]),
    })
    ada(undefined, { realm_access: {} })
    expect((await signIn(app, 'ada')).status).toBe(403)
  })

  test('takes the team from a claim, which stays where no claim names it', async () => {
    const app = instance({ teamClaim: ['org', 'team'], roles: ROLES })
    const teamAfter = async (claims: object) => {
      ada(['engineering'], claims)
      expect((await signIn(app, 'ada')).status).toBe(302)
      const [row] = await db.sql<{ team: string | null; role: string }[]>`
        select m.team, m.role from members m where m.org_id = ${orgId} and m.email = 'ada@example.com'`
      return [row?.team, row?.role]
    }
    expect(await teamAfter({})).toEqual([null, 'developer'])
    expect(await teamAfter({ org: { team: 'payments' } })).toEqual(['payments', 'developer'])
    expect(await teamAfter({ org: { team: ['', ' web ', 'mobile'] } })).toEqual(['web', 'developer'])
    expect(await teamAfter({ org: { team: [] } })).toEqual(['web', 'developer'])
    expect(await teamAfter({ org: { team: 7 } })).toEqual(['web', 'developer'])
    // an owner stays one, and changes the team
    await db.sql`update members set role = 'owner' where org_id = ${orgId} and email = 'ada@example.com'`
    expect(await teamAfter({ org: { team: 'x'.repeat(120) } })).toEqual(['x'.repeat(100), 'owner'])
  })

  test('is for the allowed domains, by hd, else by the address', async () => {
    const app = instance({ allowedDomains: ['example.com'] })
    for (const [claims, status] of [
      [{}, 302],
      [{ email: 'ada@EXAMPLE.com' }, 302],
      [{ email: 'ada@example.com.evil.test' }, 403],
      [{ hd: 'evil.test' }, 403],
      [{ email: 'ada@alias.test', hd: 'Example.com' }, 302],
    ] as const) {
      ada(['engineering'], claims)
      expect([claims, (await signIn(app, 'ada')).status]).toEqual([claims, status])
    }
  })

  test('needs no verified address where the provider says nothing of it, but never one that it denies', async () => {
    const app = instance({ requireVerifiedEmail: false })
    for (const [email_verified, status] of [
      [undefined, 302],
      ['true', 302],
      [true, 302],
      [false, 401],
      ['false', 401],
      ['perhaps', 401],
    ] as const) {
      ada(['engineering'], { email_verified })
      expect([email_verified, (await signIn(app, 'ada')).status]).toEqual([email_verified, status])
    }
  })

  test('takes an address and whether it is verified from one source', async () => {
    await using another = await atAnother({ inToken: true })
    const { app } = another
    await addPerson(db.sql, orgId, 'victim@example.com', 'owner')
    issuer.accounts.set('ada', { email: 'victim@example.com', groups: ['engineering'] })
    issuer.inUserinfo.set('ada', { email: 'ada@example.com', email_verified: true })
    expect((await memberOf(app, await signIn(app, 'ada'))).member).toMatchObject({
      email: 'ada@example.com',
    })
    issuer.inUserinfo.set('ada', { email: 'ada@example.com', email_verified: false })
    expect((await signIn(app, 'ada')).status).toBe(401)
  })

  test('with the Kelvin sign is by no address with a k', async () => {
    const app = instance()
    const { id } = await addPerson(db.sql, orgId, 'kim@example.com', 'owner')
    issuer.accounts.set('kim', { email: '\u212Aim@example.com', email_verified: true, groups: ['everyone'] })
    expect((await memberOf(app, await signIn(app, 'kim'))).member).not.toMatchObject({ id })
  })

  test('needs an address that the provider has verified', async () => {
    const app = instance()
    for (const claims of [
      { email_verified: false },
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
    // the nonce of the ID token is that of this browser's sign-in
    const again = await begin(app)
    const returned = (await signInAtIssuer(issuer, again.url, 'ada')).slice(PUBLIC_URL.length)
    const [state, , verifier] = again.flow.split('.')
    expect(await statusOf(returned, [state, other.flow.split('.')[1], verifier].join('.'))).toBe(401)
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
        await using another = await atAnother({ authMethod, inToken })
        const { app } = another
        ada(['engineering'], { email: `${authMethod}.${inToken}@example.com` })
        expect((await memberOf(app, await signIn(app, 'ada'))).member).toMatchObject({ role: 'developer' })
        const wrong = instance({ clientSecret: 'another' })
        expect((await signIn(wrong, 'ada')).status).toBe(401)
      }
    }
  })

  test('is not believed with a wrong signature of its token', async () => {
    await using another = await atAnother({ forges: true, inToken: true })
    const { app } = another
    ada(['analytics-admins'])
    expect((await signIn(app, 'ada')).status).toBe(401)
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
    expect(await (await ask(app, '/auth/methods')).json()).toEqual({
      password: true,
      oidc: false,
      setup: false,
    })
    const only = instance({}, { passwords: false })
    expect(await (await ask(only, '/auth/methods')).json()).toEqual({
      password: false,
      oidc: true,
      setup: false,
    })
  })
})

test('the settings are checked', () => {
  const base = { OIDC_ISSUER: 'https://id.example.com/', OIDC_CLIENT_ID: 'a', OIDC_ORGANIZATION: 'acme' }
  const roles = { OIDC_ROLES: 'analytics-admins=admin, engineering = developer' }
  const { oidc } = loadConfig({ ...base, ...roles, OIDC_DEFAULT_ROLE: 'auditor' })
  expect(oidc).toMatchObject({
    issuer: 'https://id.example.com/',
    roleClaim: ['groups'],
    teamClaim: null,
    defaultRole: 'auditor',
    requireVerifiedEmail: true,
    allowedDomains: [],
  })
  const more = loadConfig({
    ...base,
    OIDC_ROLES: '{"cn=admins,ou=x": "admin", "a=b": "developer"}',
    OIDC_ROLE_CLAIM: 'resource_access."my.client".roles',
    OIDC_TEAM_CLAIM: '"acme.test/team".name',
    OIDC_REQUIRE_VERIFIED_EMAIL: 'false',
    OIDC_ALLOWED_DOMAINS: 'Example.com, acme.test',
  }).oidc
  expect(more).toMatchObject({
    roleClaim: ['resource_access', 'my.client', 'roles'],
    teamClaim: ['acme.test/team', 'name'],
    requireVerifiedEmail: false,
    allowedDomains: ['example.com', 'acme.test'],
  })
  expect([...(more?.roles ?? [])]).toEqual([
    ['cn=admins,ou=x', 'admin'],
    ['a=b', 'developer'],
  ])
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
    [{ OIDC_ROLES: '{"a": "boss"}' }, /OIDC_ROLES must be value=role/],
    [{ OIDC_ROLES: '{"a": ' }, /OIDC_ROLES must be value=role/],
    [{ OIDC_ROLE_CLAIM: 'a..b' }, /OIDC_ROLE_CLAIM must be names/],
    [{ OIDC_ROLE_CLAIM: '"a' }, /OIDC_ROLE_CLAIM must be names/],
    [{ OIDC_ALLOWED_DOMAINS: '@example.com' }, /OIDC_ALLOWED_DOMAINS must be domains/],
    [{ OIDC_REQUIRE_VERIFIED_EMAIL: 'perhaps' }, /OIDC_REQUIRE_VERIFIED_EMAIL must be true or false/],
  ] as const) {
    expect(() => loadConfig({ ...base, ...wrong })).toThrow(message)
  }
})
