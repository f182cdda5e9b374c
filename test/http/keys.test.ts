import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { makeKey, parseKey } from '../../src/accounts/keys/format.ts'
import { createKey, findKeys, listKeys, revokeKey } from '../../src/accounts/keys/queries.ts'
import type { ApiKey } from '../../src/accounts/keys/rights.ts'
import { SCOPES } from '../../src/accounts/keys/scopes.ts'
import type { Organization } from '../../src/accounts/organizations/model.ts'
import {
  createOrganization,
  findOrganization,
  listOrganizations,
} from '../../src/accounts/organizations/queries.ts'
import { createKeyCache } from '../../src/accounts/people/callers.ts'
import { updateOrganization } from '../../src/features/organization/queries.ts'
import { bodyOf, client, jsonPost, newKey, newOrg, testApp } from '../support/api.ts'
import { testsDatabase } from '../support/postgres.ts'

const db = await testsDatabase()

describe('the form of a key', () => {
  test('is that of the contract, and a made key parses', () => {
    const { id, key, hash } = makeKey()
    expect(key).toMatch(/^ca_live_[a-z0-9]{8}_[0-9A-Za-z]{32}[0-9A-Za-z]{6}$/)
    expect(parseKey(key)).toEqual({ id, hash })
    expect(hash).toEqual(new Uint8Array(new Bun.CryptoHasher('sha256').update(key).digest()))
  })

  test('has the CRC-32 of all before it as six Base62 digits', () => {
    const body = `ca_live_abcdefgh_${'0'.repeat(32)}`
    // Computed with Python's zlib.crc32.
    expect(parseKey(`${body}1GyGCE`)?.id).toBe('abcdefgh')
  })

  test('one changed character is noticed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 54 }), fc.constantFrom(...'0aAzZ_é '), (at, letter) => {
        const { key } = makeKey()
        const changed = key.slice(0, at) + letter + key.slice(at + 1)
        return changed === key || parseKey(changed) === undefined
      }),
    )
  })

  test('anything else is none', () => {
    for (const text of ['', 'ca_live_', `${makeKey().key} `, `${makeKey().key}x`, 'x'.repeat(16_384)]) {
      expect(parseKey(text)).toBeUndefined()
    }
  })
})

describe('organizations', () => {
  test('are made with their lock, listed by slug, found and changed', async () => {
    const made = await createOrganization(db.sql, { slug: 'beta', name: ' Beta ', plan: 'cloud_pro' })
    expect(made).toEqual({
      id: expect.stringMatching(/^org_[a-z0-9]{20}$/),
      slug: 'beta',
      name: 'Beta',
      plan: 'cloud_pro',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      time_zone: 'UTC',
      hide_members: false,
      retention_sessions_days: null,
      budget_action: 'warn',
    } satisfies Organization)
    expect(await db.sql`select l.org_id from org_locks l where l.org_id = ${made.id}`).toHaveLength(1)
    expect(await findOrganization(db.sql, 'beta')).toEqual(made)
    expect(await findOrganization(db.sql, 'nobody\0')).toBeUndefined()
    expect(await updateOrganization(db.sql, 'beta', { plan: 'cloud_team', name: ' B ' })).toMatchObject({
      id: made.id,
      name: 'B',
    })
    expect(await findOrganization(db.sql, 'beta')).toEqual({ ...made, plan: 'cloud_team', name: 'B' })
    await createOrganization(db.sql, { slug: 'alpha', name: 'Alpha', plan: 'cloud_pro' })
    expect((await listOrganizations(db.sql)).map(({ slug }) => slug)).toEqual(['alpha', 'beta'])
  })

  test.each([
    [{ slug: 'beta', name: 'x', plan: 'cloud_pro' }, 'already'],
    [{ slug: 'Beta', name: 'x', plan: 'cloud_pro' }, 'slug'],
    [{ slug: '-a', name: 'x', plan: 'cloud_pro' }, 'slug'],
    [{ slug: 'a'.repeat(64), name: 'x', plan: 'cloud_pro' }, 'slug'],
    [{ slug: 'c', name: ' ', plan: 'cloud_pro' }, 'name'],
    [{ slug: 'c', name: 'a\0', plan: 'cloud_pro' }, 'name'],
    [{ slug: 'c', name: 'x', plan: 'free' }, 'cloud_enterprise'],
  ])('%o is refused for its %s', async (wanted, reason) => {
    expect(createOrganization(db.sql, wanted)).rejects.toThrow(reason)
  })

  test('an unknown slug cannot be changed', async () => {
    expect(updateOrganization(db.sql, 'nobody', { name: 'x' })).rejects.toThrow('no organization "nobody"')
  })
})

