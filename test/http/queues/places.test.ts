import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import net from 'node:net'
import { receive } from '../../../src/http/body.ts'
import { type HttpServer, listen } from '../../../src/http/listen.ts'
import { createGate } from '../../../src/http/queues/gate.ts'
import { createPlaces, type Free } from '../../../src/http/queues/places.ts'
import type { App } from '../../../src/server/app.ts'
import { client, newOrg, type Org, testApp } from '../../support/api.ts'
import { eventually, until } from '../../support/cli.ts'
import {
  holdOrganization,
  silent,
  type TestDatabase,
  testDatabase,
  untilWriterWaits,
} from '../../support/postgres.ts'
import { sessionRecord } from '../../support/records.ts'
import { citusUrls } from '../../support/scaling/citus.ts'

// One organization takes all it can; the others get what they ask for.

const MIB = 1024 * 1024

let db: TestDatabase
let app: App
let server: HttpServer
beforeAll(async () => {
  db = await testDatabase()
  app = testApp(db.sql, { writes: db.pool(4) })
  server = listen(app, { host: '127.0.0.1', port: 0 }, silent)
})
afterAll(async () => {
  await server.stop()
  await db.drop()
})

const session = (id: string, summary = '') =>
  sessionRecord(`sess_${id}`, { project_name: 'p', ...(summary === '' ? {} : { summary }) })
const sync = (ask: ReturnType<typeof client>, records: unknown[], init: RequestInit = {}) =>
  ask('/v1/sync', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ records }),
    ...init,
  })

/** A connection that announces a body of `length` bytes and sends one of them; resolves to what it receives. */
function stall({ key }: Org, length: number, port = server.port): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
    const head = `POST /v1/sync HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}`
    socket.write(`${head}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{`)
  })
}

describe('bodies', () => {
  test('what an organization sends leaves memory to its changes', async () => {
    const own = await newOrg(db.sql, { scopes: ['read', 'write', 'admin'] })
    const gate = createGate({ small: { total: 4 * MIB, each: MIB, waiting: MIB }, waitMs: 100 })
    const ask = client(testApp(db.sql, { gate }), own.key)
    const sent = new Request('http://localhost')
    await gate.pass(sent, own.orgId).takeWork(MIB)
    const name = 'n'.repeat(200)
    const body = ` `.repeat(100 * 1024) + JSON.stringify({ name })
    const headers = { 'content-type': 'application/json' }
    const changed = await ask('/v1/organization', { method: 'PATCH', headers, body })
    expect([changed.status, await changed.json()]).toMatchObject([200, { name }])
    gate.release(sent)
  })

  test('40 that never come hold nobody up, and are refused after 10 s', async () => {
    const [slow, other] = [await newOrg(db.sql), await newOrg(db.sql)]
    const stalled = Array.from({ length: 40 }, () => stall(slow, 1_200_000))
    const padding = ' '.repeat(1_200_000)
    const large = (owner: Org, count: number) =>
      Promise.all(
        Array.from({ length: count }, async (_, index) => {
          const response = await fetch(`${server.url}/v1/sync`, {
            method: 'POST',
            headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
            body: JSON.stringify({ records: [session(`large${index}`)] }) + padding,
          })
          return response.status
        }),
      )
    expect(await large(other, 25)).toEqual(Array(25).fill(200))
    expect(await large(slow, 2)).toEqual([200, 200])
    for (const text of await Promise.all(stalled)) {
      expect(text).toStartWith('HTTP/1.1 408 ')
      expect(text).toContain('"code":"VALIDATION_ERROR"')
      expect(text).toMatch(/\r\nconnection: close\r\n/i)
      expect(text).toMatch(/\r\nx-ratelimit-remaining: \d+\r\n/i)
    }
  }, 180_000)

  test('that have not come when the server stops are refused then', async () => {
    const own = listen(testApp(db.sql), { host: '127.0.0.1', port: 0 }, silent)
    const slow = await newOrg(db.sql)
    const stalled = stall(slow, 1000, own.port)
    const header = net.connect(own.port, '127.0.0.1')
    header.on('error', () => {})
    header.write('GET /v1/cost HTTP/1.1\r\nHost: a\r\nX-Unfinished: ')
    expect((await fetch(`${own.url}/live`)).status).toBe(200)
    // the use of its key is noted when its headers are read
    const used = () =>
      db.sql`select 1 from api_keys k where k.org_id = ${slow.orgId} and k.last_used_at is not null`
    await eventually(used, ({ length }) => length > 0)
    const startedAt = performance.now()
    await own.stop()
    // the unfinished ones would end after 12 s and more
    expect(performance.now() - startedAt).toBeLessThan(12_000)
    const text = await stalled
    expect(text).toStartWith('HTTP/1.1 503 ')
    expect(text).toMatch(/\r\nretry-after: \d+\r\n/i)
  })
})

