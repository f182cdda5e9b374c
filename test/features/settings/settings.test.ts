import { describe, expect, test } from 'bun:test'
import { asker, newKey, newOrg, type Org, PLENTY, testApp } from '../../support/api.ts'
import { CHANGES, declaredRoutes } from '../../support/isolation/routes.ts'
import { testsDatabase } from '../../support/postgres.ts'

// Keys, members, budgets and the organization, changed by the API as the command line changes them.

const ADMIN = ['read', 'write', 'audit:write', 'webhooks', 'admin']

const db = await testsDatabase()

const app = testApp(db.sql, { config: { rateLimits: PLENTY } })

async function organization(scopes = ADMIN) {
  const own = await newOrg(db.sql, { scopes })
  return { ...own, ask: asker(app, own.key) }
}

const actions = async ({ orgId }: Pick<Org, 'orgId'>) =>
  (
    await db.sql<{ action: string; user_id: string; details: Record<string, unknown> }[]>`
      select l.action, l.user_id, l.details from audit_log l where l.org_id = ${orgId} order by l.created_at`
  ).map(({ action, user_id, details }) => ({ action, user_id, details }))

test('PATCH with {}, or with the object as it is, is 200 and changes nothing, on every route', async () => {
  const own = await organization()
  const { ask } = own
  const member = await ask('POST', '/v1/members', {
    email: 'a@b.example',
    display_name: 'A',
    role: 'developer',
  })
  const webhook = await ask('POST', '/v1/webhooks', CHANGES['POST /webhooks'])
  const alert = await ask('POST', '/v1/alerts', CHANGES['POST /alerts'])
  const digest = await ask('POST', '/v1/digests', CHANGES['POST /digests'])
  const plan = await ask('POST', '/v1/plans', CHANGES['POST /plans'])
  const effect = await ask('POST', '/v1/effects', CHANGES['POST /effects'])
  const finding = {
    ...{ id: 'finding_1', rule_id: 'aws-access-key', category: 'secret', severity: 'high', title: 'A key' },
    ...{ turn_number: 1, fingerprint: 'print' },
  }
  const session = {
    ...{ type: 'session', id: 'sess_1', project_name: 'p', created_at: '2026-01-02T03:04:05Z' },
    security_metadata: { findings: [finding] },
  }
  expect((await ask('POST', '/v1/sync', { records: [session] })).status).toBe(200)
  const ids: Record<string, unknown> = {
    ...{ user_id: member.body.id, webhook_id: webhook.body.id, finding_id: 'finding_1' },
    ...{
      alert_id: alert.body.id,
      digest_id: digest.body.id,
      plan_id: plan.body.id,
      effect_id: effect.body.id,
    },
  }
  const routes = declaredRoutes(app).filter(
    ({ method, path }) => method === 'PATCH' && path.startsWith('/v1'),
  )
  expect(routes).toHaveLength(8)
  const dismissed = { status: 'dismissed', note: 'known' }
  expect((await ask('PATCH', '/v1/findings/finding_1', dismissed)).status).toBe(200)
  const before = await actions(own)
  for (const { path } of routes) {
    const url = path.replaceAll(/:(\w+)/g, (_all, name) => String(ids[name]))
    if (path === '/v1/findings/:finding_id') {
      // it has no field that is always there
      expect((await ask('PATCH', url, {})).status).toBe(400)
      continue
    }
    const first = await ask('PATCH', url, {})
    expect([path, first.status]).toEqual([path, 200])
    expect((await ask('PATCH', url, {})).body).toEqual(first.body)
    if (!/webhook_id|alert_id|digest_id|user_id|plan_id/.test(path)) continue
    for (const whole of [first.body, { ...first.body, id: 'another' }]) {
      const answer = await ask('PATCH', url, whole)
      expect([path, answer.status, answer.body]).toEqual([path, 200, first.body])
    }
    expect((await ask('PATCH', url, { ...first.body, nothing: 1 })).body.details).toEqual([
      { field: 'nothing', message: 'is not a known field' },
    ])
  }
  expect((await ask('PATCH', '/v1/organization', { badges: {} })).status).toBe(200)
  expect(await actions(own)).toEqual(before)
})

