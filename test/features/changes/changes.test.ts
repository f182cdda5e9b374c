import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SYSTEM } from '../../../src/accounts/audit-log/append.ts'
import { createKey, revokeKey } from '../../../src/accounts/keys/queries.ts'
import { changePart } from '../../../src/database/org-lock.ts'
import { createChangeStreams } from '../../../src/features/changes/streams.ts'
import { removeWholeMember } from '../../../src/features/members/member-changes.ts'
import { type HttpServer, listen } from '../../../src/http/listen.ts'
import { bodyOf, client, jsonInit, limitOf, newOrg, testApp } from '../../support/api.ts'
import { silent, type TestDatabase, testDatabase } from '../../support/postgres.ts'
import { PASSWORD, post, signedIn } from '../sign-in/people.ts'

// GET /v1/changes: over sockets for what clients see, with a clock of the test for what takes minutes.

const EVENT = 'event: change\ndata: {"version":"'
const FIRST = ':\n\n'

let db: TestDatabase
let app: ReturnType<typeof testApp>
let server: HttpServer
beforeAll(async () => {
  db = await testDatabase()
  app = testApp(db.sql)
  server = listen(app, { host: '127.0.0.1', port: 0 }, silent)
})
afterAll(async () => {
  await server.stop()
  await db.drop()
})

/** The stream as its client sees it. */
function follow(response: Response) {
  let text = ''
  let wake = () => {}
  let isOpen = true
  const reader = response.body?.getReader()
  const read = async () => {
    const decoder = new TextDecoder()
    for (;;) {
      const part = await reader?.read()
      if (part === undefined || part.done) break
      text += decoder.decode(part.value)
      wake()
    }
  }
  const ended = read().finally(() => {
    isOpen = false
    wake()
  })
  return {
    text: () => text,
    events: () => text.split(EVENT).length - 1,
    ended,
    /** Waits until the text is as `done` says, or the stream ends. */
    async until(done: () => boolean) {
      while (isOpen && !done()) await new Promise<void>((resolve) => (wake = resolve))
    },
  }
}

const open = (key: string, at = server, signal?: AbortSignal) =>
  fetch(`${at.url}/v1/changes`, { headers: { authorization: `Bearer ${key}` }, signal: signal ?? null })

const session = (id: string) => ({
  ...{ type: 'session', id, project_name: 'shop', created_at: '2026-11-01T00:00:00Z', turns: 3 },
})
const send = async (key: string, ...records: object[]) => {
  const sent = await client(app, key)('/v1/sync', jsonInit('POST', { records }, { 'x-machine': 'laptop' }))
  expect(sent.status).toBe(200)
}
const versionOf = async (orgId: string): Promise<string> => {
  const [row] = await db.sql<{ version: string }[]>`
    select l.version from org_locks l where l.org_id = ${orgId}`
  return row?.version ?? ''
}

test('a change is told, with no event at opening, and no ETag', async () => {
  const own = await newOrg(db.sql, { scopes: ['ingest', 'write'] })
  const response = await open(own.key)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  expect([response.headers.get('cache-control'), response.headers.has('etag')]).toEqual(['no-store', false])
  const { remaining } = limitOf(response)
  const stream = follow(response)
  await stream.until(() => stream.text() !== '')
  expect(stream.text()).toBe(FIRST)
  await send(own.key, session('sess_1'))
  await stream.until(() => stream.events() > 0)
  const told = `${EVENT}${changePart(await versionOf(own.orgId))}"}\n\n`
  expect(stream.text()).toBe(FIRST + told)
  // it counted as one request
  expect(limitOf(await client(app, own.key)('/v1/whoami')).remaining).toBe(remaining - 1)
})

test('records that change nothing and sign-ins are notes: kept responses are out of date, pages are not told', async () => {
  const own = await newOrg(db.sql)
  const person = await signedIn(app, db.sql, own.orgId, 'ada@example.com', 'admin')
  await send(own.key, session('sess_1'))
  const first = await versionOf(own.orgId)
  const isSame = async (before: string) => {
    const now = await versionOf(own.orgId)
    expect(now).not.toBe(before)
    return changePart(now) === changePart(before)
  }
  await send(own.key, session('sess_1'))
  expect(await isSame(first)).toBe(true)
  for (const password of [PASSWORD, 'wrong password'])
    await post(app, '/auth/password', { email: 'ada@example.com', password })
  expect(await isSame(first)).toBe(true)
  await person.send('POST', '/auth/logout')
  expect(await isSame(first)).toBe(true)
  await send(own.key, session('sess_1'), session('sess_2'))
  expect(await isSame(first)).toBe(false)
  const second = await versionOf(own.orgId)
  await send(own.key, { ...session('sess_2'), turns: 4 })
  expect(await isSame(second)).toBe(false)
})

test('HEAD is 200 and ends; without a key it is 401', async () => {
  const own = await newOrg(db.sql)
  const head = await client(app, own.key)('/v1/changes', { method: 'HEAD' })
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
    ...[200, 'text/event-stream', ''],
  ])
  expect((await client(app)('/v1/changes')).status).toBe(401)
})

test('50 are open for an organization, and a place is free when a client leaves', async () => {
  const [own, other] = [await newOrg(db.sql), await newOrg(db.sql)]
  const leaving = new AbortController()
  const opened = await Promise.all(Array.from({ length: 50 }, () => open(own.key, server, leaving.signal)))
  expect(opened.map(({ status }) => status)).toEqual(Array(50).fill(200))
  const refused = await open(own.key)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30'])
  expect((await bodyOf(refused)).code).toBe('RATE_LIMITED')
  const others = await open(other.key)
  expect(others.status).toBe(200)
  await others.body?.cancel()
  leaving.abort()
  let again = await open(own.key)
  // the server hears of each client by itself
  while (again.status === 429) again = await open(own.key)
  expect(again.status).toBe(200)
  await again.body?.cancel()
})