describe('API keys', () => {
  test('are shown once, listed without their secret, and revoked', async () => {
    const { orgId } = await newOrg(db.sql)
    const made = await createKey(db.sql, orgId, {
      name: 'ci',
      scopes: ['write', 'read', 'read'],
      expires: '2099-01-31',
    })
    expect(made).toMatchObject({
      name: 'ci',
      scopes: ['read', 'write'],
      expires_at: '2099-01-31T00:00:00.000Z',
    })
    const listed = (await listKeys(db.sql, orgId)).find(({ id }) => id === made.id)
    expect(listed).toMatchObject({
      name: 'ci',
      last_used_at: null,
      revoked_at: null,
    } satisfies Partial<ApiKey>)
    expect(JSON.stringify(listed)).not.toContain(made.key.slice(17))
    const [row] = await db.sql`select k.key_hash from api_keys k where k.id = ${made.id}`
    expect(row?.key_hash).toEqual(Buffer.from(new Bun.CryptoHasher('sha256').update(made.key).digest()))
    const { revoked_at } = await revokeKey(db.sql, made.id)
    expect((await revokeKey(db.sql, made.id)).revoked_at).toBe(revoked_at)
    expect(revokeKey(db.sql, 'nothere1')).rejects.toThrow('no API key')
  })

  test.each([
    [{ name: 'x', scopes: [] }, 'needs a scope'],
    [{ name: 'x', scopes: ['root'] }, 'unknown scope "root"'],
    [{ name: 'x', scopes: ['read'], expires: '2026-02-30' }, 'expires'],
    [{ name: 'x', scopes: ['read'], expires: 'tomorrow' }, 'expires'],
    [{ name: 'x', scopes: ['read'], expires: '2026-01-31' }, 'has passed'],
    [{ name: '', scopes: ['read'] }, 'name'],
  ])('%o is refused: %s', async (wanted, reason) => {
    expect(createKey(db.sql, 'org_x', wanted)).rejects.toThrow(reason)
  })

  test('every scope can be given', async () => {
    const { orgId } = await newOrg(db.sql)
    expect((await createKey(db.sql, orgId, { name: 'all', scopes: SCOPES })).scopes).toEqual([...SCOPES])
  })

  test('use is noted, and at most once a minute', async () => {
    const { key, keyId, orgId } = await newOrg(db.sql)
    const ask = client(testApp(db.sql), key)
    await ask('/v1/cost')
    // The note is written behind the answer: a question on the same connections comes after it or sees it at once.
    const noted = async () => (await listKeys(db.sql, orgId)).find(({ id }) => id === keyId)?.last_used_at
    while ((await noted()) === null) await Bun.sleep(1)
    const first = await noted()
    await client(testApp(db.sql), key)('/v1/cost')
    expect(await noted()).toBe(first)
  })
})

describe('the cache of keys', () => {
  const counting = () => {
    let now = 0
    const asked: (readonly string[])[] = []
    const { find } = createKeyCache({
      find: (ids) => {
        asked.push(ids)
        return findKeys(db.sql, ids)
      },
      writeUse: () => {},
      clock: () => now,
    })
    return { find, asked, pass: (ms: number) => (now += ms) }
  }

  test('asks once for all who wait', async () => {
    const { keyId } = await newOrg(db.sql)
    const { find, asked } = counting()
    const found = await Promise.all([
      find(keyId),
      find(keyId),
      find('unknown1'),
      find('unknown2'),
      find('unknown1'),
    ])
    expect(found.map((key) => key?.id)).toEqual([keyId, keyId, undefined, undefined, undefined])
    expect(asked).toEqual([[keyId, 'unknown1', 'unknown2']])
    expect(find('unknown1')).toBeUndefined()
    expect(asked).toHaveLength(1)
  })

  test('a revoked key is found no longer than 0.8 s', async () => {
    const { keyId } = await newOrg(db.sql)
    const { find, pass } = counting()
    expect(await find(keyId)).toBeDefined()
    await revokeKey(db.sql, keyId)
    pass(799)
    expect(find(keyId)).toMatchObject({ id: keyId })
    pass(1)
    expect(await find(keyId)).toBeUndefined()
  })

  test('a key expires while it is cached', async () => {
    const { orgId } = await newOrg(db.sql)
    const expires = new Date(Date.now() + 60_000).toISOString()
    const { id } = await createKey(db.sql, orgId, { name: 'short', scopes: ['read'], expires })
    const { find, pass } = counting()
    expect(await find(id)).toBeDefined()
    // about 60 s are left by the database's clock; none of this cache's has passed
    await db.sql`update api_keys set expires_at = now() + interval '300 milliseconds' where id = ${id}`
    pass(800)
    expect(await find(id)).toBeDefined()
    pass(300)
    expect(find(id)).toBeUndefined()
  })

  test('an error is not remembered', async () => {
    let broken = true
    const { find } = createKeyCache({
      writeUse: () => {},
      find: async () => {
        if (broken) throw new Error('away')
        return []
      },
      clock: () => 0,
    })
    expect(Promise.resolve(find('a'))).rejects.toThrow('away')
    await Promise.resolve(find('a')).catch(() => {})
    broken = false
    expect(await find('a')).toBeUndefined()
  })
})

