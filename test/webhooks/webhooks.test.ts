import { describe, expect, test } from 'bun:test'
import { checkHost } from '../../src/webhooks/endpoint-check.ts'
import { createEgress } from '../../src/webhooks/http/egress.ts'
import { deleteOldIdempotencyKeys } from '../../src/webhooks/idempotency-queries.ts'
import { EVENT_NAMES } from '../../src/webhooks/outbox/catalogue.ts'
import { cancelOfDeletedEndpoints } from '../../src/webhooks/outbox/end.ts'
import { CHANNEL } from '../../src/webhooks/outbox/events.ts'
import { type Ask, asker, newOrg, PLENTY, testApp } from '../support/api.ts'
import { testsDatabase } from '../support/postgres.ts'
import { addHook, auditOf, hooked, webhookApp } from '../support/webhook-api.ts'
import { addDeliveries, expectCounts } from '../support/webhook-rows.ts'

const db = await testsDatabase()
const URL_OK = 'https://hooks.example.com/in?x=1#part'

const app = testApp(db.sql, { config: { rateLimits: PLENTY, webhookMaxEndpoints: 10_000 } })
const own = await hooked(db)
const ask = asker(app, own.key)

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const fresh = async (over: Parameters<typeof testApp>[1] = {}) => {
  const owner = await hooked(db)
  return { owner, ask: asker(over.config === undefined ? app : testApp(db.sql, over), owner.key) }
}

