import { describe, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { revokeKey } from '../../src/accounts/keys/queries.ts'
import { JsonText } from '../../src/base/json-text.ts'
import { gathered } from '../../src/database/pools/gathered.ts'
import { updateOrganization } from '../../src/features/organization/queries.ts'
import { readQuery } from '../../src/http/query.ts'
import { csvSource } from '../../src/http/responses/csv.ts'
import { cacheKeyOf } from '../../src/http/responses/response.ts'
import { createResponseCache } from '../../src/http/responses/response-cache.ts'
import { bodyOf, client, jsonPost, newKey, newOrg, type Org, testApp } from '../support/api.ts'
import { eventually } from '../support/cli.ts'
import { testsDatabase } from '../support/postgres.ts'
import { sessionRecord } from '../support/records.ts'

const database = await testsDatabase()

let made = 0
const session = (project = 'p') => {
  made += 1
  const fields = { created_at: '2026-01-31T12:00:00.000Z', turns: 1, estimated_cost: 1, quality_score: 80 }
  return sessionRecord(`sess_cache${made}`, { project_name: project, ...fields })
}

const CACHED = { config: { cacheBytes: 64 * 1024 * 1024 } }

describe('the API with a cache', () => {
  const open = async (scopes?: string[]) => {
    const own = await newOrg(database.sql, scopes === undefined ? {} : { scopes })
    const app = testApp(database.sql, CACHED)
    return { own, app, ask: client(app, own.key) }
  }
  const send = (ask: ReturnType<typeof client>, ...records: object[]) =>
    ask('/v1/sync', jsonPost({ records }))

  test.each([
    '/v1/sessions',
    '/v1/sessions?sort=turns',
    '/v1/quality',
    '/v1/quality/trend',
    '/v1/cost',
    '/v1/cost/trend?granularity=week',
    '/v1/security',
    '/v1/security/heatmap',
    '/v1/audit',
  ])('%s is the same again, and another one after each write of any instance', async (path) => {
    const { own, ask } = await open()
    const elsewhere = client(testApp(database.sql, CACHED), own.key)
    const uncached = client(testApp(database.sql, { config: { cacheBytes: 0 } }), own.key)
    for (let round = 0; round < 3; round += 1) {
      const finding = { rule_id: 'r', severity: 'high', title: 't', file: `f${round}.ts` }
      const record = { ...session(), security_metadata: { findings: [finding] } }
      expect((await send(elsewhere, record)).status).toBe(200)
      const texts: string[] = []
      for (const each of [ask, ask, elsewhere, uncached]) {
        const response = await each(path)
        expect(response.status).toBe(200)
        texts.push(await response.text())
      }
      expect(new Set(texts).size).toBe(1)
    }
  })

  test('with and without a cache, all headers but those of the request are the same', async () => {
    const { own, ask } = await open()
    await send(ask, ...Array.from({ length: 60 }, () => session()))
    const at = new Date()
    const over = { windowClock: () => at }
    const cached = client(testApp(database.sql, { ...CACHED, ...over }), own.key)
    const uncached = client(testApp(database.sql, { config: { cacheBytes: 0 }, ...over }), own.key)
    const OF_THE_REQUEST = ['x-request-id', 'x-ratelimit-remaining']
    const shown = async (response: Response) => ({
      status: response.status,
      headers: Object.fromEntries(
        [...response.headers].filter(([name]) => !OF_THE_REQUEST.includes(name)).sort(),
      ),
      body: Bun.hash(await response.bytes()),
    })
    for (const path of ['/v1/sessions?page=2&per_page=20', '/v1/sessions', '/v1/quality']) {
      for (const encoding of ['identity', 'gzip', 'zstd', 'gzip', 'identity']) {
        const headers = { 'accept-encoding': encoding }
        const first = await uncached(path, { headers })
        const given = await shown(first)
        // known from the second request on
        for (let nth = 0; nth < 3; nth += 1) {
          expect(await shown(await cached(path, { headers }))).toEqual(given)
        }
        const condition = { headers: { ...headers, 'if-none-match': String(first.headers.get('etag')) } }
        const unchanged = await shown(await uncached(path, condition))
        expect(unchanged.status).toBe(304)
        expect(await shown(await cached(path, condition))).toEqual(unchanged)
      }
    }
  })

  test('a key without the scope, a revoked key and another organization get nothing from memory', async () => {
    const { own, app, ask } = await open()
    await send(ask, session('secret-project'))
    expect(await (await ask('/v1/sessions')).text()).toContain('secret-project')
    const other = await newOrg(database.sql)
    expect(await (await client(app, other.key)('/v1/sessions')).text()).not.toContain('secret-project')
    const narrow = await orgKey(own, ['quality:read'])
    expect((await client(app, narrow)('/v1/sessions')).status).toBe(403)
    await revokeKey(database.sql, own.keyId)
    const isRefused = (status: number) => status !== 200
    expect(await eventually(async () => (await ask('/v1/sessions')).status, isRefused)).toBe(401)
  })

  test('requests answered from memory count, and are refused beyond the limit of the plan', async () => {
    const own = await newOrg(database.sql, { plan: 'cloud_pro' })
    const at = new Date('2026-05-05T10:00:00Z')
    const app = testApp(database.sql, { ...CACHED, windowClock: () => at })
    const ask = client(app, own.key)
    const statuses: number[] = []
    for (let i = 0; i < 102; i += 1) statuses.push((await ask('/v1/quality')).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(100)
    const refused = await ask('/v1/quality')
    expect([refused.status, (await bodyOf(refused)).code]).toEqual([429, 'RATE_LIMITED'])
    expect(refused.headers.get('retry-after')).not.toBeNull()
    await updateOrganization(database.sql, own.slug, { plan: 'cloud_team' })
  })

  test('compressed by what the client accepts, under an ETag of its own', async () => {
    const { ask } = await open()
    await send(ask, ...Array.from({ length: 30 }, () => session()))
    const plain = await (await ask('/v1/sessions')).text()
    const tags = new Set<string | null>()
    for (const [accept, encoding, inflate] of [
      ['gzip', 'gzip', Bun.gunzipSync],
      ['br, gzip;q=0.5', 'gzip', Bun.gunzipSync],
      ['gzip, zstd', 'zstd', Bun.zstdDecompressSync],
      ['zstd;q=0, gzip', 'gzip', Bun.gunzipSync],
      ['zstd;q=0, gzip;q=0', null, (bytes: Uint8Array<ArrayBuffer>) => bytes],
      ['gzip;q=0.0, zstd; q=0', null, (bytes: Uint8Array<ArrayBuffer>) => bytes],
      ['identity', null, (bytes: Uint8Array<ArrayBuffer>) => bytes],
    ] as const) {
      const response = await ask('/v1/sessions', { headers: { 'accept-encoding': accept } })
      expect(response.headers.get('content-encoding')).toBe(encoding)
      expect(response.headers.get('vary')).toBe('Accept, Accept-Encoding')
      tags.add(response.headers.get('etag'))
      const bytes = new Uint8Array(await response.arrayBuffer())
      expect(new TextDecoder().decode(inflate(bytes))).toBe(plain)
    }
    expect(tags.size).toBe(3)
  })

  test('what any writer was told is in what any reader reads next, over three instances', async () => {
    const own = await newOrg(database.sql)
    const rateLimits = { cloud_pro: 1e6, cloud_team: 1e6, cloud_enterprise: 1e6 }
    const config = { ...CACHED.config, rateLimits }
    const instances = Array.from({ length: 3 }, () => client(testApp(database.sql, { config }), own.key))
    let acknowledged = 0
    let reads = 0
    let isWriting = true
    const writer = async (index: number) => {
      for (let round = 0; round < 15; round += 1) {
        const ask = instances[(index + round) % instances.length]
        if (ask !== undefined && (await send(ask, session())).status === 200) acknowledged += 1
      }
    }
    const reader = async (index: number) => {
      for (let round = 0; isWriting; round += 1) {
        const ask = instances[(index + round) % instances.length]
        const known = acknowledged
        const response = await ask?.('/v1/sessions?per_page=1')
        const { pagination } = await bodyOf(response ?? new Response())
        expect(pagination.total).toBeGreaterThanOrEqual(known)
        reads += 1
      }
    }
    const readers = Promise.all(Array.from({ length: 8 }, (_item, index) => reader(index)))
    await Promise.all(Array.from({ length: 4 }, (_item, index) => writer(index)))
    isWriting = false
    await readers
    expect(acknowledged).toBe(60)
    expect(reads).toBeGreaterThan(0)
  })
})

async function orgKey({ orgId }: Org, scopes: string[]): Promise<string> {
  return await newKey(database.sql, orgId, scopes)
}

describe('the cache', () => {
  const counting = (maxBytes: number) => {
    let version = 1
    let computed = 0
    const cache = createResponseCache(async () => String(version), maxBytes)
    const respond = (key: string, size = 10, orgId = 'o') =>
      cache.respond(orgId, { key }, async () => {
        computed += 1
        return new JsonText('x'.repeat(size))
      })
    return { cache, respond, computed: () => computed, write: () => (version += 1) }
  }

  test('keeps what is asked for again, computes once for all that wait, and again after a write', async () => {
    const { respond, computed, write } = counting(1_000_000)
    await respond('a')
    await Promise.all([respond('a'), respond('a'), respond('a')])
    await respond('a')
    expect(computed()).toBe(2)
    write()
    await respond('a')
    expect(computed()).toBe(3)
    await respond('a', 10, 'other')
    expect(computed()).toBe(4)
  })

  test('stays within its bytes: one that was used stays, one too large is not kept', async () => {
    const { cache, respond, computed } = counting(5_000)
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'huge']) await respond(key)
    await respond('a')
    await respond('b')
    await respond('c')
    await respond('a')
    for (const key of ['d', 'e', 'f']) await respond(key)
    expect(cache.size().bytes).toBeLessThanOrEqual(5_000)
    const before = computed()
    await respond('f')
    expect(computed()).toBe(before)
    await respond('b')
    expect(computed()).toBe(before + 1)
    await respond('huge', 100_000)
    await respond('huge', 100_000)
    expect(computed()).toBe(before + 3)
    expect(cache.size().bytes).toBeLessThanOrEqual(5_000)
  })

  test('what is used again and again stays, however much else is kept for a while', async () => {
    const { respond, computed } = counting(20_000)
    await respond('hot')
    for (let index = 0; index < 1_000; index += 1) {
      await respond(`passing ${index}`)
      await respond(`passing ${index}`)
      await respond('hot')
    }
    // each of the others twice: once unknown, once to be kept
    expect(computed()).toBe(2 * 1_000 + 2)
  })

  test('a hit takes no longer with many responses in memory', async () => {
    const hitsUs = async (others: number) => {
      const { respond, computed } = counting(2 ** 30)
      for (let index = 0; index < others; index += 1) {
        await respond(`other ${index}`)
        await respond(`other ${index}`)
      }
      for (let index = 0; index < 10_000; index += 1) await respond('hot')
      expect(computed()).toBe(2 * others + 2)
      const rounds: number[] = []
      for (let round = 0; round < 5; round += 1) {
        const start = performance.now()
        for (let index = 0; index < 1_000; index += 1) await respond('hot')
        rounds.push(performance.now() - start)
      }
      return Math.min(...rounds)
    }
    const alone = await hitsUs(0)
    // a hit that moved its entry took a hundred times as long
    expect(await hitsUs(15_000)).toBeLessThan(10 * alone)
  })

  test('counts names and compressed bodies, and forgets them with the response', async () => {
    const { cache, respond, write } = counting(100_000)
    const long = 'k'.repeat(2_000)
    await respond(long, 5_000)
    const response = await respond(long, 5_000)
    const alone = cache.size().bytes
    expect(alone).toBeGreaterThan(5_000 + long.length)
    cache.grow(response, 700)
    expect(cache.size().bytes).toBe(alone + 700)
    write()
    await respond(long, 5_000)
    expect(cache.size().bytes).toBe(alone)
    for (let index = 0; index < 1_000; index += 1) {
      await respond(`other ${index}`)
      await respond(`other ${index}`)
      expect(cache.size().bytes).toBeLessThanOrEqual(100_000)
    }
  })

  test('has the last response of a key for as long as asked, whatever its version', async () => {
    const { cache, respond, write } = counting(100_000)
    await respond('a')
    const kept = await respond('a')
    write()
    expect(cache.last('o', 'b', 60_000)).toBeUndefined()
    expect(cache.last('o', 'a', 60_000)).toBe(kept)
    await Bun.sleep(5)
    expect(cache.last('o', 'a', 1)).toBeUndefined()
  })

  test('keeps nothing when the version cannot be read, and what fails is computed again', async () => {
    let fails = false
    const cache = createResponseCache(async () => {
      if (fails) throw new Error('no database')
      return 'v'
    }, 10_000)
    const respond = () => cache.respond('o', { key: 'a' }, async () => new JsonText('{}'))
    await respond()
    fails = true
    await expect(respond()).rejects.toThrow('no database')
    fails = false
    expect((await respond()).version).toBe('v')
    const broken = () => cache.respond('o', { key: 'b' }, () => Promise.reject(new Error('broken')))
    await expect(broken()).rejects.toThrow('broken')
    expect(cache.size().responses).toBe(1)
  })

  test('the order of parameters makes no other response', () => {
    const schema = Type.Object({
      a: Type.Optional(Type.Integer()),
      b: Type.String(),
      c: Type.Optional(Type.Integer({ default: 3 })),
    })
    const read = (url: string) => readQuery(schema, url)
    expect(cacheKeyOf('/r', read('/r?a=1&b=x'))).toBe(cacheKeyOf('/r', read('/r?c=3&b=x&a=1')))
    expect(cacheKeyOf('/r', read('/r?a=1&b=x'))).not.toBe(cacheKeyOf('/r', read('/r?a=1&b=x&c=4')))
    expect(cacheKeyOf('/r', { a: 1 })).not.toBe(cacheKeyOf('/r', { a: 2 }))
  })

  test('a value is not taken for a parameter, nor for the form of the response', () => {
    expect(cacheKeyOf('/r', { a: 'x b y' })).not.toBe(cacheKeyOf('/r', { a: 'x', b: 'y' }))
    const csv = csvSource({ key: cacheKeyOf('/r', { ticket: 'AB-1' }) }, {})
    expect(csv.key).not.toBe(cacheKeyOf('/r', { ticket: 'AB-1 as CSV' }))
  })
})

