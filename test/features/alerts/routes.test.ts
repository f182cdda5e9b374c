import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createKey } from '../../../src/accounts/keys/queries.ts'
import { endOrganization } from '../../../src/server/erasure/queries.ts'
import { type Ask, asker, newKey, newOrg, type Org } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { addHook, receiver, webhookApp } from '../../support/webhook-api.ts'

// The routes of alerts and digests, and the addresses of Slack and Teams.

const NOW = new Date('2026-11-11T12:00:00.000Z')
const SLACK = 'https://hooks.slack.com/services/T0/B0/secret-path-abcd'

const database = await testsDatabase()
let app: ReturnType<typeof webhookApp>
beforeAll(() => {
  app = webhookApp(database, { now: () => NOW })
})

const open: ReturnType<typeof receiver>[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop()
})

const ALL = ['read', 'write', 'webhooks', 'admin']
async function admin(
  scopes = ALL,
  plan: 'cloud_pro' | 'cloud_team' = 'cloud_team',
): Promise<Org & { ask: Ask }> {
  const own = await newOrg(database.sql, { scopes, plan })
  return { ...own, ask: asker(app, own.key) }
}

const daily = {
  name: 'Cost of a day',
  metric: 'cost',
  window: 'day',
  above: 100,
  destinations: [{ type: 'webhook' }],
}
const add = async (ask: Ask, over: object = {}, headers = {}) =>
  await ask('POST', '/v1/alerts', { ...daily, ...over }, headers)