describe('making', () => {
  test('answers with the endpoint, its secret, and where it is', async () => {
    const made = await ask('POST', '/v1/webhooks', {
      url: URL_OK,
      events: ['session.completed'],
      description: 'x',
    })
    expect(made.status).toBe(201)
    const { secret, ...endpoint } = made.body
    expect<unknown>(endpoint).toEqual({
      id: expect.stringMatching(/^hook_[0-9a-z]{20}$/),
      url: URL_OK,
      events: ['session.completed'],
      enabled: true,
      description: 'x',
      created_at: TIME,
      updated_at: endpoint.created_at,
      secret_hint: secret.slice(-4),
      health: {
        consecutive_failures: 0,
        last_success_at: null,
        last_failure_at: null,
        last_status_code: null,
      },
    })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
    expect(made.headers.get('location')).toBe(`/v1/webhooks/${endpoint.id}`)
    expect(made.headers.get('cache-control')).toBe('no-store')
    const found = await ask('GET', made.headers.get('location') ?? '')
    expect([found.status, JSON.parse(found.text)]).toEqual([200, endpoint])
    expect(await ask('GET', `/api/v1/webhooks/${endpoint.id}`)).toMatchObject({
      status: 200,
      text: found.text,
    })
  })

  test.each([
    ['a bare *', '*', ['*']],
    ['* in an array', ['*'], ['*']],
    ['* with others', ['session.completed', '*'], ['*']],
    [
      'a name twice',
      ['team.member_joined', 'security.alert', 'team.member_joined'],
      ['team.member_joined', 'security.alert'],
    ],
    ['all names', EVENT_NAMES, EVENT_NAMES],
    ['10,000 times the same', Array(10_000).fill('security.alert'), ['security.alert']],
  ])('events: %s', async (_name, events, stored) => {
    expect((await addHook(ask, URL_OK, { events })).events).toEqual(stored)
  })

  test.each<[string, unknown, unknown]>([
    ['none', undefined, null],
    ['null', null, null],
    ['empty', '', ''],
    ['500 characters of four bytes', '😀'.repeat(500), '😀'.repeat(500)],
    ['control characters', 'a\u0001\n\tb', 'a\u0001\n\tb'],
  ])('description: %s', async (_name, description, stored) => {
    expect((await addHook(ask, URL_OK, { description })).description).toBe(stored as string)
  })

  test('is in the prefix that was asked, and behind the path of a proxy', async () => {
    const { ask: behind } = await fresh({ config: { publicUrl: 'https://a.example/stats' } })
    const made = await behind('POST', '/api/v1/webhooks', { url: URL_OK, events: '*', enabled: false })
    expect(made.headers.get('location')).toBe(`/stats/api/v1/webhooks/${made.body.id}`)
    expect(made.body.enabled).toBe(false)
  })

  const right = { url: URL_OK, events: '*' }
  test.each<[string, string, unknown]>([
    ['no url', 'url', { events: '*' }],
    ['no events', 'events', { url: URL_OK }],
    ['an id', 'id', { ...right, id: 'hook_1' }],
    ['an organization', 'org_id', { ...right, org_id: 'org_1' }],
    ['a secret', 'secret', { ...right, secret: 'whsec_1' }],
    ['created_at', 'created_at', { ...right, created_at: '2026-01-01T00:00:00Z' }],
    ['a mistyped name', 'event', { ...right, event: '*' }],
    ['no events at all', 'events', { ...right, events: [] }],
    ['an unknown event', 'events', { ...right, events: ['session.done'] }],
    [
      '10,000 unknown events',
      'events',
      { ...right, events: Array.from({ length: 10_000 }, (_, n) => `e${n}`) },
    ],
    ['nested events', 'events', { ...right, events: [['*']] }],
    ['events of another type', 'events', { ...right, events: { 0: '*' } }],
    ['a bare name', 'events', { ...right, events: 'session.completed' }],
    ['the test event', 'events', { ...right, events: ['webhook.test'] }],
    ['names of prototypes', 'events', { ...right, events: ['__proto__', 'constructor', 'toString'] }],
    ['events null', 'events', { ...right, events: null }],
    ['enabled as text', 'enabled', { ...right, enabled: 'true' }],
    ['enabled null', 'enabled', { ...right, enabled: null }],
    ['enabled 1', 'enabled', { ...right, enabled: 1 }],
    ['a description too long', 'description', { ...right, description: '😀'.repeat(501) }],
    ['a description of 900 KB', 'description', { ...right, description: 'x'.repeat(900_000) }],
    ['a description of another type', 'description', { ...right, description: ['x'] }],
    ['NUL', 'description', { ...right, description: 'a\0b' }],
    [
      'half a character',
      'description',
      '{"url":"https://a.example.com/","events":"*","description":"\\ud800"}',
    ],
    ['url as array', 'url', { ...right, url: [URL_OK] }],
    ['url null', 'url', { ...right, url: null }],
    ['url empty', 'url', { ...right, url: '' }],
    ['url of 10 KB', 'url', { ...right, url: `https://hooks.example.com/${'x'.repeat(10_000)}` }],
    ['http', 'url', { ...right, url: 'http://hooks.example.com/' }],
    ['loopback', 'url', { ...right, url: 'https://127.0.0.1/' }],
    ['metadata', 'url', { ...right, url: 'https://169.254.169.254/latest' }],
  ])('refuses %s, naming the field', async (_name, field, body) => {
    const before = (await ask('GET', '/v1/webhooks')).text
    const answer = await ask('POST', '/v1/webhooks', body)
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(answer.body.details.map((problem) => problem.field)).toContain(field)
    expect(answer.headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/)
    expect(answer.text.length).toBeLessThan(2_000)
    expect((await ask('GET', '/v1/webhooks')).text).toBe(before)
    // the same of a change, which ignores what cannot be changed
    if (field === 'id' || field === 'created_at') return
    if (field === 'url' && typeof body === 'object' && !Object.hasOwn(body ?? {}, 'url')) return
    if (field === 'events' && typeof body === 'object' && !Object.hasOwn(body ?? {}, 'events')) return
    const { id } = await addHook(ask)
    const changed = await ask('PATCH', `/v1/webhooks/${id}`, body)
    expect([changed.status, changed.body.details.map((problem) => problem.field)]).toEqual([
      400,
      expect.arrayContaining([field]),
    ])
  })

  test('lists the known events beside an unknown one, and all that is wrong at once', async () => {
    const { body } = await ask('POST', '/v1/webhooks', { url: 'x', events: ['nothing'], description: 1 })
    expect(body.details.map(({ field }) => field)).toEqual(['url', 'events', 'description'])
    for (const name of [...EVENT_NAMES, 'nothing']) expect(body.error).toContain(name)
  })

  test('takes no more than the limit, however many come at once', async () => {
    const limited = await fresh({ config: { rateLimits: PLENTY, webhookMaxEndpoints: 3 } })
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => limited.ask('POST', '/v1/webhooks', { url: URL_OK, events: '*' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 400, 400, 400, 400, 400])
    const refused = answers.find(({ status }) => status === 400)
    expect(refused?.body).toMatchObject({
      code: 'VALIDATION_ERROR',
      error: expect.stringContaining('at most 3'),
    })
    const { data } = (await limited.ask('GET', '/v1/webhooks')).body
    expect(data).toHaveLength(3)
    await limited.ask('DELETE', `/v1/webhooks/${data[0]?.id}`)
    expect((await limited.ask('POST', '/v1/webhooks', { url: URL_OK, events: '*' })).status).toBe(201)
  })

  test('refuses a name that means a refused address, and takes one that nobody knows in time', async () => {
    const egress = createEgress({ allowCidrs: [], allowHttp: false, ownAddresses: [] })
    const check = (...answers: Parameters<typeof checkHost>[2][]) =>
      Promise.all(answers.map((resolve) => checkHost(URL_OK, egress, resolve)))
    const problem = { code: 'VALIDATION_ERROR', options: { details: [{ field: 'url' }] } }
    await expect(check(async () => ['93.184.216.34', '10.0.0.1'])).rejects.toMatchObject(problem)
    const unknown = Object.assign(new Error('unknown'), { code: 'ENOTFOUND' })
    await check(
      async () => ['93.184.216.34'],
      () => Promise.reject(unknown),
      () => new Promise(() => {}),
    )
    const { ask } = await fresh()
    const made = await ask('POST', '/v1/webhooks', { url: 'https://no-such-name.example.com/', events: '*' })
    expect(made.status).toBe(201)
  })
})