describe('over HTTP', () => {
  test('a revoked key is refused at once by who revoked it, and writes nothing by any instance', async () => {
    const { key, orgId } = await newOrg(db.sql)
    const admin = await newKey(db.sql, orgId, ['admin', 'write'])
    const keyClock = () => 0
    const [here, there] = [testApp(db.sql, { keyClock }), testApp(db.sql, { keyClock })]
    for (const app of [here, there]) expect((await client(app, key)('/v1/cost')).status).toBe(200)
    const keyId = (await bodyOf(await client(here, key)('/v1/whoami'))).key as { id: string }
    const revoked = await client(here, admin)(`/v1/keys/${keyId.id}`, { method: 'DELETE' })
    expect(revoked.status).toBe(204)
    const record = { type: 'budget', month: '2026-11', limit: 5 }
    const write = (app: typeof here) => client(app, key)('/v1/sync', jsonPost({ records: [record] }))
    expect((await client(here, key)('/v1/cost')).status).toBe(401)
    // the other instance remembers the key for 0.8 s, and its transaction looks again
    expect((await client(there, key)('/v1/cost')).status).toBe(200)
    for (const app of [here, there]) expect((await write(app)).status).toBe(401)
    expect(await db.sql`select 1 from budgets b where b.org_id = ${orgId}`).toHaveLength(0)
    // a key may revoke itself
    const own = (await bodyOf(await client(here, admin)('/v1/whoami'))).key as { id: string }
    expect((await client(here, admin)(`/v1/keys/${own.id}`, { method: 'DELETE' })).status).toBe(204)
  })

  test('a revoked key is refused by every instance within a second', async () => {
    const { key, keyId } = await newOrg(db.sql)
    let nowMs = 0
    const keyClock = () => nowMs
    const instances = [1, 2].map(() => client(testApp(db.sql, { keyClock }), key))
    for (const ask of instances) expect((await ask('/v1/cost')).status).toBe(200)
    await revokeKey(db.sql, keyId)
    nowMs += 1_000
    for (const ask of instances) expect((await ask('/v1/cost')).status).toBe(401)
  })

  test('all that is wrong with a key is answered alike', async () => {
    const { key, orgId } = await newOrg(db.sql)
    const expired = await createKey(db.sql, orgId, { name: 'old', scopes: ['read'], expires: '2099-01-01' })
    await db.sql`update api_keys set expires_at = '2020-01-01' where id = ${expired.id}`
    const revoked = await createKey(db.sql, orgId, { name: 'gone', scopes: ['read'] })
    await revokeKey(db.sql, revoked.id)
    // The right id and checksum, another secret.
    const forged = `ca_live_${orgId.slice(4, 12)}_${makeKey().key.slice(17)}`
    const app = testApp(db.sql)
    const headers = [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      `Basic ${key}`,
      key,
      `Bearer\t${key}`,
      `Bearer ${key}, Bearer ${key}`,
      `Bearer ${key}x`,
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${forged}`,
      `Bearer ${makeKey().key}`,
      `Bearer ${expired.key}`,
      `Bearer ${revoked.key}`,
      'Bearer ké',
      `Bearer ${'k'.repeat(8_000)}`,
    ]
    for (const authorization of headers) {
      const ask = client(app)
      const answer = await ask('/v1/cost', authorization === undefined ? {} : { headers: { authorization } })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
      const { request_id, ...body } = await bodyOf(answer)
      expect(request_id).toBe(answer.headers.get('x-request-id'))
      expect<unknown>(body).toEqual({ error: 'Missing or invalid API key', code: 'UNAUTHORIZED' })
    }
    expect((await client(app)(`/v1/cost?api_key=${key}&authorization=Bearer%20${key}`)).status).toBe(401)
    for (const scheme of ['bearer', 'BEARER', 'Bearer', 'Bearer ', 'Bearer   ']) {
      const answer = await client(app)('/v1/cost', { headers: { authorization: `${scheme} ${key}` } })
      expect(answer.status).toBe(200)
    }
  })

  test('a missing scope is named', async () => {
    const ask = client(testApp(db.sql), (await newOrg(db.sql, { scopes: ['cost:read'] })).key)
    for (const [path, scope] of [
      ['/v1/sessions/sess_none', 'sessions:read'],
      ['/v1/quality?granularity=wrong', 'quality:read'],
    ] as const) {
      const answer = await ask(path)
      expect(answer.status).toBe(403)
      expect(await bodyOf(answer)).toMatchObject({ code: 'FORBIDDEN', error: expect.stringContaining(scope) })
    }
  })
})