describe('keys', () => {
  test('are made, shown once, listed, rotated and revoked', async () => {
    const own = await organization()
    const { ask, keyId } = own
    const made = await ask('POST', '/v1/keys', { name: ' ci ', scopes: ['sessions:read', 'write'] })
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(`/v1/keys/${made.body.id}`)
    const { key, ...shown } = made.body as unknown as Record<string, unknown>
    expect(shown).toEqual({
      id: made.body.id,
      name: 'ci',
      scopes: ['write', 'sessions:read'],
      member: null,
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      created_by: `key_${keyId}`,
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
    })
    const listed = await ask('GET', '/v1/keys')
    expect(listed.body.data.map(({ id }) => id)).toEqual([made.body.id, keyId])
    expect(listed.text).not.toContain(String(key))
    expect((await ask('GET', `/v1/keys/${made.body.id}`)).body).toMatchObject({ ...shown })
    expect((await asker(app, String(key))('GET', '/v1/sessions')).status).toBe(200)

    const rotated = await ask('POST', `/v1/keys/${made.body.id}/rotate`, { grace_period_seconds: 0 })
    expect(rotated.status).toBe(200)
    expect(rotated.body.scopes).toEqual(['write', 'sessions:read'])
    expect((await asker(app, String(rotated.body.key))('GET', '/v1/sessions')).status).toBe(200)
    const again = await ask('POST', `/v1/keys/${made.body.id}/rotate`)
    expect([again.status, again.body.code]).toEqual([400, 'VALIDATION_ERROR'])

    expect((await ask('DELETE', `/v1/keys/${rotated.body.id}`)).status).toBe(204)
    expect((await ask('DELETE', `/v1/keys/${rotated.body.id}`)).status).toBe(404)
    expect((await ask('POST', `/v1/keys/${rotated.body.id}/rotate`)).status).toBe(404)
    const entries = (await actions(own)).filter(({ user_id }) => user_id === `key_${keyId}`)
    expect(entries.map(({ action }) => action)).toEqual([
      'api_key.created',
      'api_key.rotated',
      'api_key.revoked',
    ])
  })

  test('have no more scopes than who makes or rotates them', async () => {
    const own = await organization(['read', 'admin'])
    const more = await own.ask('POST', '/v1/keys', { name: 'x', scopes: ['cost:read', 'write', 'webhooks'] })
    expect([more.status, more.body.error]).toEqual([
      403,
      'scopes: you do not have the scope write; scopes: you do not have the scope webhooks',
    ])
    expect((await own.ask('POST', '/v1/keys', { name: 'x', scopes: ['read', 'cost:read'] })).status).toBe(201)
    const narrow = await newKey(db.sql, own.orgId, ['cost:read', 'admin'])
    const askNarrow = asker(app, narrow)
    expect((await askNarrow('POST', '/v1/keys', { name: 'x', scopes: ['read'] })).status).toBe(403)
    expect((await askNarrow('POST', `/v1/keys/${own.keyId}/rotate`)).status).toBe(403)
  })

  test('that are wrong are refused', async () => {
    const { ask } = await organization()
    const refused = async (body: object) => {
      const answer = await ask('POST', '/v1/keys', body)
      return [answer.status, answer.body.details.map(({ field }) => field)]
    }
    const valid = { name: 'x', scopes: ['read'] }
    expect(await refused({ ...valid, name: '' })).toEqual([400, ['name']])
    expect(await refused({ ...valid, scopes: [] })).toEqual([400, ['scopes']])
    expect(await refused({ ...valid, scopes: ['root'] })).toEqual([400, ['scopes[0]']])
    for (const expires_at of ['2020-01-01T00:00:00Z', '2020-01-01', '2020-01-01T00:00', '2099-01'])
      expect(await refused({ ...valid, expires_at })).toEqual([400, ['expires_at']])
    expect(await refused({ ...valid, member: 'nobody@example.com' })).toEqual([400, ['member']])
    expect(await refused({ ...valid, plan: 'x' })).toEqual([400, ['plan']])
  })

  test('need the scope admin, which `read` and `write` do not have', async () => {
    const { ask, keyId } = await organization(['read', 'write', 'webhooks', 'audit:write'])
    for (const [method, path, body] of [
      ['GET', '/v1/keys'],
      ['POST', '/v1/keys', { name: 'x', scopes: ['read'] }],
      ['DELETE', `/v1/keys/${keyId}`],
      ['GET', '/v1/members'],
      ['PUT', '/v1/budgets/2026-11', { limit: 1 }],
      ['PATCH', '/v1/organization', { name: 'x' }],
      ['POST', '/v1/organization/badge-token'],
    ] as const) {
      const answer = await ask(method, path, body)
      expect([path, answer.status, answer.body.error]).toEqual([
        path,
        403,
        'This needs an API key with the scope admin',
      ])
    }
    expect((await ask('GET', '/v1/organization')).status).toBe(200)
  })
})