describe('Idempotency-Key', () => {
  const body = { url: URL_OK, events: '*', description: 'once' }
  const post = (by: Ask, key: string, sent: unknown = body) =>
    by('POST', '/v1/webhooks', sent, { 'idempotency-key': key })

  test('gives the first answer again, byte for byte, however the fields are ordered', async () => {
    const { ask } = await fresh({ config: { rateLimits: PLENTY, webhookMaxEndpoints: 1 } })
    const first = await post(ask, 'k')
    expect(first.status).toBe(201)
    const again = await post(ask, 'k', { description: 'once', events: '*', url: URL_OK })
    expect([again.status, again.text]).toEqual([201, first.text])
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
    // the answer is repeated even if the endpoint was changed or removed since
    await ask('DELETE', `/v1/webhooks/${first.body.id}`)
    expect((await post(ask, 'k')).text).toBe(first.text)
    expect((await ask('GET', '/v1/webhooks')).body.data).toEqual([])
    expect(await auditOf(ask, 'webhook.created')).toHaveLength(1)
  })

  test('with another body is refused', async () => {
    const { ask } = await fresh()
    await post(ask, 'k')
    const other = await post(ask, 'k', { ...body, description: 'twice' })
    expect([other.status, other.body.details]).toEqual([
      400,
      [{ field: 'Idempotency-Key', message: expect.any(String) }],
    ])
    expect((await ask('GET', '/v1/webhooks')).body.data).toHaveLength(1)
  })

  test('at once makes one endpoint', async () => {
    const { ask } = await fresh()
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(ask, 'k')))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await ask('GET', '/v1/webhooks')).body.data).toHaveLength(1)
  })

  test('is the organization’s own, and not kept for what failed', async () => {
    const [one, two] = [await fresh(), await fresh()]
    expect((await post(one.ask, 'k', { ...body, url: 'x' })).status).toBe(400)
    const [a, b] = [await post(one.ask, 'k'), await post(two.ask, 'k')]
    expect([a.status, b.status, a.body.id === b.body.id]).toEqual([201, 201, false])
  })

  test('is forgotten after 24 hours', async () => {
    const { ask, owner } = await fresh()
    const first = await post(ask, 'k')
    const age = (hours: number) => db.sql`
      update webhook_idempotency_keys k
      set created_at = now() - ${hours} * interval '1 hour'
      where k.org_id = ${owner.orgId}`
    await age(23.9)
    expect((await post(ask, 'k')).text).toBe(first.text)
    await deleteOldIdempotencyKeys(db.sql)
    await age(24.1)
    const second = await post(ask, 'k', { ...body, description: 'later' })
    expect([second.status, second.body.id === first.body.id]).toEqual([201, false])
    await age(24.1)
    expect(await deleteOldIdempotencyKeys(db.sql)).toBe(1)
  })

  test.each([
    ['empty', ''],
    ['too long', 'x'.repeat(256)],
    ['not printable', 'a\tb'],
    ['not ASCII', 'ä'],
  ])('%s is refused', async (_name, key) => {
    const answer = await post(ask, key)
    expect([answer.status, answer.body.details[0]?.field]).toEqual([400, 'Idempotency-Key'])
  })

  test('of 255 characters is taken', async () => {
    expect((await post(ask, 'x'.repeat(255))).status).toBe(201)
  })
})