describe('an alert', () => {
  test('is made with its defaults, read, listed, changed and deleted', async () => {
    const { ask } = await admin()
    const made = await add(ask)
    expect(made.status).toBe(201)
    const { id } = made.body
    expect(made.body).toEqual({
      ...daily,
      id: expect.stringMatching(/^alert_[0-9a-z]{20}$/),
      scope: {},
      each: null,
      no_data: 'ok',
      renotify_minutes: null,
      enabled: true,
      state: 'ok',
      since: expect.stringMatching(/Z$/),
      last_value: null,
    } as never)
    expect(made.headers.get('location')).toBe(`/v1/alerts/${id}`)
    const second = (await add(ask, { name: 'Later', each: 'project' })).body
    const list = async (query = '') => (await ask('GET', `/v1/alerts${query}`)).body
    expect((await list()).data.map((alert) => alert.id)).toEqual([id, second.id])
    expect((await list()).pagination).toEqual({ page: 1, per_page: 50, total: 2 })
    expect((await list('?page=2&per_page=1')).data.map((alert) => alert.id)).toEqual([second.id])
    expect((await ask('GET', `/v1/alerts/${id}`)).body).toEqual(made.body)
    expect((await ask('GET', `/v1/alerts/${second.id}`)).body).toMatchObject({ keys: [] })
    // one threshold replaces the other
    const changed = await ask('PATCH', `/v1/alerts/${id}`, { times: 3, name: 'Three times', enabled: false })
    const { above: _above, ...rest } = made.body as Record<string, unknown>
    expect(changed.body).toEqual({ ...rest, times: 3, name: 'Three times', enabled: false } as never)
    expect((await ask('DELETE', `/v1/alerts/${id}`)).status).toBe(204)
    expect((await ask('DELETE', `/v1/alerts/${id}`)).status).toBe(404)
    expect((await ask('GET', `/v1/alerts/${id}`)).status).toBe(404)
    const audit = (await ask('GET', '/v1/audit?action=alert.*')).body
    expect(audit.data.map(({ action }) => action)).toEqual(
      ['deleted', 'updated', 'created', 'created'].map((done) => `alert.${done}`),
    )
  })

  const refused: [string, object, string][] = [
    ['no threshold', { above: undefined }, 'above'],
    ['two thresholds', { below: 1 }, 'above'],
    ['times of nothing', { above: undefined, times: 0 }, 'times'],
    ['an unknown metric', { metric: 'happiness' }, 'metric'],
    ['an unknown field', { tresholds: 1 }, 'tresholds'],
    ['an unknown field of the scope', { scope: { branch: 'main' } }, 'scope.branch'],
    ['no destination', { destinations: [] }, 'destinations'],
    ['eleven destinations', { destinations: Array(11).fill({ type: 'webhook' }) }, 'destinations'],
    ['an unknown destination', { destinations: [{ type: 'pager' }] }, 'destinations[0].type'],
    ['Slack without an address', { destinations: [{ type: 'slack' }] }, 'destinations[0].url'],
    ['a webhook with one', { destinations: [{ type: 'webhook', url: SLACK }] }, 'destinations[0].url'],
    [
      'a hidden address that is not stored',
      { destinations: [{ type: 'slack', url: 'https://hooks.slack.com/…abcd' }] },
      'destinations[0].url',
    ],
    [
      'a private address',
      { destinations: [{ type: 'teams', url: 'https://10.0.0.1/x' }] },
      'destinations[0].url',
    ],
    ['a name of 201 characters', { name: 'n'.repeat(201) }, 'name'],
    ['no name', { name: '' }, 'name'],
    ['0 minutes', { renotify_minutes: 0 }, 'renotify_minutes'],
    ['10,081 minutes', { renotify_minutes: 10_081 }, 'renotify_minutes'],
    ['a forecast of a day', { metric: 'forecast' }, 'window'],
    ['a budget of a week', { metric: 'budget_percent', window: 'week' }, 'window'],
    [
      'a budget of a model',
      { metric: 'budget_percent', window: 'month', scope: { model: 'm' } },
      'scope.model',
    ],
    [
      'a budget of an agent',
      { metric: 'budget_percent', window: 'month', scope: { agent: 'a' } },
      'scope.agent',
    ],
    ['endpoints of a month', { metric: 'failing_endpoints', window: 'month' }, 'window'],
    ['endpoints of a project', { metric: 'failing_endpoints', scope: { project: 'p' } }, 'scope.project'],
    ['each with endpoints', { metric: 'failing_endpoints', each: 'project' }, 'each'],
    ['each with machines', { metric: 'silent_machines', each: 'member' }, 'each'],
    ['machines of a team', { metric: 'silent_machines', scope: { team: 't' } }, 'scope.team'],
    ['an unknown member', { scope: { member: 'nobody@example.com' } }, 'scope.member'],
  ]
  test.each(refused)('%s is refused', async (_what, over, field) => {
    const { ask } = await admin()
    const { status, body } = await add(ask, over)
    expect([status, body.code, body.details?.[0]?.field]).toEqual([400, 'VALIDATION_ERROR', field])
    // a change that would make it so, too
    const { id } = (await add(ask)).body
    if (over === refused[0]?.[1]) return
    const change = await ask('PATCH', `/v1/alerts/${id}`, { ...over, ...('below' in over && { above: 1 }) })
    expect([change.status, change.body.code]).toEqual([400, 'VALIDATION_ERROR'])
  })

  test('names its member by id, whatever is given', async () => {
    const { ask } = await admin()
    const member = await ask('POST', '/v1/members', {
      email: 'ada@example.com',
      display_name: 'Ada',
      role: 'developer',
    })
    const { body } = await add(ask, { scope: { member: 'ADA@example.com', project: 'p' } })
    expect(body.scope).toEqual({ member: member.body.id, project: 'p' })
    expect((await ask('PATCH', `/v1/alerts/${body.id}`, { scope: {} })).body.scope).toEqual({})
  })

  test('is made once for an idempotency key', async () => {
    const { ask } = await admin()
    const headers = { 'idempotency-key': 'once' }
    const [first, again] = [await add(ask, {}, headers), await add(ask, {}, headers)]
    expect([again.status, again.body]).toEqual([201, first.body])
    expect((await ask('GET', '/v1/alerts')).body.data).toHaveLength(1)
    expect((await add(ask, { above: 5 }, headers)).status).toBe(400)
  })

  test('is one of at most 100', async () => {
    const { ask } = await admin()
    for (let count = 0; count < 100; count += 1) expect((await add(ask)).status).toBe(201)
    expect((await add(ask)).body).toMatchObject({ code: 'VALIDATION_ERROR' })
  })

  test('needs admin, and cost:read to be read; every plan has it', async () => {
    const { ask, orgId } = await admin(['admin'], 'cloud_pro')
    const { status, body } = await add(ask)
    expect(status).toBe(201)
    for (const [scope, read] of [
      ['cost:read', 200],
      ['read', 200],
      ['webhooks', 403],
      ['write', 403],
    ] as const) {
      const { key } = await createKey(database.sql, orgId, { name: scope, scopes: [scope] })
      const by = asker(app, key)
      expect([scope, (await by('GET', `/v1/alerts/${body.id}`)).status]).toEqual([scope, read])
      expect([scope, (await add(by)).status]).toEqual([scope, 403])
      expect((await by('DELETE', `/v1/alerts/${body.id}`)).status).toBe(403)
      expect((await by('POST', `/v1/alerts/${body.id}/test`)).status).toBe(403)
    }
  })
})