describe('a body', () => {
  const pace = { graceMs: 500, bytesPerS: 1000, wantedBytesPerS: 100_000 }
  const sizesOf = async (
    body: ReadableStream<Uint8Array>,
    { stopped = new AbortController().signal, isWanted = (): boolean => false } = {},
  ) => {
    const sizes: number[] = []
    const receiving = receive(body, { stopped, isWanted }, pace)
    try {
      for (let chunk = await receiving.next(); chunk !== undefined; chunk = await receiving.next()) {
        sizes.push(chunk.byteLength)
      }
    } finally {
      receiving.end()
    }
    return sizes
  }

  test('that keeps the pace is read whole, however long it takes', async () => {
    let sent = 0
    const steady = new ReadableStream<Uint8Array>({
      async pull(controller) {
        // the pace is tested
        await Bun.sleep(100)
        sent += 1
        controller.enqueue(new Uint8Array(10_000))
        if (sent === 8) controller.close()
      },
    })
    expect(await sizesOf(steady)).toEqual(Array(8).fill(10_000))
  })

  test('that falls behind is refused with 408, and the rest of it is not read', async () => {
    let isCancelled = false
    let sent = 0
    const slow = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await Bun.sleep(50)
        sent += 1
        if (sent <= 100) controller.enqueue(new Uint8Array(1))
      },
      cancel() {
        isCancelled = true
      },
    })
    await expect(sizesOf(slow)).rejects.toMatchObject({ answer: { status: 408 }, code: 'VALIDATION_ERROR' })
    expect(isCancelled).toBe(true)
  })

  test('that holds a large place keeps it at a low rate until another organization waits for it', async () => {
    const gate = createGate({
      ...{ small: { total: 2, each: 2, waiting: 2 }, large: { total: 1, each: 1, waiting: 1 } },
      ...{ waitMs: 20_000, holdMs: 60_000 },
    })
    const [one, next, other] = [1, 2, 3].map((n) => new Request(`http://a/${n}`)) as [
      Request,
      Request,
      Request,
    ]
    const pass = gate.pass(one, 'org_one')
    await pass.takeLarge()
    expect(pass.isWanted()).toBe(false)
    let sent = 0
    const slow = new ReadableStream<Uint8Array>({
      async pull(controller) {
        // the pace is tested
        await Bun.sleep(100)
        sent += 1
        controller.enqueue(new Uint8Array(1_000))
      },
    })
    const reading = sizesOf(slow, pass).catch((error: unknown) => error)
    const own = gate.pass(next, 'org_one').takeLarge()
    // a pace below the wanted one for longer than the grace is tested
    await Bun.sleep(1_500)
    expect(pass.isWanted()).toBe(false)
    expect(sent).toBeGreaterThan(1)
    const taking = gate.pass(other, 'org_other').takeLarge()
    expect(pass.isWanted()).toBe(true)
    expect(await reading).toMatchObject({ code: 'BUSY' })
    gate.release(one)
    await own
    gate.release(next)
    await taking
    gate.release(other)
  })

  test('is not late while it waits for its reader', async () => {
    const chunks = [new Uint8Array(1), new Uint8Array(1)]
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const chunk = chunks.shift()
        if (chunk === undefined) controller.close()
        else controller.enqueue(chunk)
      },
    })
    const receiving = receive(body, { stopped: new AbortController().signal, isWanted: () => false }, pace)
    await receiving.next()
    // a reader that takes longer than the grace is tested
    await Bun.sleep(1_000)
    expect((await receiving.next())?.byteLength).toBe(1)
    expect(await receiving.next()).toBeUndefined()
    receiving.end()
  })

  test('that must come whole is refused with 408 after its time, at any rate', async () => {
    const endless = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await Bun.sleep(10)
        controller.enqueue(new Uint8Array(100_000))
      },
    })
    const whole = { ...pace, bytesPerS: Infinity }
    const receiving = receive(
      endless,
      { stopped: new AbortController().signal, isWanted: () => false },
      whole,
    )
    const reading = (async () => {
      while ((await receiving.next()) !== undefined);
    })().finally(receiving.end)
    await expect(reading).rejects.toMatchObject({
      answer: { status: 408 },
      message: 'body: must come within 0.5 s',
    })
  })

  test('is refused with 503 when the server stops, before and while it is read', async () => {
    const endless = () => new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) })
    const stopping = new AbortController()
    const reading = sizesOf(endless(), { stopped: stopping.signal })
    stopping.abort()
    await expect(reading).rejects.toMatchObject({ code: 'BUSY' })
    await expect(sizesOf(endless(), { stopped: stopping.signal })).rejects.toMatchObject({ code: 'BUSY' })
  })
})

