import { describe, expect, test } from 'bun:test'
import { makeKey } from '../../src/accounts/keys/format.ts'
import { updateOrganization } from '../../src/features/organization/queries.ts'
import { clientOf, createAddressLimiter } from '../../src/http/address-limit.ts'
import { createLimiter, type Decision } from '../../src/http/rate-limit.ts'
import { leaseRequests } from '../../src/http/rate-windows.ts'
import { bodyOf, client, limitOf, newKey, newOrg, testApp } from '../support/api.ts'
import { testsDatabase } from '../support/postgres.ts'

const db = await testsDatabase()

/** A clock that stands at 12 s past a minute until it is moved. */
const frozen = () => {
  let ms = Date.parse('2026-03-01T10:00:12Z')
  return {
    now: () => new Date(ms),
    pass: (by: number) => (ms += by),
    reset: Date.parse('2026-03-01T10:01:00Z') / 1000,
  }
}

describe('over HTTP', () => {
  test('the limit counts down to 429, for all keys of the organization, and starts anew with the minute', async () => {
    const clock = frozen()
    const app = testApp(db.sql, { windowClock: clock.now })
    const { key, orgId } = await newOrg(db.sql, { plan: 'cloud_pro' })
    const other = await newKey(db.sql, orgId, ['read'])
    const asks = [client(app, key), client(app, other)]
    for (let n = 1; n <= 100; n++) {
      const answer = await asks[n % 2]?.('/v1/cost')
      if (answer === undefined) throw new Error('no client')
      expect(answer.status).toBe(200)
      expect(limitOf(answer)).toEqual({ limit: 100, remaining: 100 - n, reset: clock.reset })
    }
    for (const ask of asks) {
      const refused = await ask('/v1/cost')
      expect(refused.status).toBe(429)
      expect(limitOf(refused)).toEqual({ limit: 100, remaining: 0, reset: clock.reset })
      expect(refused.headers.get('retry-after')).toBe('48')
      expect(await bodyOf(refused)).toMatchObject({ code: 'RATE_LIMITED', request_id: expect.any(String) })
    }
    clock.pass(47_999)
    expect((await client(app, key)('/v1/cost')).headers.get('retry-after')).toBe('1')
    clock.pass(1)
    const next = await client(app, key)('/v1/cost')
    expect(next.status).toBe(200)
    expect(limitOf(next)).toEqual({ limit: 100, remaining: 99, reset: clock.reset + 60 })
  })

  test('every kind of answer counts and carries the headers, but a preflight is not counted', async () => {
    const clock = frozen()
    const app = testApp(db.sql, { windowClock: clock.now })
    const { key } = await newOrg(db.sql, { plan: 'cloud_team', scopes: ['sessions:read', 'write'] })
    const ask = client(app, key)
    const etag = (await ask('/v1/sessions')).headers.get('etag') ?? ''
    const json = { 'content-type': 'application/json' }
    const cases: [number, string, RequestInit?][] = [
      [304, '/v1/sessions', { headers: { 'if-none-match': etag } }],
      [200, '/v1/sessions', { method: 'HEAD' }],
      [200, '/api/v1/sessions'],
      [400, '/v1/sessions?page=0'],
      [403, '/v1/cost'],
      [404, '/v1/sessions/sess_none'],
      [404, '/v1/nothing'],
      [200, '/v1/sessions/'],
      [404, '/v1/sessions//'],
      [404, '/v1'],
      [405, '/v1/sessions', { method: 'DELETE' }],
      [204, '/v1/sessions', { method: 'OPTIONS' }],
      [413, '/v1/sync', { method: 'POST', headers: { ...json, 'content-length': '99999999' }, body: '{}' }],
      [414, `/v1/sessions?x=${'x'.repeat(9_000)}`],
      [415, '/v1/sync', { method: 'POST', body: '{}', headers: { 'content-type': 'text/plain' } }],
      [400, '/v1/sync', { method: 'POST', body: '{', headers: json }],
    ]
    const left = { read: 499, sync: 500 }
    for (const [status, path, init] of cases) {
      const answer = await ask(path, init)
      const window = path === '/v1/sync' ? 'sync' : 'read'
      left[window] -= 1
      expect([path.slice(0, 40), answer.status]).toEqual([path.slice(0, 40), status])
      expect(limitOf(answer)).toEqual({ limit: 500, remaining: left[window], reset: clock.reset })
    }
    const preflight = await ask('/v1/sessions', {
      method: 'OPTIONS',
      headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' },
    })
    expect(preflight.status).toBe(204)
    expect(limitOf(preflight).limit).toBe(600)
    expect(limitOf(await ask('/v1/sessions')).remaining).toBe(left.read - 1)
  })

  test.each(['/v1/sync', '/api/v1/sync'])(
    'who sends to %s beyond the limit starves nobody who reads',
    async (path) => {
      const clock = frozen()
      const app = testApp(db.sql, { windowClock: clock.now })
      const { key } = await newOrg(db.sql, { plan: 'cloud_pro' })
      const ask = client(app, key)
      const sync = () =>
        ask(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"records":[]}',
        })
      await ask('/v1/cost')
      for (let n = 1; n <= 100; n++) {
        const answer = await sync()
        expect(answer.status).toBe(200)
        expect(limitOf(answer)).toEqual({ limit: 100, remaining: 100 - n, reset: clock.reset })
      }
      const refused = await sync()
      expect(refused.status).toBe(429)
      expect(limitOf(refused)).toEqual({ limit: 100, remaining: 0, reset: clock.reset })
      const read = await ask('/v1/cost')
      expect(read.status).toBe(200)
      expect(limitOf(read)).toEqual({ limit: 100, remaining: 98, reset: clock.reset })
      // another method on the path reads
      expect(limitOf(await ask(path)).remaining).toBe(97)
      clock.pass(48_000)
      expect((await sync()).status).toBe(200)
    },
  )

  test('a changed plan is followed within the minute', async () => {
    const clock = frozen()
    let nowMs = 0
    const app = testApp(db.sql, {
      windowClock: clock.now,
      keyClock: () => nowMs,
      config: { rateLimits: { cloud_pro: 3, cloud_team: 6, cloud_enterprise: 9 } },
    })
    const { key, slug } = await newOrg(db.sql, { plan: 'cloud_pro' })
    const ask = client(app, key)
    const drain = async () => {
      let served = 0
      while ((await ask('/v1/cost')).status === 200) served += 1
      return served
    }
    expect(await drain()).toBe(3)
    await updateOrganization(db.sql, slug, { plan: 'cloud_team' })
    nowMs += 1_000
    expect(await drain()).toBe(3)
  })

  test('only keys that are not known count for an address, 600 a minute; beyond it a valid key is still served', async () => {
    const clock = frozen()
    const app = testApp(db.sql, { now: clock.now, config: { trustProxy: 1 } })
    const from = (address: string, key?: string) => ({
      headers: { 'x-forwarded-for': address, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    })
    const ask = client(app)
    const unknown = makeKey().key
    const mistyped = `${unknown.slice(0, -1)}${unknown.endsWith('0') ? '1' : '0'}`
    for (const key of [undefined, 'text', mistyped]) {
      for (let n = 1; n <= 61; n++) {
        const path = n % 2 === 0 ? '/v1/cost' : '/v1/nothing'
        const answer = await ask(path, from('192.0.2.1', key))
        expect(answer.status).toBe(n % 2 === 0 ? 401 : 404)
        expect(limitOf(answer)).toEqual({ limit: 600, remaining: 600, reset: clock.reset })
      }
    }
    for (let n = 1; n <= 600; n++) {
      const answer = await ask('/v1/cost', from('192.0.2.1', unknown))
      expect(answer.status).toBe(401)
      expect(limitOf(answer)).toEqual({ limit: 600, remaining: 600 - n, reset: clock.reset })
    }
    const refused = await ask('/v1/cost', from('192.0.2.1', unknown))
    expect(refused.status).toBe(429)
    expect(limitOf(refused)).toEqual({ limit: 600, remaining: 0, reset: clock.reset })
    expect(refused.headers.get('retry-after')).toBe('48')
    for (const key of [undefined, mistyped]) {
      const answer = await ask('/v1/cost', from('192.0.2.1', key))
      expect(answer.status).toBe(401)
      expect(limitOf(answer)).toEqual({ limit: 600, remaining: 0, reset: clock.reset })
    }
    expect((await ask('/v1/nothing', from('192.0.2.1', unknown))).status).toBe(404)
    const { key } = await newOrg(db.sql)
    expect((await client(app, key)('/v1/cost', from('192.0.2.1'))).status).toBe(200)
    expect((await ask('/v1/cost', from('192.0.2.2', unknown))).status).toBe(401)
    clock.pass(48_000)
    expect((await ask('/v1/cost', from('192.0.2.1', unknown))).status).toBe(401)
  })
})