describe('members', () => {
  test('are invited many at once, all or nobody', async () => {
    const own = await organization()
    const { ask } = own
    const path = '/v1/members/invitations'
    const known = await ask('POST', '/v1/members', {
      ...{ email: 'known@example.com', display_name: 'Known', role: 'auditor', team: 'web' },
    })
    const shown = (list: object[]) => list as { id: string; email: string; url: string; expires_at: string }[]
    const before = await actions(own)
    const problemsOf = async (members: unknown) => {
      const { status, body } = await ask('POST', path, { members })
      return [status, ...(body.details ?? []).map(({ field }) => field)]
    }
    const ada = { email: 'Ada@Example.com', display_name: 'Ada', role: 'developer', team: 'payments' }
    const bob = { email: 'bob@example.com', role: 'auditor' }
    const wrong: [unknown, (string | number)[]][] = [
      [
        [ada, { ...bob, email: 'nobody' }],
        [400, 'members[1].email'],
      ],
      [
        [ada, { ...bob, email: 'ADA@example.com' }],
        [400, 'members[1].email'],
      ],
      [
        [ada, { ...bob, role: 'king' }],
        [400, 'members[1].role'],
      ],
      [
        [ada, { ...bob, name: 'Bob' }],
        [400, 'members[1].name'],
      ],
      [
        [ada, { ...bob, role: 'owner' }],
        [403, 'members[1].role'],
      ],
      [[], [400, 'members']],
      [Array.from({ length: 201 }, (_, n) => ({ ...bob, email: `p${n}@example.com` })), [400, 'members']],
    ]
    for (const [members, expected] of wrong) expect(await problemsOf(members)).toEqual(expected)
    await ask('PATCH', `/v1/members/${known.body.id}`, { aliases: ['alias@example.com'] })
    expect(await problemsOf([ada, { ...bob, email: 'alias@example.com' }])).toEqual([400, 'members[1].email'])
    expect((await ask('GET', '/v1/members')).body.pagination.total).toBe(1)
    expect(await actions(own)).toHaveLength(before.length + 1)

    const again = { email: 'KNOWN@example.com', display_name: 'Other', role: 'developer' }
    const made = await ask('POST', path, { members: [ada, again, bob] })
    expect([made.status, made.headers.get('location')]).toEqual([201, '/v1/members'])
    const [first, second, third] = shown(made.body.data)
    expect([first, second, third].map((one) => one?.email)).toEqual([
      ...['ada@example.com', 'known@example.com', 'bob@example.com'],
    ])
    expect(second?.id).toBe(String(known.body.id))
    expect(new Set(made.body.data.map(({ url }) => url as unknown)).size).toBe(3)
    expect(first).toMatchObject({
      url: expect.stringMatching(/\/accept#token=\S{20,}$/),
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    const { body } = await ask('GET', '/v1/members')
    const listed = body.data.map((one) => [one.id, one.display_name, one.role, one.team, one.status].join())
    expect(listed.sort()).toEqual(
      [
        `${first?.id},Ada,developer,payments,invited`,
        `${second?.id},Known,auditor,web,invited`,
        `${third?.id},bob,auditor,,invited`,
      ].sort(),
    )
    const entries = (await actions(own)).slice(before.length + 1)
    expect(entries.map(({ action }) => action)).toEqual([
      'member.created',
      ...new Array(3).fill('member.invited'),
    ])
    // 200 at once
    const many = Array.from({ length: 200 }, (_, n) => ({ ...bob, email: `p${n}@example.com` }))
    const all = await ask('POST', path, { members: many })
    expect([all.status, all.body.data.length]).toEqual([201, 200])
    const renewed = shown((await ask('POST', path, { members: many.slice(0, 1) })).body.data)
    expect(renewed[0]?.id).toBe(shown(all.body.data)[0]?.id)
    expect(renewed[0]?.url).not.toBe(shown(all.body.data)[0]?.url)
  })

  test('are added, found, changed and removed with their keys', async () => {
    const own = await organization()
    const { ask } = own
    const made = await ask('POST', '/v1/members', {
      email: 'Ada@Example.com',
      display_name: 'Ada',
      role: 'developer',
      team: 'payments',
    })
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(`/v1/members/${made.body.id}`)
    const ada: unknown = {
      id: made.body.id,
      email: 'ada@example.com',
      display_name: 'Ada',
      role: 'developer',
      team: 'payments',
      aliases: [],
      joined_at: expect.stringMatching(/Z$/),
      last_signed_in_at: null,
      status: 'active',
    }
    expect(made.body as unknown).toEqual(ada)
    await ask('POST', '/v1/members', { email: 'bob@example.com', display_name: 'Bob Hope', role: 'auditor' })
    const found = async (query: string) =>
      (await ask('GET', `/v1/members?${query}`)).body.data.map(({ display_name }) => display_name)
    expect(await found('')).toEqual(['Ada', 'Bob Hope'])
    expect(await found('q=HOPE')).toEqual(['Bob Hope'])
    expect(await found('q=ada@')).toEqual(['Ada'])
    expect(await found('role=auditor')).toEqual(['Bob Hope'])
    expect(await found('per_page=1&page=2')).toEqual(['Bob Hope'])

    const changed = await ask('PATCH', `/v1/members/${made.body.id}`, {
      display_name: 'Ada L',
      role: 'admin',
      aliases: ['ADA@work.example'],
    })
    expect(changed.body).toMatchObject({
      display_name: 'Ada L',
      role: 'admin',
      aliases: ['ada@work.example'],
    })
    expect(changed.body).toMatchObject({ team: 'payments' })
    const { body: without } = await ask('PATCH', `/v1/members/${made.body.id}`, { team: null })
    expect(without).toMatchObject({ display_name: 'Ada L', team: null })
    const wrong = await ask('PATCH', `/v1/members/${made.body.id}`, { team: 'x'.repeat(101) })
    expect(wrong.body.details.map(({ field }) => field)).toEqual(['team'])
    const key = await newKey(db.sql, own.orgId, ['read'], 'ada@example.com')
    expect((await asker(app, key)('GET', '/v1/team')).status).toBe(200)
    expect((await ask('DELETE', `/v1/members/${made.body.id}`)).status).toBe(204)
    expect((await ask('DELETE', `/v1/members/${made.body.id}`)).status).toBe(404)
    expect(await found('')).toEqual(['Bob Hope'])
    const fresh = testApp(db.sql, { config: { rateLimits: PLENTY } })
    expect((await asker(fresh, key)('GET', '/v1/team')).status).toBe(401)
    expect((await actions(own)).map(({ action }) => action)).toEqual([
      'organization.created',
      'api_key.created',
      'member.created',
      'member.created',
      'member.updated',
      'member.updated',
      'api_key.created',
      'member.removed',
      'api_key.revoked',
    ])
  })

  test('have addresses that no other member has', async () => {
    const { ask } = await organization()
    const add = (email: string) => ask('POST', '/v1/members', { email, display_name: 'X', role: 'developer' })
    const { body } = await add('ada@example.com')
    await ask('PATCH', `/v1/members/${body.id}`, { aliases: ['a@work.example'] })
    for (const taken of ['ADA@example.com', 'a@work.example']) {
      const answer = await add(taken)
      expect([answer.status, answer.body.details.map(({ field }) => field)]).toEqual([400, ['email']])
    }
    const bob = await add('bob@example.com')
    const stolen = await ask('PATCH', `/v1/members/${bob.body.id}`, { aliases: ['a@work.example'] })
    expect([stolen.status, stolen.body.details.map(({ field }) => field)]).toEqual([400, ['aliases[0]']])
    expect((await ask('PATCH', '/v1/members/user_nobody', { role: 'admin' })).status).toBe(404)
  })
})

describe('the organization', () => {
  test('shows its settings with their defaults, and changes what is given', async () => {
    const own = await organization()
    const { ask } = own
    const before = (await ask('GET', '/v1/organization')).body as unknown
    expect(before).toEqual({
      id: own.orgId,
      slug: own.slug,
      name: own.slug,
      plan: 'cloud_enterprise',
      hide_members: false,
      member_visibility: 'all',
      retention_sessions_days: null,
      retention_pending: null,
      time_zone: 'UTC',
      time_zone_pending: null,
      badges: {
        visibility: 'private',
        token: null,
        labels: { quality: 'quality', security: 'security', cost: 'cost' },
        colors: { good: 'brightgreen', medium: 'yellow', bad: 'red' },
        thresholds: { good: 80, medium: 50 },
      },
      ticket_pattern: '[A-Z][A-Z0-9]{1,9}-[0-9]{1,7}',
      ticket_ignore: ['UTF-8', 'SHA-1', 'SHA-256', 'SHA-512', 'ISO-8859', 'RFC-*', 'CVE-*'],
      budget_action: 'warn',
      github_secret_set: false,
    })
    const changed = await ask('PATCH', '/v1/organization', {
      name: 'Acme',
      member_visibility: 'own',
      retention_sessions_days: 400,
      badges: {
        visibility: 'public',
        labels: { cost: 'spent' },
        thresholds: { good: 90 },
        colors: { bad: '#c00' },
      },
      ticket_pattern: 'ABC-[0-9]{1,5}',
      budget_action: 'block',
      github_secret: 'a secret of GitHub',
    })
    expect(changed.body as unknown).toEqual({
      ...(before as object),
      name: 'Acme',
      budget_action: 'block',
      member_visibility: 'own',
      retention_sessions_days: 400,
      retention_pending: { days: 400, sessions: 0, at: expect.any(String) },
      badges: {
        visibility: 'public',
        token: null,
        labels: { quality: 'quality', security: 'security', cost: 'spent' },
        colors: { good: 'brightgreen', medium: 'yellow', bad: '#c00' },
        thresholds: { good: 90, medium: 50 },
      },
      ticket_pattern: 'ABC-[0-9]{1,5}',
      github_secret_set: true,
    })
    expect((await asker(app, '')('GET', `/api/badge/${own.slug}/cost.json`)).body.label).toBe('spent')
    const [stored] = await db.sql<{ github_secret: Buffer }[]>`
      select github_secret from organizations where org_id = ${own.orgId}`
    expect(stored?.github_secret.includes('a secret of GitHub')).toBe(false)
    expect(JSON.stringify(await actions(own))).not.toContain('a secret of GitHub')
    const back = await ask('PATCH', '/v1/organization', {
      name: own.slug,
      member_visibility: 'all',
      retention_sessions_days: null,
      badges: { visibility: 'private', labels: { cost: null }, thresholds: null, colors: null },
      ticket_pattern: null,
      budget_action: 'warn',
      github_secret: null,
    })
    expect(back.body as unknown).toEqual(before)
  })

  test('refuses what cannot be', async () => {
    const { ask } = await organization()
    for (const [body, field] of [
      [{ plan: 'cloud_pro' }, 'plan'],
      [{ slug: 'other' }, 'slug'],
      [{ name: '  ' }, 'name'],
      [{ retention_sessions_days: 0 }, 'retention_sessions_days'],
      [{ badges: { thresholds: { good: 40 } } }, 'badges.thresholds.medium'],
      [{ badges: { colors: { good: 'javascript' } } }, 'badges.colors.good'],
      [{ badges: { labels: { cost: 'two\nlines' } } }, 'badges.labels.cost'],
      [{ badges: { token: 'mine' } }, 'badges.token'],
      [{ ticket_pattern: '(a)\\1' }, 'ticket_pattern'],
      [{ ticket_pattern: '[A-Z' }, 'ticket_pattern'],
      [{ ticket_pattern: 'A?' }, 'ticket_pattern'],
    ] as const) {
      const answer = await ask('PATCH', '/v1/organization', body)
      expect([body, answer.status, answer.body.details[0]?.field]).toEqual([body, 400, field])
    }
  })

  test('gets a badge token, which is shown once and can be removed', async () => {
    const { ask, slug } = await organization()
    const made = await ask('POST', '/v1/organization/badge-token')
    expect([made.status, made.headers.get('location')]).toEqual([201, '/v1/organization'])
    const token = String(made.body.token)
    const shown = async () =>
      (await asker(app, '')('GET', `/api/badge/${slug}/quality.json?token=${token}`)).body.message
    expect(await shown()).toBe('n/a')
    expect((await ask('GET', '/v1/organization')).body.badges).toMatchObject({ token: true })
    await ask('PATCH', '/v1/organization', { badges: { token: null } })
    expect(await shown()).toBe('unknown')
  })
})