describe('writes', () => {
  // on Citus each takes too long for 200 in the time that a write waits
  test.skipIf(citusUrls.length > 0)(
    'a burst of 200 waits, the next ones as far as the limit goes, and dashboards are served',
    async () => {
      const now = () => new Date('2026-03-01T10:00:12Z')
      const own = testApp(db.sql, { writes: db.pool(4), windowClock: now })
      const { key } = await newOrg(db.sql, { plan: 'cloud_team' })
      const ask = client(own, key)
      const burst = async (name: string) => {
        const sent = Array.from({ length: 200 }, (_, index) => sync(ask, [session(`${name}${index}`)]))
        const reads = Array.from({ length: 20 }, () => ask('/v1/sessions'))
        expect((await Promise.all(reads)).map(({ status }) => status)).toEqual(Array(20).fill(200))
        return (await Promise.all(sent)).map(({ status }) => status)
      }
      expect(await burst('a')).toEqual(Array(200).fill(200))
      expect(await burst('b')).toEqual(Array(200).fill(200))
      const last = await burst('c')
      expect(last.filter((status) => status === 200)).toHaveLength(100)
      expect(last.filter((status) => status === 429)).toHaveLength(100)
    },
    180_000,
  )

  test('of a client that leaves while they wait are not made', async () => {
    const owner = await newOrg(db.sql)
    const gate = createGate()
    let working = 0
    const pass: typeof gate.pass = (...args) => {
      const own = gate.pass(...args)
      const takeWork = async (bytes: number) => {
        await own.takeWork(bytes)
        working += 1
      }
      return { ...own, takeWork }
    }
    const ask = client(testApp(db.sql, { writes: db.pool(4), gate: { ...gate, pass } }), owner.key)
    const release = await holdOrganization(db.sql, owner.orgId)
    const first = sync(ask, [session('first')])
    // it has the one place before the other arrives
    await untilWriterWaits(db.sql)
    const leaving = new AbortController()
    const left = sync(ask, [session('left')], { signal: leaving.signal })
    const third = sync(ask, [session('third')])
    await until(() => working === 3)
    leaving.abort()
    expect((await left).status).toBe(400)
    await release()
    expect([(await first).status, (await third).status]).toEqual([200, 200])
    expect((await ask('/v1/sessions/sess_third')).status).toBe(200)
    expect((await ask('/v1/sessions/sess_left')).status).toBe(404)
  })
})