describe('listing', () => {
  test('is oldest first, without pages', async () => {
    const { ask } = await fresh()
    expect((await ask('GET', '/v1/webhooks')).text).toBe('{"data":[]}')
    const ids = []
    for (let count = 0; count < 5; count += 1) ids.push((await addHook(ask)).id)
    const { body } = await ask('GET', '/v1/webhooks')
    expect(body.data.map(({ id }) => id)).toEqual(ids)
    expect(Object.keys(body)).toEqual(['data'])
  })

  test('the catalogue has every event with its schema and an example', async () => {
    const { status, body } = await ask('GET', '/v1/webhooks/events')
    expect([status, body.data.map(({ name }) => name)]).toEqual([200, EVENT_NAMES])
    for (const { name, meaning, schema, example } of body.data) {
      expect([typeof meaning, schema]).toEqual(['string', expect.objectContaining({ type: 'object' })])
      expect(example).toMatchObject({ event: name, type: name, api_version: 'v1', data: {} })
    }
  })
})

describe('changing', () => {
  test('changes what is given, and answers with the whole', async () => {
    const { ask } = await fresh()
    const { secret: _secret, ...made } = await addHook(ask, URL_OK, { description: 'x' })
    const steps: object[] = [
      { url: 'https://other.example.com/' },
      { events: ['security.alert', 'security.alert'] },
      { enabled: false },
      { description: 'y' },
      { description: null },
      { events: '*', enabled: true, description: 'z', url: URL_OK },
    ]
    let known: Record<string, unknown> = { ...made }
    for (const change of steps) {
      const { status, body } = await ask('PATCH', `/v1/webhooks/${made.id}`, change)
      const wanted: Record<string, unknown> = { ...known, ...change, updated_at: body.updated_at }
      if ('events' in change) wanted.events = change.events === '*' ? ['*'] : ['security.alert']
      expect([status, body as unknown]).toEqual([200, wanted])
      expect(String(body.updated_at) > String(known.updated_at)).toBe(true)
      known = { ...body }
    }
    const entries = await auditOf(ask, 'webhook.updated')
    expect(entries).toHaveLength(steps.length)
    expect(entries[1]?.details).toEqual({
      ids: [made.id],
      url: expect.any(String),
      changed: { description: null },
    })
  })

  test('no entry of the audit log has the path of an address: it may be a credential', async () => {
    const { ask } = await fresh()
    const { id } = await addHook(ask, 'https://hooks.example.com/services/T000/hush')
    await ask('PATCH', `/v1/webhooks/${id}`, { url: 'https://hooks.example.com/in?token=hush' })
    await ask('PATCH', `/v1/webhooks/${id}`, { url: 'https://plain.example.com/' })
    await ask('POST', `/v1/webhooks/${id}/rotate-secret`, {})
    await ask('DELETE', `/v1/webhooks/${id}`)
    const { text, body } = await ask('GET', '/v1/audit?action=webhook.*')
    expect(text).not.toContain('hush')
    const urls = (body.data as unknown as { details: { url: string; changed?: { url: string } } }[]).map(
      ({ details }) => [details.url, details.changed?.url],
    )
    expect(urls).toEqual([
      ['https://plain.example.com', undefined],
      ['https://plain.example.com', undefined],
      ['https://hooks.example.com/…', 'https://plain.example.com'],
      ['https://hooks.example.com/…', 'https://hooks.example.com/…'],
      ['https://hooks.example.com/…', undefined],
    ])
  })

  test('nothing, or what it is already, changes nothing', async () => {
    const { ask } = await fresh()
    const { id } = await addHook(ask, URL_OK, { description: 'x' })
    const before = await ask('GET', `/v1/webhooks/${id}`)
    for (const same of [{}, { enabled: true }, { events: ['*'], description: 'x', url: URL_OK }]) {
      expect((await ask('PATCH', `/v1/webhooks/${id}`, same)).text).toBe(before.text)
    }
    expect(await auditOf(ask, 'webhook.updated')).toEqual([])
  })

  test('wakes the worker', async () => {
    const { ask, owner } = await fresh()
    const { id } = await addHook(ask, URL_OK, { enabled: false })
    const heard = Promise.withResolvers<string>()
    const listener = db.pool(1)
    await listener.listen(CHANNEL, (payload) => payload === owner.orgId && heard.resolve(payload))
    await ask('PATCH', `/v1/webhooks/${id}`, { enabled: true })
    expect(await heard.promise).toBe(owner.orgId)
    await listener.end({ timeout: 1 })
  })
})