describe('a stream ends', () => {
  const isWithin = async (ended: Promise<unknown>, change: () => Promise<unknown>) => {
    await change()
    const from = performance.now()
    await ended
    // 1 s is promised; the machine may be busy. Without the look it would take ten minutes
    expect(performance.now() - from).toBeLessThan(20_000)
  }

  test('when its key is revoked, by another instance or a command too', async () => {
    const own = await newOrg(db.sql)
    const { id, key } = await createKey(db.sql, own.orgId, { name: 'page', scopes: ['cost:read'] })
    const [revoked, stays] = [follow(await open(key)), await open(own.key)]
    await isWithin(revoked.ended, () => revokeKey(db.sql, id))
    const other = follow(stays)
    await other.until(() => other.events() > 0)
    expect(other.events()).toBe(1)
  })

  test('when the person signs out or is removed', async () => {
    const own = await newOrg(db.sql)
    const people = [
      await signedIn(app, db.sql, own.orgId, 'ada@example.com'),
      await signedIn(app, db.sql, own.orgId, 'bob@example.com'),
    ] as const
    const [ada, bob] = await Promise.all(
      people.map(async ({ cookie }) =>
        follow(await fetch(`${server.url}/v1/changes`, { headers: { cookie } })),
      ),
    )
    await isWithin(Promise.resolve(ada?.ended), () => people[0].send('POST', '/auth/logout'))
    const remove = () =>
      db.sql.begin((tx) => removeWholeMember(tx, own.orgId, { actor: SYSTEM }, people[1].id))
    await isWithin(Promise.resolve(bob?.ended), remove)
  })

  test('at once when the server stops, which refuses others', async () => {
    const own = await newOrg(db.sql)
    const stopping = testApp(db.sql)
    const at = listen(stopping, { host: '127.0.0.1', port: 0 }, silent)
    const stream = follow(await open(own.key, at))
    await stream.until(() => stream.text() !== '')
    const from = performance.now()
    const stopped = at.stop()
    await stream.ended
    await stopped
    // a response that goes on is waited for 20 s
    expect(performance.now() - from).toBeLessThan(15_000)
    expect((await client(stopping, own.key)('/v1/changes')).status).toBe(503)
  })
})

describe('by the clock', () => {
  const NOBODY = { orgId: 'org', keyId: 'key', sessionId: null }
  const LIVE = { id: 'key', expiresInMs: null }

  /** Streams whose organization, key and time are the test's. `looked`: resolves after the next look that began now. */
  function timed() {
    const state = { now: 0, version: versionNumber(1), keys: [LIVE], isAway: false, looks: 0 }
    let wake = () => {}
    const streams = createChangeStreams({
      readVersion: async () => state.version,
      readVersions: async () => {
        if (state.isAway) throw new Error('the database is away')
        return new Map([['org', state.version]])
      },
      findKeys: async () => {
        state.looks += 1
        wake()
        return state.keys
      },
      findSessions: async () => [],
      clock: () => state.now,
    })
    const looked = async () => {
      const target = state.looks + 2
      while (state.looks < target) await new Promise<void>((resolve) => (wake = resolve))
      // the look that woke this has ended
      await new Promise((resolve) => setImmediate(resolve))
    }
    return { state, streams, looked }
  }
  const versionNumber = (n: number) => `0000000${n}-0000-4000-8000-000000000000`
  const opened = async ({ streams }: ReturnType<typeof timed>) =>
    follow(new Response(await streams.open(NOBODY, new AbortController().signal)))

  test('there is an event in 5 s at most, and the last change of a burst has its own', async () => {
    const timing = timed()
    const { state, looked, streams } = timing
    const stream = await opened(timing)
    state.version = versionNumber(2)
    await looked()
    expect(stream.events()).toBe(1)
    state.version = versionNumber(3)
    state.now = 4_999
    await looked()
    expect(stream.events()).toBe(1)
    state.version = versionNumber(4)
    state.now = 5_600
    await looked()
    expect(stream.text()).toEndWith(`${EVENT}${changePart(versionNumber(4))}"}\n\n`)
    state.now = 14_000
    await looked()
    expect(stream.events()).toBe(2)
    streams.stop()
  })

  test('a comment comes every 15 s, and the end after 10 minutes', async () => {
    const timing = timed()
    const stream = await opened(timing)
    const comments = () => stream.text().split(FIRST).length - 1
    for (const [now, count] of [
      [14_999, 1],
      [15_000, 2],
      [29_999, 2],
      [30_000, 3],
      [599_999, 4],
    ] as const) {
      timing.state.now = now
      await timing.looked()
      expect([now, comments()]).toEqual([now, count])
    }
    timing.state.now = 600_000
    await stream.ended
    expect([stream.text(), timing.streams.size()]).toEqual([FIRST.repeat(4), 0])
  })

  test('while the database is away it stays open, and ends when the key has expired', async () => {
    const timing = timed()
    const { state, looked } = timing
    const stream = await opened(timing)
    state.isAway = true
    await looked()
    expect(timing.streams.size()).toBe(1)
    state.isAway = false
    state.keys = [{ ...LIVE, expiresInMs: -1 as never }]
    await stream.ended
    expect(timing.streams.size()).toBe(0)
  })
})