test('a developer who sees only their own figures sees no others in an alert', async () => {
  const { ask, orgId } = await admin()
  const member = async (name: string) =>
    (
      await ask('POST', '/v1/members', {
        email: `${name}@example.com`,
        display_name: name,
        role: 'developer',
      })
    ).body.id
  const [ada, bob] = [await member('ada'), await member('bob')]
  const of = async (over: object) => (await add(ask, over)).body.id
  const [mine, theirs, each] = [
    await of({ scope: { member: ada } }),
    await of({ scope: { member: bob } }),
    await of({ each: 'member' }),
  ]
  const states = Object.fromEntries(
    [ada, bob].map((id) => [id, { state: 'firing', since: 0, value: 7, told: 0 }]),
  )
  await database.sql`
    update notification_rules set states = ${JSON.stringify(states)}::text::jsonb
    where org_id = ${orgId} and id = ${each}`
  await ask('PATCH', '/v1/organization', { member_visibility: 'own' })
  const key = await newKey(database.sql, orgId, ['cost:read', 'team:read'], 'ada@example.com')
  const by = asker(app, key)
  expect((await by('GET', '/v1/alerts')).body.data.map(({ id }) => id)).toEqual([mine, each])
  expect((await by('GET', `/v1/alerts/${theirs}`)).status).toBe(404)
  expect((await by('GET', `/v1/alerts/${each}`)).body.keys).toMatchObject([{ key: ada, last_value: 7 }])
  expect((await by('GET', `/v1/alerts/${mine}/deliveries`)).status).toBe(403)
})

test('a digest is made by its name, changed and deleted', async () => {
  const { ask } = await admin()
  const { status, body, headers } = await ask('POST', '/v1/digests', { name: 'Week' })
  expect([status, headers.get('location')]).toEqual([201, `/v1/digests/${body.id}`])
  expect(body).toEqual({
    ...{ id: expect.stringMatching(/^digest_/), name: 'Week', weekday: 'monday', hour: 8, enabled: true },
    ...{ destinations: [{ type: 'webhook' }], last_sent_at: null },
  } as never)
  const slack = [{ type: 'slack', url: SLACK }]
  const changed = await ask('PATCH', `/v1/digests/${body.id}`, {
    weekday: 'sunday',
    hour: 23,
    destinations: slack,
  })
  const shown = [{ type: 'slack', url: 'https://hooks.slack.com/…abcd' }]
  expect(changed.body).toEqual({ ...body, weekday: 'sunday', hour: 23, destinations: shown } as never)
  expect((await ask('GET', '/v1/digests')).body.data).toEqual([changed.body] as never)
  for (const wrong of [{ hour: 24 }, { weekday: 'Monday' }, { name: '' }, { minute: 1 }, { hour: 1.5 }])
    expect((await ask('PATCH', `/v1/digests/${body.id}`, wrong)).status).toBe(400)
  expect((await ask('POST', '/v1/digests', { hour: 8 })).body.details).toMatchObject([{ field: 'name' }])
  for (let count = 1; count < 20; count += 1) await ask('POST', '/v1/digests', { name: 'Week' })
  expect((await ask('POST', '/v1/digests', { name: 'Week' })).status).toBe(400)
  expect((await ask('DELETE', `/v1/digests/${body.id}`)).status).toBe(204)
  expect((await ask('GET', `/v1/digests/${body.id}`)).status).toBe(404)
})

