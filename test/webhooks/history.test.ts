import { describe, expect, test } from 'bun:test'
import { EVENTS } from '../../src/webhooks/outbox/catalogue.ts'
import { claim } from '../../src/webhooks/outbox/claim.ts'
import { CHANNEL } from '../../src/webhooks/outbox/events.ts'
import { signatureOf } from '../../src/webhooks/signing/signature.ts'
import { type Ask, asker, type Org } from '../support/api.ts'
import { testsDatabase } from '../support/postgres.ts'
import { addHook, auditOf, hooked, receiver, webhookApp } from '../support/webhook-api.ts'
import {
  addDeliveries,
  earlier,
  expectCounts,
  good,
  LIMITS,
  result,
  settleAll,
} from '../support/webhook-rows.ts'

const db = await testsDatabase()
const app = webhookApp(db)

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

interface OwnEndpoint {
  owner: Org
  ask: Ask
  hook: { id: string; secret: string }
  /** The path of the endpoint. */
  path: string
}

/** An organization with an endpoint. */
async function fresh(url = 'http://127.0.0.1:9/in', over: object = {}): Promise<OwnEndpoint> {
  const owner = await hooked(db)
  const ask = asker(app, owner.key)
  const hook = await addHook(ask, url, over)
  return { owner, ask, hook, path: `/v1/webhooks/${hook.id}` }
}

/** Deliveries of the endpoint, the first `good` of which succeeded, the next `bad` failed. */
async function filled({ owner, hook }: OwnEndpoint, { count = 0, succeed = 0, fail = 0 }): Promise<string[]> {
  const { sql } = db
  const ids = await addDeliveries(sql, owner.orgId, hook.id, count, '{"n":"ü"}')
  const all = { ...LIMITS, limit: count, laterLimit: count, endpointLimit: count }
  const claimed = count === 0 ? [] : await claim(sql, owner.orgId, { ...all, limit: succeed + fail })
  const done = claimed.sort((a, b) => (a.id < b.id ? -1 : 1))
  await settleAll(sql, owner.orgId, done.slice(0, succeed), good())
  await settleAll(sql, owner.orgId, done.slice(succeed), result({ refused: true }))
  return ids
}

/** Makes an attempt at each that is due, which fails. */
const settleDue = async ({ owner }: OwnEndpoint) =>
  await settleAll(db.sql, owner.orgId, await claim(db.sql, owner.orgId, LIMITS), result())

/** Lets the events lie `days` back. */
const age = ({ owner }: OwnEndpoint, ids: readonly string[], days: number) => db.sql`
  with moved as (
    update webhook_deliveries d
    set created_at = ${earlier(db.sql, db.sql`d.created_at`, 86_400 * days)}
    where d.org_id = ${owner.orgId} and d.id = any(${[...ids]}::text[])
    returning d.endpoint_id, d.event, d.status, d.created_at
  )
  insert into webhook_delivery_counts as c (org_id, endpoint_id, day, event, status, deliveries)
  select ${owner.orgId}, m.endpoint_id, x.day, m.event, m.status, sum(x.by)
  from moved m
  cross join lateral (
    values
      ((m.created_at at time zone 'UTC')::date, 1),
      (((m.created_at + ${days} * interval '1 day') at time zone 'UTC')::date, -1)
  ) as x (day, by)
  group by m.endpoint_id, x.day, m.event, m.status
  on conflict (org_id, endpoint_id, day, event, status) do update set deliveries = c.deliveries + excluded.deliveries`

const rowOf = async ({ owner }: OwnEndpoint, id: string) => {
  const [row] = await db.sql`
    select d.status, q.mode, coalesce(q.attempts, d.attempts) as attempts, q.leased, q.due_at <= now() as due
    from webhook_deliveries d
    left join webhook_queue q on q.org_id = d.org_id and q.delivery_id = d.id
    where d.org_id = ${owner.orgId} and d.id = ${id}`
  return { ...row }
}