describe('removing', () => {
  test('is once, and what was there is as what never was', async () => {
    const { ask } = await fresh()
    const { id } = await addHook(ask)
    const gone = await ask('DELETE', `/v1/webhooks/${id}`)
    expect([gone.status, gone.text]).toEqual([204, ''])
    const known = (text: string) => text.replace(/"request_id":"[^"]*"/, '')
    const never = known((await ask('GET', '/v1/webhooks/hook_00000000000000000000')).text)
    for (const [method, path, body] of [
      ['DELETE', id],
      ['GET', id],
      ['PATCH', id, {}],
      ['PATCH', id, { url: 'https://other.example.com/' }],
      ['POST', `${id}/rotate-secret`],
      ['POST', `${id}/test`],
      ['GET', `${id}/deliveries`],
      ['GET', `${id}/deliveries/dlv_1`],
      ['POST', `${id}/deliveries/dlv_1/redeliver`],
      ['POST', `${id}/recover`, { since: '2026-01-01T00:00:00Z' }],
      ['POST', `${id}/recover`, { since: '2026-01-01T00:00:00Z', dry_run: true }],
      ['GET', 'dlv_1'],
      ['GET', 'HOOK_1'],
      ['GET', `${id}%00`],
      ['GET', 'x'.repeat(5_000)],
    ] as const) {
      const answer = await ask(method, `/v1/webhooks/${path}`, body)
      expect([path.slice(0, 60), answer.status, known(answer.text)]).toEqual([path.slice(0, 60), 404, never])
    }
  })

  test('cancels what waits, and not what is in flight; housekeeping cancels the rest', async () => {
    const { ask, owner } = await fresh()
    const { sql } = db
    const { id } = await addHook(ask)
    const other = await addHook(ask)
    await addDeliveries(sql, owner.orgId, other.id, 3)
    await addDeliveries(sql, owner.orgId, id, 10_003)
    await sql`
      update webhook_queue q
      set leased = true, attempts = 1, claimed_at = now(), due_at = now() + interval '1 minute'
      where q.org_id = ${owner.orgId}
        and q.delivery_id = (
          select min(f.id) from webhook_deliveries f where f.org_id = ${owner.orgId} and f.endpoint_id = ${id}
        )`
    await sql`
      insert into webhook_health (org_id, endpoint_id, consecutive_failures)
      values (${owner.orgId}, ${id}, 1)`
    expect((await ask('DELETE', `/v1/webhooks/${id}`)).status).toBe(204)
    const statuses = async () => {
      const rows = await sql<{ status: string; leased: boolean; deliveries: number }[]>`
        select d.status, coalesce(q.leased, false) as leased, count(*)::int as deliveries
        from webhook_deliveries d
        left join webhook_queue q on q.org_id = d.org_id and q.delivery_id = d.id
        where d.org_id = ${owner.orgId} and d.endpoint_id = ${id}
        group by 1, 2
        order by 1, 2`
      return rows.map(({ status, leased, deliveries }) => [status, leased, deliveries])
    }
    expect(await statuses()).toEqual([
      ['cancelled', false, 10_000],
      ['pending', false, 2],
      ['pending', true, 1],
    ])
    expect([
      ...(await sql`select h.endpoint_id from webhook_health h where h.org_id = ${owner.orgId}`),
    ]).toEqual([])
    // the attempt in flight failed after all, and said so of the endpoint
    await sql`
      update webhook_deliveries d
      set status = 'pending_retry'
      from webhook_queue q
      where d.org_id = ${owner.orgId} and q.org_id = d.org_id and q.delivery_id = d.id and q.leased`
    await sql`
      update webhook_queue q
      set leased = false, failures = 1
      where q.org_id = ${owner.orgId} and q.leased`
    await sql`
      update webhook_delivery_counts c
      set deliveries = c.deliveries - 1
      where c.org_id = ${owner.orgId} and c.endpoint_id = ${id} and c.status = 'pending'`
    await sql`
      insert into webhook_delivery_counts (org_id, endpoint_id, day, event, status, deliveries)
      values (${owner.orgId}, ${id}, (now() at time zone 'UTC')::date, 'session.completed', 'pending_retry', 1)`
    await sql`
      insert into webhook_health (org_id, endpoint_id, consecutive_failures)
      values (${owner.orgId}, ${id}, 1), (${owner.orgId}, ${other.id}, 1)`
    expect(await cancelOfDeletedEndpoints(sql)).toBe(3)
    expect(await statuses()).toEqual([['cancelled', false, 10_003]])
    const health = await sql`select h.endpoint_id from webhook_health h where h.org_id = ${owner.orgId}`
    expect([...health]).toEqual([{ endpoint_id: other.id }])
    expect(await expectCounts(sql, owner.orgId)).toContainEqual(
      expect.objectContaining({ endpoint_id: other.id, deliveries: '3' }),
    )
  })
})