describe('the version reader', () => {
  test('reads begin after the calls they answer, together for all that wait', async () => {
    const reads: { orgIds: readonly string[]; answer: (versions: Map<string, string>) => void }[] = []
    const read = gathered<string>(
      (orgIds) => new Promise((resolve) => reads.push({ orgIds, answer: resolve })),
    )
    const first = [read('a'), read('b'), read('a')]
    while (reads.length === 0) await Bun.sleep(0)
    const late = read('a')
    await Bun.sleep(0)
    expect(reads.map(({ orgIds }) => orgIds)).toEqual([['a', 'b']])
    reads[0]?.answer(
      new Map([
        ['a', '1'],
        ['b', '2'],
      ]),
    )
    expect(await Promise.all(first)).toEqual(['1', '2', '1'])
    while (reads.length === 1) await Bun.sleep(0)
    reads[1]?.answer(new Map([['a', '3']]))
    expect(await late).toBe('3')
  })

  test('a read waits for further calls as long as each turn brings some, and for 1 ms at most', async () => {
    const read: number[] = []
    const reader = gathered(async (owners) => {
      read.push(owners.length)
      return new Map(owners.map((owner) => [owner, 'v']))
    })
    const calls: Promise<unknown>[] = []
    // each is called before the turn's immediates run, in which the reader looks whether there are more
    const callIn = async (turns: number, name: string) => {
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      calls.push(reader(name))
    }
    await Promise.all([callIn(2, 'a'), callIn(1, 'b'), callIn(0, 'c')])
    await Promise.all(calls)
    expect(read).toEqual([3])
    const end = performance.now() + 10_000
    let isDone = false
    const callOn = async () => {
      while (!isDone && performance.now() < end) await callIn(1, 'more')
      return isDone
    }
    const calling = callOn()
    void reader('first').then(() => {
      isDone = true
    })
    expect(await calling).toBe(true)
    await Promise.all(calls)
  })

  test('gives undefined for an organization that is not there, and reads on after a failure', async () => {
    let fails = true
    const read = gathered(async () => {
      if (fails) throw new Error('no database')
      return new Map([['a', '1']])
    })
    await expect(read('a')).rejects.toThrow('no database')
    await Bun.sleep(1)
    fails = false
    expect(await read('b')).toBeUndefined()
    expect(await read('a')).toBe('1')
  })
})