const expectCounted = ({ owner }: OwnEndpoint) => expectCounts(db.sql, owner.orgId)

describe('the list', () => {
  test('of nothing is empty', async () => {
    const { ask, path } = await fresh()
    expect((await ask('GET', `${path}/deliveries`)).text).toBe(
      '{"data":[],"pagination":{"page":1,"per_page":50,"total":0}}',
    )
  })

  test('is newest first, page by page, with exact totals, and filtered', async () => {
    const own = await fresh()
    const { ask, path } = own
    const ids = await filled(own, { count: 30, succeed: 10, fail: 5 })
    for (const [days, from, to] of [
      [1, 0, 4],
      [3, 4, 12],
      [3, 12, 13],
      [40, 13, 14],
    ] as const)
      await age(own, ids.slice(from, to), days)
    const all = await db.sql<{ id: string; status: string; day: string }[]>`
      select d.id, d.status, (d.created_at at time zone 'UTC')::date as day
      from webhook_deliveries d
      where d.org_id = ${own.owner.orgId}
      order by d.created_at desc, d.id desc`
    const days = [...new Set(all.map(({ day }) => day))]
    expect(days).toHaveLength(4)
    const cases: [string, (row: (typeof all)[number]) => boolean][] = [
      ['', () => true],
      ['&status=success', ({ status }) => status === 'success'],
      ['&status=failed', ({ status }) => status === 'failed'],
      ['&status=pending', ({ status }) => status === 'pending'],
      ['&status=pending_retry', () => false],
      ['&status=cancelled', () => false],
      ['&event=session.completed', () => true],
      ['&event=webhook.test', () => false],
      [`&date_from=${days[2]}`, ({ day }) => day >= String(days[2])],
      [`&date_to=${days[1]}`, ({ day }) => day <= String(days[1])],
      [
        `&date_from=${days[2]}&date_to=${days[1]}&status=success`,
        ({ day, status }) => day >= String(days[2]) && day <= String(days[1]) && status === 'success',
      ],
    ]
    for (const [filter, matches] of cases) {
      const wanted = all.filter(matches).map(({ id }) => id)
      for (const perPage of [1, 7, 100]) {
        const found: string[] = []
        for (let page = 1; page <= Math.ceil(wanted.length / perPage) + 1; page += 1) {
          const { body } = await ask('GET', `${path}/deliveries?page=${page}&per_page=${perPage}${filter}`)
          expect(body.pagination).toEqual({ page, per_page: perPage, total: wanted.length })
          expect(body.data.length).toBeLessThanOrEqual(perPage)
          found.push(...body.data.map(({ id }) => id))
        }
        expect([filter, perPage, found]).toEqual([filter, perPage, wanted])
      }
    }
    const far = await ask('GET', `${path}/deliveries?page=1000000000`)
    expect([far.status, far.body.data, far.body.pagination.total]).toEqual([200, [], 30])
  })

  test('shows what waits, what is in flight, and what is finished', async () => {
    const own = await fresh()
    const { ask, path } = own
    const { sql } = db
    const ids = await addDeliveries(sql, own.owner.orgId, own.hook.id, 4)
    const claimed = await claim(sql, own.owner.orgId, { ...LIMITS, limit: 3 })
    const [first, second, third] = claimed.sort((a, b) => (a.id < b.id ? -1 : 1))
    await settleAll(sql, own.owner.orgId, first === undefined ? [] : [first], good())
    await settleAll(sql, own.owner.orgId, second === undefined ? [] : [second], result())
    const { data } = (await ask('GET', `${path}/deliveries`)).body
    const shared = { event: 'session.completed', event_id: expect.stringMatching(/^evt_/), created_at: TIME }
    for (const one of data) expect<unknown>(one).toMatchObject(shared)
    expect(third?.id).toBe(ids[2])
    const FIELDS = ['id', 'status', 'attempts', 'next_attempt_at', 'last_status_code', 'completed_at']
    expect<unknown>(data.toReversed().map((one) => FIELDS.map((field) => one[field]))).toEqual([
      [ids[0], 'success', 1, null, 200, TIME],
      [ids[1], 'pending_retry', 1, TIME, 503, null],
      [ids[2], 'pending', 1, null, null, null],
      [ids[3], 'pending', 0, TIME, null, null],
    ])
  })

  test.each([
    ['page=0', 'page'],
    ['per_page=101', 'per_page'],
    ['status=done', 'status'],
    ['event=*', 'event'],
    ['event=x&event=x', 'event'],
    ['date_from=2026-02-30', 'date_from'],
    ['date_from=2026-02-02&date_to=2026-02-01', 'date_from'],
  ])('refuses %s', async (query, field) => {
    const { ask, path } = await fresh()
    const answer = await ask('GET', `${path}/deliveries?${query}`)
    expect([answer.status, answer.body.details.map((problem) => problem.field)]).toEqual([400, [field]])
  })
})