describe('rotating the secret', () => {
  test('gives a new one; the one before ends when it was said', async () => {
    const { ask, owner } = await fresh()
    const { id, secret } = await addHook(ask)
    const rotate = (body?: unknown) => ask('POST', `/v1/webhooks/${id}/rotate-secret`, body)
    const first = await rotate()
    expect([first.status, first.body]).toEqual([
      200,
      { id, secret: expect.stringMatching(/^whsec_/), previous_secret_expires_at: TIME } as never,
    ])
    expect(first.body.secret).not.toBe(secret)
    const graceMs = Date.parse(String(first.body.previous_secret_expires_at)) - Date.now()
    expect(Math.abs(graceMs - 86_400_000)).toBeLessThan(60_000)
    expect((await ask('GET', `/v1/webhooks/${id}`)).body.secret_hint).toBe(first.body.secret.slice(-4))
    const short = await rotate({ grace_period_seconds: 604_800 })
    expect(Date.parse(String(short.body.previous_secret_expires_at)) - Date.now()).toBeGreaterThan(
      600_000_000,
    )
    const at = async () => {
      const [row] = await db.sql<{ previous: boolean }[]>`
        select e.previous_secret is not null as previous from webhook_endpoints e
        where e.org_id = ${owner.orgId}`
      return row?.previous
    }
    expect(await at()).toBe(true)
    expect((await rotate({ grace_period_seconds: 0 })).body.previous_secret_expires_at).toBeNull()
    expect(await at()).toBe(false)
    const entries = await auditOf(ask, 'webhook.secret_rotated')
    expect(
      entries.map(({ details }) => (details as { grace_period_seconds?: number })?.grace_period_seconds),
    ).toEqual([0, 604_800, 86_400])
  })

  test('is finished when the receiver has the new one, once', async () => {
    const { ask } = await fresh()
    const { id } = await addHook(ask)
    const path = `/v1/webhooks/${id}/rotate-secret`
    const { secret_hint } = (await ask('POST', path)).body && (await ask('GET', `/v1/webhooks/${id}`)).body
    for (let time = 0; time < 2; time += 1) {
      const finished = await ask('POST', path, { finish: true })
      expect([finished.status, finished.body]).toEqual([
        200,
        { id, previous_secret_expires_at: null } as never,
      ])
    }
    expect((await ask('GET', `/v1/webhooks/${id}`)).body.secret_hint).toBe(secret_hint as string)
    expect(await auditOf(ask, 'webhook.rotation_finished')).toEqual([
      { action: 'webhook.rotation_finished', details: { ids: [id], url: expect.any(String) } },
    ])
    for (const [body, field] of [
      [{ finish: false }, 'finish'],
      [{ finish: 'true' }, 'finish'],
      [{ finish: true, grace_period_seconds: 60 }, 'grace_period_seconds'],
    ] as const) {
      const answer = await ask('POST', path, body)
      expect([answer.status, answer.body.details[0]?.field]).toEqual([400, field])
    }
    expect((await ask('POST', '/v1/webhooks/hook_none/rotate-secret', { finish: true })).status).toBe(404)
  })

  test('takes an empty body of JSON, and no other field', async () => {
    const { id } = await addHook(ask)
    expect((await ask('POST', `/v1/webhooks/${id}/rotate-secret`, '')).status).toBe(200)
    expect((await ask('POST', `/v1/webhooks/${id}/rotate-secret`, 'null')).status).toBe(400)
    const answer = await ask('POST', `/v1/webhooks/${id}/rotate-secret`, { grace: 5 })
    expect([answer.status, answer.body.details[0]?.field]).toEqual([400, 'grace'])
  })
})