test('an address of Slack or Teams is shown by its host and last four characters, wherever', async () => {
  const { ask, orgId } = await admin([...ALL, 'audit:read'])
  const destinations = [{ type: 'slack', url: SLACK }, { type: 'webhook' }]
  const { body } = await add(ask, { destinations }, { 'idempotency-key': 'a' })
  const shown = [{ type: 'slack', url: 'https://hooks.slack.com/…abcd' }, { type: 'webhook' }]
  expect(body.destinations).toEqual(shown)
  // sent back as it is shown, it stays
  const teams = { type: 'teams', url: 'https://example.org/workflows/1?sig=wxyz' }
  const sealed = async () =>
    await database.sql`
      select e.id, e.secret from webhook_endpoints e where e.org_id = ${orgId} order by e.created_at, e.id`
  const [before] = await sealed()
  const more = await ask('PATCH', `/v1/alerts/${body.id}`, { destinations: [teams, ...shown] })
  expect(more.body.destinations).toEqual([{ type: 'teams', url: 'https://example.org/…wxyz' }, ...shown])
  expect((await sealed())[0]).toEqual(before)
  expect(await sealed()).toHaveLength(2)
  // it is no endpoint of the API, and none of the twenty
  expect((await ask('GET', '/v1/webhooks')).body.data).toEqual([])
  expect((await ask('GET', `/v1/webhooks/${before?.id}`)).status).toBe(404)
  const texts = [
    (await ask('GET', '/v1/audit')).text,
    (await ask('GET', `/v1/alerts/${body.id}`)).text,
    (await ask('GET', `/v1/alerts/${body.id}/deliveries`)).text,
    ...(await Promise.all(
      ['audit_log', 'notification_rules', 'webhook_endpoints', 'webhook_idempotency_keys'].map(
        async (table) =>
          JSON.stringify(
            await database.sql`select t::text from ${database.sql(table)} t where t.org_id = ${orgId}`,
          ),
      ),
    )),
  ]
  for (const text of texts) expect(text).not.toMatch(/secret-path|sig=/)
  expect(texts[0]).toContain('alert.updated')
  // without it there is no endpoint any more
  await ask('PATCH', `/v1/alerts/${body.id}`, { destinations: [{ type: 'webhook' }] })
  expect(await sealed()).toEqual([] as never)
  await database.sql.begin((tx) => endOrganization(tx, orgId))
})