describe('a delivery in full', () => {
  test('has its request with the signatures hidden, and every attempt', async () => {
    const own = await fresh()
    const { ask, path, owner } = own
    const { sql } = db
    const [id = ''] = await addDeliveries(sql, owner.orgId, own.hook.id, 1, '{"n":"ü \\u2028"}')
    await settleDue(own)
    await sql`
      update webhook_queue q set due_at = now() where q.org_id = ${owner.orgId}`
    await sql`
      update webhook_health h
      set last_failure_at = ${earlier(sql, sql`h.last_failure_at`, 60)} where h.org_id = ${owner.orgId}`
    await settleAll(sql, owner.orgId, await claim(sql, owner.orgId, LIMITS), good())
    const listed = (await ask('GET', `${path}/deliveries`)).body.data[0]
    const { status, body } = await ask('GET', `${path}/deliveries/${id}`)
    const { request, attempts, ...rest } = body as unknown as {
      request: { headers: Record<string, string>; body: string }
      attempts: object[]
    }
    expect(status).toBe(200)
    expect<unknown>({ ...rest, attempts: 2 }).toEqual(listed)
    expect(attempts).toEqual([
      {
        number: 1,
        started_at: TIME,
        duration_ms: 12,
        status_code: 503,
        error: 'status: answered 503',
        response_body: 'busy',
      },
      { number: 2, started_at: TIME, duration_ms: 12, status_code: 200, error: null, response_body: '' },
    ])
    expect(request.body).toBe('{"n":"ü \\u2028"}')
    expect(request.headers).toMatchObject({
      'Content-Type': 'application/json',
      'X-Service-Event': 'session.completed',
      'X-Service-Delivery': id,
      'X-Service-Attempt': '2',
      'X-Service-Signature': 'sha256=***',
      'X-Service-Signature-256': 'sha256=***',
      'webhook-signature': 'v1,***',
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
    })
  })

  test('is that of its endpoint only', async () => {
    const own = await fresh()
    const other = await addHook(own.ask)
    const [id = ''] = await filled(own, { count: 1 })
    const known = (text: string) => text.replace(/"request_id":"[^"]*"/, '')
    const never = await own.ask('GET', `${own.path}/deliveries/dlv_0`)
    expect([never.status, never.body.code]).toEqual([404, 'NOT_FOUND'])
    for (const [method, path] of [
      ['GET', `/v1/webhooks/${other.id}/deliveries/${id}`],
      ['POST', `/v1/webhooks/${other.id}/deliveries/${id}/redeliver`],
      ['GET', `${own.path}/deliveries/${own.hook.id}`],
      ['GET', `${own.path}/deliveries/%00`],
      ['POST', `${own.path}/deliveries/dlv_0/redeliver`],
    ] as const) {
      const answer = await own.ask(method, path)
      expect([path, answer.status, known(answer.text)]).toEqual([path, 404, known(never.text)])
    }
  })
})