describe('places', () => {
  const wait = { units: 1, signal: undefined, waitMs: 60_000 }
  const placesOf = (total: number, each: number, waiting = 10) =>
    createPlaces({ total, each, waiting, what: 'things' })
  const taking = (places: ReturnType<typeof placesOf>) => {
    const order: string[] = []
    const frees = new Map<string, Free>()
    const take = async (name: string, units = 1, over = {}) => {
      const free = await places.take(name.slice(0, 1), units, { ...wait, ...over })
      order.push(name)
      frees.set(name, free)
    }
    const free = async (name: string) => {
      frees.get(name)?.()
      await Bun.sleep(0)
    }
    return { order, take, free }
  }

  test('keys of an organization take turns, however many requests one of them has waiting', async () => {
    const { order, take, free } = taking(placesOf(1, 1, 100))
    void take('a0')
    for (let n = 1; n <= 5; n += 1) void take(`a_x${n}`, 1, { by: 'x' })
    for (let n = 1; n <= 2; n += 1) void take(`a_y${n}`, 1, { by: 'y' })
    void take('a_z1', 1, { by: 'z' })
    await Bun.sleep(0)
    for (const name of [...order]) await free(name)
    while (order.length < 9) await free(order.at(-1) ?? '')
    expect(order).toEqual(['a0', 'a_x1', 'a_y1', 'a_z1', 'a_x2', 'a_y2', 'a_x3', 'a_x4', 'a_x5'])
    await free('a_x5')
  })

  test('nobody gets more than its limit, and the rest is left to others', async () => {
    const { order, take, free } = taking(placesOf(4, 2))
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3']) void take(name)
    await Bun.sleep(0)
    expect(order).toEqual(['a1', 'a2', 'b1', 'b2'])
    await free('b1')
    expect(order.slice(4)).toEqual(['b3'])
    await free('a1')
    await free('a1')
    expect(order.slice(5)).toEqual(['a3'])
    // the last place is freed too, so that none is refused while another test runs
    await free('a2')
    expect(order.slice(6)).toEqual(['a4'])
  })

  test('who waits is served in turn by organization, in order within it', async () => {
    const { order, take, free } = taking(placesOf(1, 1))
    for (const name of ['x1', 'a1', 'a2', 'a3', 'b1', 'c1', 'b2']) void take(name)
    await Bun.sleep(0)
    for (const name of ['x1', 'a1', 'b1', 'c1', 'a2', 'b2']) await free(name)
    expect(order).toEqual(['x1', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  })

  test('an organization keeps its turn when the first of its requests leaves', async () => {
    const { order, take, free } = taking(placesOf(1, 1))
    const gone = new AbortController()
    await take('x1')
    const left = take('a1', 1, { signal: gone.signal })
    for (const name of ['a2', 'b1']) void take(name)
    gone.abort()
    await expect(left).rejects.toMatchObject({ code: 'BUSY' })
    for (const name of ['x1', 'a2']) await free(name)
    expect(order).toEqual(['x1', 'a2', 'b1'])
  })

  test('one that needs much is not overtaken by others that need little', async () => {
    const { order, take, free } = taking(placesOf(4, 3))
    await take('a1', 2)
    void take('b1', 3)
    void take('c1', 1)
    await Bun.sleep(0)
    expect(order).toEqual(['a1'])
    await free('a1')
    expect(order).toEqual(['a1', 'b1', 'c1'])
  })

  test('who leaves, waits too long, or comes when too many wait is refused; those behind move up', async () => {
    const { order, take, free } = taking(placesOf(2, 2, 2))
    await take('a1', 1)
    const gone = new AbortController()
    const left = take('a2', 2, { signal: gone.signal })
    const behind = take('a3', 1)
    await expect(take('a4')).rejects.toMatchObject({ code: 'BUSY' })
    gone.abort()
    await expect(left).rejects.toMatchObject({ code: 'BUSY' })
    await behind
    expect(order).toEqual(['a1', 'a3'])
    await expect(take('a5', 1, { waitMs: 10 })).rejects.toMatchObject({ code: 'BUSY' })
    await expect(take('a6', 1, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'BUSY' })
    await free('a1')
    await take('a7')
  })

  test('what another waits for is not wanted where only its own places are taken', async () => {
    const places = createPlaces({ total: 4, each: 2, waiting: 4, what: 'things' })
    const wait = { units: 1, signal: undefined, waitMs: 10_000 }
    const held = await Promise.all([places.take('a', 1, wait), places.take('b', 2, wait)])
    const third = places.take('b', 1, wait)
    expect(places.isWantedBeside('a')).toBe(false)
    const more = await places.take('c', 1, wait)
    const other = places.take('d', 1, wait)
    expect([places.isWantedBeside('a'), places.isWantedBeside('d')]).toEqual([true, false])
    for (const free of [...held, more]) free()
    for (const free of await Promise.all([third, other])) free()
  })

  test('after a stop nobody waits', async () => {
    const places = placesOf(1, 1)
    const { order, take, free } = taking(places)
    await take('a1')
    const waiting = Promise.allSettled([take('a2'), take('b1')])
    places.stop()
    expect(await waiting).toMatchObject(Array(2).fill({ status: 'rejected', reason: { code: 'BUSY' } }))
    await expect(take('c1')).rejects.toMatchObject({ code: 'BUSY' })
    await free('a1')
    await take('d1')
    expect(order).toEqual(['a1', 'd1'])
  })
})