describe('instances on one database', () => {
  const limiterAt = (clock: () => Date) =>
    createLimiter({
      lease: (orgId, count) => leaseRequests(db.sql, orgId, 'read', count, clock()),
      clock: () => clock().getTime(),
    })
  const admitted = (decisions: Decision[]) => decisions.filter((decision) => decision.admitted).length

  test.each([
    [2, 100],
    [3, 500],
    [4, 7],
    [4, 1],
  ])('%i of them together never admit more than %i', async (count, limit) => {
    const { orgId } = await newOrg(db.sql)
    const clock = frozen()
    const limiters = Array.from({ length: count }, () => limiterAt(clock.now))
    for (let minute = 0; minute < 2; minute++) {
      const asked = Array.from({ length: limit * 2 }, () =>
        limiters.map((limiter) => limiter.take(orgId, limit)),
      )
      const decisions = await Promise.all(asked.flat())
      expect(admitted(decisions)).toBe(limit)
      expect(decisions.every(({ remaining }) => remaining >= 0 && remaining <= limit)).toBe(true)
      expect(decisions.every((decision) => decision.admitted || decision.remaining === 0)).toBe(true)
      clock.pass(60_000)
    }
  })

  test('one after the other, what one has leased and not spent is all that the others miss', async () => {
    const { orgId } = await newOrg(db.sql)
    const clock = frozen()
    const [a, b] = [limiterAt(clock.now), limiterAt(clock.now)]
    await a.take(orgId, 100)
    let served = 0
    while ((await b.take(orgId, 100)).admitted) served += 1
    expect(served).toBe(95)
    let rest = 0
    while ((await a.take(orgId, 100)).admitted) rest += 1
    expect(rest).toBe(4)
  })

  test('an exhausted minute is answered from memory', async () => {
    const { orgId } = await newOrg(db.sql)
    const clock = frozen()
    let leases = 0
    const limiter = createLimiter({
      lease: (id, count) => {
        leases += 1
        return leaseRequests(db.sql, id, 'read', count, clock.now())
      },
      clock: () => clock.now().getTime(),
    })
    while ((await limiter.take(orgId, 2000)).admitted);
    expect(leases).toBeLessThan(60)
    const before = leases
    for (let n = 0; n < 1_000; n++) expect(limiter.take(orgId, 2000)).toMatchObject({ admitted: false })
    expect(leases).toBe(before)
  })

  test('a lease asked for before the end of a minute is not spent after it', async () => {
    const { orgId } = await newOrg(db.sql)
    const clock = frozen()
    const limiter = limiterAt(clock.now)
    await limiter.take(orgId, 100)
    clock.pass(48_000)
    const next = await limiter.take(orgId, 100)
    expect(next).toMatchObject({ remaining: 99, resetS: clock.reset + 60 })
  })

  test('a statement late by a minute counts in the row’s minute, a clock set back starts anew', async () => {
    const { orgId } = await newOrg(db.sql)
    const at = (text: string) => new Date(`2026-03-01T${text}Z`)
    await leaseRequests(db.sql, orgId, 'read', 10, at('10:01:00'))
    const late = await leaseRequests(db.sql, orgId, 'read', 10, at('10:00:59'))
    expect(late).toMatchObject({ minute: at('10:01:00').getTime() / 60_000, usedBefore: 10 })
    const back = await leaseRequests(db.sql, orgId, 'read', 10, at('09:00:00'))
    expect(back).toMatchObject({ minute: at('09:00:00').getTime() / 60_000, usedBefore: 0 })
  })

  test('the minute is that of the database’s clock', async () => {
    const { orgId } = await newOrg(db.sql)
    const [row] = await db.sql`select extract(epoch from clock_timestamp())::float8 * 1000 as now`
    const lease = await leaseRequests(db.sql, orgId, 'read', 1, null)
    expect(Math.abs(lease.nowMs - row?.now)).toBeLessThan(60_000)
    expect(lease.minute).toBe(Math.floor(lease.nowMs / 60_000))
  })
})