test('a missing scope and a plan without webhooks are named', async () => {
  const narrow = await newOrg(db.sql, { scopes: ['read', 'write'] })
  const small = await newOrg(db.sql, { scopes: ['webhooks'], plan: 'cloud_pro' })
  const team = await newOrg(db.sql, { scopes: ['webhooks'], plan: 'cloud_team' })
  for (const [{ key }, named] of [
    [narrow, 'webhooks'],
    [small, 'cloud_team'],
  ] as const) {
    const { status, body } = await asker(app, key)('GET', '/v1/webhooks')
    expect([status, body.code, body.error]).toEqual([403, 'FORBIDDEN', expect.stringContaining(named)])
  }
  expect((await asker(app, team.key)('GET', '/v1/webhooks')).status).toBe(200)
})

test('every change is in the audit log, with who made it and what', async () => {
  const owner = await hooked(db)
  const ask = asker(webhookApp(db), owner.key)
  const { id } = await addHook(ask, URL_OK)
  await ask('PATCH', `/v1/webhooks/${id}`, { enabled: false })
  await ask('POST', `/v1/webhooks/${id}/rotate-secret`)
  await ask('DELETE', `/v1/webhooks/${id}`)
  const { body } = await ask('GET', '/v1/audit?action=webhook.*')
  expect(body.data).toEqual(
    ['deleted', 'secret_rotated', 'updated', 'created'].map((verb) =>
      expect.objectContaining({
        action: `webhook.${verb}`,
        user_id: `key_${owner.keyId}`,
        details: expect.objectContaining({ ids: [id], url: 'https://hooks.example.com/…' }),
      }),
    ),
  )
})