describe('a test of an alert', () => {
  test('goes to all destinations at once, and stands in its history', async () => {
    const { ask } = await admin()
    const [slack, teams, hook] = [receiver(), receiver(() => new Response('no', { status: 500 })), receiver()]
    open.push(slack, teams, hook)
    const endpoint = await addHook(ask, hook.url, { events: ['alert.fired'] })
    const destinations = [
      { type: 'slack', url: slack.url },
      { type: 'teams', url: teams.url },
      { type: 'webhook' },
    ]
    const { id } = (await add(ask, { destinations })).body
    const { status, body } = await ask('POST', `/v1/alerts/${id}/test`)
    expect([status, body.results]).toEqual([
      200,
      [
        { type: 'slack', success: true, status_code: 200, error: null },
        { type: 'teams', success: false, status_code: 500, error: expect.any(String) },
        { type: 'webhook', success: true, status_code: 200, error: null },
      ],
    ] as never)
    const event = JSON.parse(hook.got[0]?.body ?? '')
    expect(event).toMatchObject({
      event: 'alert.fired',
      data: { alert_id: id, test: true, state: 'firing', key: null },
    })
    // Slack and Teams get their own form, without signatures
    expect(Object.keys(JSON.parse(slack.got[0]?.body ?? ''))).toEqual(['text', 'blocks'])
    expect(JSON.stringify(slack.got[0]?.headers)).not.toContain('signature')
    expect(JSON.parse(teams.got[0]?.body ?? '')).toMatchObject({ type: 'message' })
    const list = await ask('GET', `/v1/alerts/${id}/deliveries`)
    expect(list.body.pagination.total).toBe(3)
    expect(list.body.data.map((delivery) => [delivery.test, delivery.event])).toEqual(
      Array(3).fill([true, 'alert.fired']),
    )
    const failed = (await ask('GET', `/v1/alerts/${id}/deliveries?status=failed`)).body.data
    const detail = await ask('GET', `/v1/alerts/${id}/deliveries/${failed[0]?.id}`)
    expect(detail.body).toMatchObject({ test: true, status: 'failed', attempts: [{ status_code: 500 }] })
    expect(detail.body.request).toEqual({ body: teams.got[0]?.body as string })
    expect(detail.text).not.toContain(teams.url)
    const again = await ask('POST', `/v1/alerts/${id}/deliveries/${failed[0]?.id}/redeliver`)
    expect([again.status, again.body.status, again.body.test]).toEqual([202, 'pending', true] as never)
    expect((await ask('GET', `/v1/alerts/${id}`)).body.state).toBe('ok')
    await ask('PATCH', `/v1/alerts/${id}`, { destinations: destinations.slice(2) })
    const removed = `/v1/alerts/${id}/deliveries/${failed[0]?.id}`
    expect((await ask('POST', `${removed}/redeliver`)).status).toBe(404)
    expect((await ask('GET', removed)).body.status).toBe('cancelled')
    // the endpoint's own history has what was sent to it
    expect((await ask('GET', `/v1/webhooks/${endpoint.id}/deliveries`)).body.pagination.total).toBe(1)
    const digest = (await ask('POST', '/v1/digests', { name: 'W', destinations: destinations.slice(0, 1) }))
      .body
    expect((await ask('POST', `/v1/digests/${digest.id}/test`)).body.results).toMatchObject([
      { success: true },
    ])
    expect((await ask('GET', `/v1/digests/${digest.id}`)).body.last_sent_at).toBeNull()
    expect((await ask('GET', `/v1/digests/${digest.id}/deliveries`)).body.data).toMatchObject([
      { event: 'digest.ready', test: true },
    ])
  })

  test('has the figure of now, of one of its keys, and what it is compared with', async () => {
    const { ask } = await admin()
    const hook = receiver()
    open.push(hook)
    await addHook(ask, hook.url, { events: ['alert.fired'] })
    const sessions = Array.from({ length: 15 }, (_, back) => ({
      ...{ type: 'session', id: `sess_${back}`, project_name: 'web', estimated_cost: back === 0 ? 9 : 2 },
      created_at: new Date(NOW.getTime() - back * 86_400_000).toISOString(),
    }))
    await ask('POST', '/v1/sync', { records: sessions })
    const { id } = (await add(ask, { above: undefined, times: 3, each: 'project' })).body
    await ask('POST', `/v1/alerts/${id}/test`)
    expect(JSON.parse(hook.got[0]?.body ?? '').data).toMatchObject({
      ...{ key: 'web', value: 9, threshold: 6, top: [{ value: 9 }] },
    })
  })

  test('says so where no endpoint subscribes', async () => {
    const { ask } = await admin()
    const { id } = (await add(ask)).body
    const { body } = await ask('POST', `/v1/alerts/${id}/test`)
    expect(body.results).toMatchObject([{ type: 'webhook', success: false, status_code: null }])
  })
})