describe('client addresses', () => {
  const countedOf = (peer: string | undefined, forwarded: string | null, hops: number) => {
    const headers = forwarded === null ? {} : { 'x-forwarded-for': forwarded }
    const server = { requestIP: () => (peer === undefined ? null : { address: peer }) }
    return clientOf(new Request('http://localhost/', { headers }), server, hops).counted
  }
  test.each([
    ['192.0.2.1', null, 0, '192.0.2.1'],
    ['::ffff:192.0.2.1', null, 0, '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', null, 0, '2001:db8:1:2::'],
    ['2001:db8:1:2::9', null, 0, '2001:db8:1:2::'],
    ['192.0.2.1', '198.51.100.7', 0, '192.0.2.1'],
    ['192.0.2.1', '198.51.100.7', 1, '198.51.100.7'],
    ['192.0.2.1', '203.0.113.9, 198.51.100.7', 1, '198.51.100.7'],
    ['192.0.2.1', '203.0.113.9, 198.51.100.7', 2, '203.0.113.9'],
    ['192.0.2.1', '198.51.100.7', 3, '198.51.100.7'],
    ['192.0.2.1', '198.51.100.7:1234', 1, '198.51.100.7'],
    ['192.0.2.1', '[2001:db8::1]:1234', 1, '2001:db8::'],
    ['192.0.2.1', 'unknown', 1, '192.0.2.1'],
    ['192.0.2.1', '', 1, '192.0.2.1'],
    [undefined, null, 0, 'unknown'],
  ])('of %s with %p behind %i proxies is counted as %s', (peer, forwarded, hops, expected) => {
    expect(countedOf(peer, forwarded, hops)).toBe(expected)
  })

  test('of a long header is that of its last entries', () => {
    expect(countedOf('192.0.2.1', `${'x,'.repeat(5_000)} 203.0.113.9, 198.51.100.7`, 2)).toBe('203.0.113.9')
    expect(countedOf('192.0.2.1', 'x,'.repeat(5_000), 1)).toBe('192.0.2.1')
  })

  test('are forgotten beyond 50,000, the first of the minute first, and all with the minute', () => {
    let ms = 0
    const limiter = createAddressLimiter(() => new Date(ms))
    limiter.take('first')
    for (let n = 1; n < 50_000; n++) limiter.take(`address-${n}`)
    limiter.take('address-1')
    expect(limiter.peek('first').remaining).toBe(59)
    limiter.take('one more')
    const left = (address: string) => limiter.peek(address).remaining
    expect(['first', 'address-1', 'address-2', 'one more'].map(left)).toEqual([60, 58, 59, 59])
    ms = 60_000
    expect(['address-1', 'address-2', 'one more'].map(left)).toEqual([60, 60, 60])
    expect(limiter.take('address-1').remaining).toBe(59)
  })
})