describe('redelivery', () => {
  const again = ({ ask, path }: OwnEndpoint, id: string) => ask('POST', `${path}/deliveries/${id}/redeliver`)

  test('sends a finished one once more, under its id', async () => {
    const own = await fresh()
    const [good = '', bad = ''] = await filled(own, { count: 2, succeed: 1, fail: 1 })
    for (const id of [good, bad]) {
      const { status, body } = await again(own, id)
      expect([status, body as unknown]).toEqual([
        202,
        expect.objectContaining({
          id,
          status: 'pending',
          attempts: 1,
          next_attempt_at: TIME,
          completed_at: null,
        }),
      ])
      expect(await rowOf(own, id)).toEqual({
        status: 'pending',
        mode: 'once',
        attempts: 1,
        leased: false,
        due: true,
      })
    }
    const entries = await auditOf(own.ask, 'webhook.redelivered')
    expect(entries.map(({ details }) => details)).toEqual([
      { ids: [own.hook.id, bad] },
      { ids: [own.hook.id, good] },
    ])
    // one attempt, whatever comes of it
    await db.sql`
      delete from webhook_health h where h.org_id = ${own.owner.orgId}`
    await settleDue(own)
    expect([(await rowOf(own, good)).status, (await rowOf(own, bad)).status]).toEqual(['failed', 'failed'])
    await expectCounted(own)
  })

  test('makes a waiting one due, without a retry less', async () => {
    const own = await fresh()
    const [id = ''] = await addDeliveries(db.sql, own.owner.orgId, own.hook.id, 1)
    await settleDue(own)
    expect(await rowOf(own, id)).toMatchObject({ status: 'pending_retry', due: false })
    expect((await again(own, id)).body as unknown).toMatchObject({
      status: 'pending_retry',
      attempts: 1,
    })
    expect(await rowOf(own, id)).toEqual({
      status: 'pending_retry',
      mode: 'scheduled',
      attempts: 1,
      leased: false,
      due: true,
    })
    await expectCounted(own)
  })

  test('makes all that wait for a retry due, and nothing else', async () => {
    const own = await fresh()
    const other = await addHook(own.ask)
    const retry = (path = own.path) => own.ask('POST', `${path}/retry`)
    const waiting = await addDeliveries(db.sql, own.owner.orgId, own.hook.id, 3)
    await settleDue(own)
    const [first = ''] = await addDeliveries(db.sql, own.owner.orgId, own.hook.id, 1)
    expect((await retry(`/v1/webhooks/${other.id}`)).body as unknown).toEqual({ count: 0 })
    const { status, body } = await retry()
    expect([status, body as unknown]).toEqual([202, { count: 3 }])
    for (const id of waiting)
      expect(await rowOf(own, id)).toMatchObject({ status: 'pending_retry', due: true })
    expect(await rowOf(own, first)).toMatchObject({ status: 'pending', attempts: 0 })
    const entries = await auditOf(own.ask, 'webhook.retried')
    expect(entries.map(({ details }) => details)).toEqual([{ ids: [own.hook.id], count: 3 }])
    expect((await retry('/v1/webhooks/hook_none')).status).toBe(404)
    await expectCounted(own)
  })

  test('leaves one in flight as it is', async () => {
    const own = await fresh()
    const [id = ''] = await addDeliveries(db.sql, own.owner.orgId, own.hook.id, 1)
    await claim(db.sql, own.owner.orgId, LIMITS)
    const before = await rowOf(own, id)
    const { status, body } = await again(own, id)
    expect([status, body.status, body.next_attempt_at]).toEqual([202, 'pending', null])
    expect(await rowOf(own, id)).toEqual(before)
    expect(await auditOf(own.ask, 'webhook.redelivered')).toEqual([])
  })

  test('is held while the endpoint is disabled, and wakes the worker', async () => {
    const own = await fresh()
    const [id = ''] = await filled(own, { count: 1, succeed: 1 })
    await own.ask('PATCH', own.path, { enabled: false })
    const heard = Promise.withResolvers<string>()
    const listener = db.pool(1)
    await listener.listen(CHANNEL, (payload) => payload === own.owner.orgId && heard.resolve(payload))
    expect((await again(own, id)).status).toBe(202)
    await heard.promise
    await listener.end({ timeout: 1 })
    expect(await claim(db.sql, own.owner.orgId, LIMITS)).toEqual([])
    await own.ask('PATCH', own.path, { enabled: true })
    expect((await claim(db.sql, own.owner.orgId, LIMITS)).map((claimed) => claimed.id)).toEqual([id])
  })
})

describe('recovery', () => {
  const recover = ({ ask, path }: OwnEndpoint, body: unknown) => ask('POST', `${path}/recover`, body)
  const LONG_AGO = '2026-01-01T00:00:00Z'

  test('sends all that failed or was cancelled in the time again, and counts them', async () => {
    const own = await fresh()
    const ids = await filled(own, { count: 12, succeed: 2, fail: 6 })
    await db.sql`
      delete from webhook_queue q
      where q.org_id = ${own.owner.orgId} and q.delivery_id = ${ids[8] ?? ''}`
    await db.sql`
      update webhook_deliveries d
      set status = 'cancelled', undelivered = true, completed_at = now()
      where d.org_id = ${own.owner.orgId} and d.id = ${ids[8] ?? ''}`
    await db.sql`
      update webhook_delivery_counts c
      set deliveries = c.deliveries - 1
      where c.org_id = ${own.owner.orgId} and c.status = 'pending'`
    await db.sql`
      insert into webhook_delivery_counts
      select c.org_id, c.endpoint_id, c.day, c.event, 'cancelled', 1
      from webhook_delivery_counts c
      where c.org_id = ${own.owner.orgId} and c.status = 'pending'`
    await age(own, ids.slice(2, 4), 2)
    await expectCounted(own)
    const day = new Date(Date.now() - 86_400_000).toISOString()
    expect((await recover(own, { since: day, dry_run: true })).body as unknown).toEqual({ count: 5 })
    expect((await recover(own, { since: LONG_AGO, until: day, dry_run: true })).body as unknown).toEqual({
      count: 2,
    })
    expect(await auditOf(own.ask, 'webhook.recovered')).toEqual([])
    const done = await recover(own, { since: LONG_AGO, until: day })
    expect([done.status, done.body as unknown]).toEqual([202, { count: 2 }])
    expect((await recover(own, { since: LONG_AGO })).body as unknown).toEqual({ count: 5 })
    expect((await recover(own, { since: LONG_AGO })).body as unknown).toEqual({ count: 0 })
    const statuses = await Promise.all(ids.map(async (id) => (await rowOf(own, id)).mode))
    expect(statuses).toEqual(ids.map((_id, at) => (at < 2 ? null : at <= 8 ? 'once' : 'scheduled')))
    expect((await own.ask('GET', `${own.path}/deliveries?status=pending`)).body.pagination.total).toBe(10)
    await expectCounted(own)
    const entries = await auditOf(own.ask, 'webhook.recovered')
    expect(entries.map(({ details }) => details)).toEqual([
      { ids: [own.hook.id], since: '2026-01-01T00:00:00.000000Z', until: null, count: 5 },
      {
        ids: [own.hook.id],
        since: '2026-01-01T00:00:00.000000Z',
        until: expect.any(String),
        count: 2,
      },
    ])
  })

  test('takes as many as there are, those of one instant too', async () => {
    const own = await fresh()
    const count = 20_003
    await addDeliveries(db.sql, own.owner.orgId, own.hook.id, count)
    await db.sql`
      delete from webhook_queue q
      where q.org_id = ${own.owner.orgId}`
    await db.sql`
      update webhook_deliveries d
      set status = 'failed', undelivered = true, completed_at = now()
      where d.org_id = ${own.owner.orgId}`
    await db.sql`
      update webhook_delivery_counts c
      set status = 'failed'
      where c.org_id = ${own.owner.orgId}`
    expect((await recover(own, { since: LONG_AGO })).body as unknown).toEqual({ count })
    const { body } = await own.ask(
      'GET',
      `${own.path}/deliveries?status=pending&page=${Math.ceil(count / 50)}`,
    )
    expect([body.pagination.total, body.data.length]).toEqual([count, count % 50])
    await expectCounted(own)
  })

  test('takes since, and not until', async () => {
    const own = await fresh()
    const [id = ''] = await filled(own, { count: 1, fail: 1 })
    await db.sql`
      update webhook_deliveries d
      set created_at = '2026-10-10T10:00:00.000001Z'
      where d.org_id = ${own.owner.orgId} and d.id = ${id}`
    for (const [since, until, count] of [
      ['2026-10-10T10:00:00.000001Z', '2026-10-10T10:00:00.000002Z', 1],
      ['2026-10-10T12:00:00.000001+02:00', undefined, 1],
      ['2026-10-10T10:00:00Z', '2026-10-10T10:00:00.000001Z', 0],
      ['2026-10-10T10:00:00.000002Z', '2026-10-11T10:00:00Z', 0],
      ['2026-10-10T10:00:00Z', '2026-10-10T10:00:00Z', 0],
    ]) {
      const answer = await recover(own, { since, until, dry_run: true })
      expect([since, answer.status, answer.body.count]).toEqual([since, 202, count])
    }
  })

  test.each<[string, unknown]>([
    ['since', { since: '2026-02-30T00:00:00Z' }],
    ['since', { since: '2026-02' }],
    ['since', { since: 'now' }],
    ['since', { since: 5 }],
    ['since', { since: '2026-02-02T00:00:00Z', until: '2026-02-01T00:00:00Z' }],
    ['since', { since: '2100-01-01T00:00:00Z' }],
    ['status', { since: LONG_AGO, status: 'failed' }],
  ])('refuses a wrong %s: %j', async (field, body) => {
    const own = await fresh()
    const answer = await recover(own, body)
    expect([answer.status, answer.body.details.map((problem) => problem.field)]).toEqual([400, [field]])
  })
})

describe('the test', () => {
  test('sends one signed event and answers with what came of it', async () => {
    await using hook = receiver(() => new Response('x'.repeat(3_000)))
    const own = await fresh(hook.url, { enabled: false, events: ['security.alert'] })
    const { status, body } = await own.ask('POST', `${own.path}/test`)
    expect([status, body as unknown]).toEqual([
      200,
      {
        delivery_id: expect.stringMatching(/^dlv_/),
        event: 'webhook.test',
        success: true,
        status_code: 200,
        duration_ms: expect.any(Number),
        error: null,
        response_body: 'x'.repeat(1_024),
      },
    ])
    const [sent, ...others] = hook.got
    expect(others).toEqual([])
    const event = JSON.parse(sent?.body ?? '')
    expect(event).toMatchObject({ event: 'webhook.test', type: 'webhook.test', api_version: 'v1' })
    expect(event.data).toEqual({ webhook_id: own.hook.id, test: true, message: expect.any(String) })
    expect(sent?.headers).toMatchObject({
      'x-service-signature-256': signatureOf(own.hook.secret, sent?.body ?? ''),
      'x-service-event': 'webhook.test',
      'x-service-delivery': String(body.delivery_id),
      'x-service-attempt': '1',
    })
    const detail = (await own.ask('GET', `${own.path}/deliveries/${body.delivery_id}`)).body
    expect<unknown>(detail).toMatchObject({
      status: 'success',
      attempts: [{ number: 1, status_code: 200 }],
    })
    expect<unknown>(detail.request).toMatchObject({ body: sent?.body })
    const known = (await own.ask('GET', own.path)).body as unknown
    expect(known).toMatchObject({
      health: { consecutive_failures: 0, last_success_at: TIME, last_status_code: 200 },
    })
    expect(await auditOf(own.ask, 'webhook.tested')).toEqual([
      {
        action: 'webhook.tested',
        details: { ids: [own.hook.id, body.delivery_id], event: 'webhook.test' },
      },
    ])
    await expectCounted(own)
  })

  test("sends another event's example", async () => {
    await using hook = receiver()
    const own = await fresh(hook.url)
    for (const event of Object.keys(EVENTS) as (keyof typeof EVENTS)[]) {
      const { body } = await own.ask('POST', `${own.path}/test`, { event })
      expect([body.event, body.success]).toEqual([event, true])
      const got = hook.got.at(-1)
      const sent = JSON.parse(got?.body ?? '')
      expect(sent).toMatchObject({ event, test: true, data: EVENTS[event].example })
      expect(Object.keys(sent).slice(0, 3)).toEqual(['id', 'event', 'test'])
      // that of a redelivery follows from the same body
      const { body: kept } = await own.ask('GET', `${own.path}/deliveries/${body.delivery_id}`)
      expect(got?.headers['x-service-test']).toBe('true')
      expect(kept).toMatchObject({ request: { headers: { 'X-Service-Test': 'true' } } })
    }
    const { body } = await own.ask('GET', `${own.path}/deliveries?event=security.alert`)
    expect(body.pagination.total).toBe(1)
    await own.ask('POST', `${own.path}/test`)
    expect(hook.got.at(-1)?.headers).not.toContainKey('x-service-test')
  })

  test('answers 200 when the receiver fails, is refused, or is not there, without a retry', async () => {
    await using hook = receiver(() => new Response('no', { status: 503 }))
    const gone = receiver()
    await gone.stop()
    const own = await fresh(hook.url)
    const failed = await own.ask('POST', `${own.path}/test`)
    expect([failed.status, failed.body.success, failed.body.status_code, failed.body.response_body]).toEqual([
      200,
      false,
      503,
      'no',
    ])
    expect(typeof failed.body.error).toBe('string')
    expect(await rowOf(own, String(failed.body.delivery_id))).toMatchObject({
      status: 'failed',
      attempts: 1,
    })
    const absent = await fresh(gone.url)
    const { body } = await absent.ask('POST', `${absent.path}/test`)
    expect([body.success, body.status_code, body.response_body]).toEqual([false, null, null])
    const health = ((await absent.ask('GET', absent.path)).body as { health?: unknown }).health
    expect(health).toMatchObject({ consecutive_failures: 1, last_failure_at: TIME, last_status_code: null })
    await expectCounted(own)
  })

  test('is limited to four at a time of one endpoint', async () => {
    const open = Promise.withResolvers<void>()
    const four = Promise.withResolvers<void>()
    await using hook = receiver(async () => {
      if (hook.got.length === 4) four.resolve()
      await open.promise
      return new Response('ok')
    })
    const own = await fresh(hook.url)
    const running = Array.from({ length: 4 }, () => own.ask('POST', `${own.path}/test`))
    await four.promise
    const refused = await own.ask('POST', `${own.path}/test`)
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
      429,
      'RATE_LIMITED',
      '1',
    ])
    open.resolve()
    expect((await Promise.all(running)).map(({ body }) => body.success)).toEqual([true, true, true, true])
    expect((await own.ask('POST', `${own.path}/test`)).body.success).toBe(true)
  })

  test('is finished also when the client leaves', async () => {
    const open = Promise.withResolvers<void>()
    const came = Promise.withResolvers<void>()
    await using hook = receiver(async () => {
      came.resolve()
      await open.promise
      return new Response('ok')
    })
    using server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => app.fetch(request) })
    const own = await fresh(hook.url)
    const client = new AbortController()
    const asked = fetch(new URL(`${own.path}/test`, server.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${own.owner.key}` },
      signal: client.signal,
    })
    await came.promise
    client.abort()
    await expect(asked).rejects.toThrow()
    open.resolve()
    for (;;) {
      const { body } = await own.ask('GET', `${own.path}/deliveries?status=success`)
      if (body.pagination.total === 1) break
      await Bun.sleep(10)
    }
    await expectCounted(own)
  })
})
