import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKey, revokeKey, rotateKey } from '../../../src/accounts/keys/queries.ts'
import { bodyOf, client, jsonPost, newKey, newOrg, testApp } from '../../support/api.ts'
import { scratchFolder } from '../../support/at-end.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { memberRecord } from '../../support/records.ts'

const database = await testsDatabase()

const ADA = memberRecord('ada')

test('any key learns what it is', async () => {
  const { sql } = database
  const own = await newOrg(sql, { plan: 'cloud_team' })
  const app = testApp(sql)
  await client(app, own.key)('/v1/sync', jsonPost({ records: [ADA] }))
  const { id, key } = await createKey(sql, own.orgId, {
    name: 'laptop',
    scopes: ['sessions:write'],
    expires: '2099-01-31',
    member: 'Ada@example.com',
  })
  const response = await client(app, key)('/v1/whoami')
  expect(response.status).toBe(200)
  expect(response.headers.get('etag')).toMatch(/^"/)
  expect(await bodyOf(response)).toEqual({
    organization: { id: own.orgId, slug: own.slug, name: own.slug, plan: 'cloud_team', time_zone: 'UTC' },
    key: {
      id,
      name: 'laptop',
      scopes: ['sessions:write'],
      expires_at: '2099-01-31T00:00:00.000Z',
      member: { id: 'user_ada', email: 'ada@example.com' },
    },
    member: { id: 'user_ada', email: 'ada@example.com', display_name: 'Ada', role: 'developer' },
    scopes: ['sessions:write'],
    limits: { read: 500, sync: 500 },
  } as never)
  const plain = await bodyOf(await client(app, own.key)('/api/v1/whoami'))
  expect(plain.key).toMatchObject({ id: own.keyId, expires_at: null, member: null })
  expect(plain.member).toBeNull()
  expect((await client(app)('/v1/whoami')).status).toBe(401)
})

test('a rotated key has the same rights, and the old one ends after the grace', async () => {
  const { sql } = database
  const own = await newOrg(sql)
  const old = await createKey(sql, own.orgId, { name: 'ci', scopes: ['cost:read'], expires: '2099-01-31' })
  const app = testApp(sql)
  const made = await rotateKey(sql, old.id, 3_600_000)
  expect(made).toMatchObject({
    name: 'ci',
    scopes: ['cost:read'],
    expires_at: '2099-01-31T00:00:00.000Z',
    previous: { id: old.id },
  })
  expect(made.id).not.toBe(old.id)
  expect(Math.abs(Date.parse(made.previous.expires_at) - Date.now() - 3_600_000)).toBeLessThan(60_000)
  for (const { key } of [old, made]) expect((await client(app, key)('/v1/cost')).status).toBe(200)
  expect((await client(app, made.key)('/v1/sessions')).status).toBe(403)

  // a key that ends within the grace ends when it would have
  const short = await createKey(sql, own.orgId, {
    name: 'short',
    scopes: ['cost:read'],
    expires: '2099-01-31',
  })
  expect((await rotateKey(sql, short.id, 100 * 366 * 86_400_000)).previous).toEqual({
    id: short.id,
    expires_at: '2099-01-31T00:00:00.000Z',
  })

  // once: the new key would end with the old one's grace
  await expect(rotateKey(sql, old.id, 86_400_000)).rejects.toThrow(`was replaced by ${made.id}`)
  // without a grace the key ends at once, and the new one when it would have ended
  const last = await rotateKey(sql, made.id, 0)
  expect(last.expires_at).toBe(made.expires_at)
  expect((await client(testApp(sql), made.key)('/v1/cost')).status).toBe(401)
  expect((await client(testApp(sql), last.key)('/v1/cost')).status).toBe(200)
  expect(rotateKey(sql, made.id, 0)).rejects.toThrow('has ended')
  await revokeKey(sql, last.id)
  expect(rotateKey(sql, last.id, 0)).rejects.toThrow('has ended')
  expect(rotateKey(sql, 'nothere1', 0)).rejects.toThrow('no API key')
  const entries = await sql`
    select a.details from audit_log a where a.org_id = ${own.orgId} and a.action = 'api_key.rotated'`
  expect(entries).toHaveLength(3)
  expect(JSON.stringify(entries)).not.toContain('ca_live_')
})

test('an admin sees version, backup and disk of a server that has one organization', async () => {
  const [one] = await database.sql`select count(*)::integer as count from organizations`
  const admin = await newOrg(database.sql, { scopes: ['admin'] })
  const ask = client(testApp(database.sql), admin.key)
  const shared = await ask('/v1/server')
  expect(shared.status).toBe(one?.count === 0 ? 200 : 404)
  await database.sql`update organizations set deleted_at = now() where org_id <> ${admin.orgId}`
  const answer = await ask('/v1/server')
  expect(answer.status).toBe(200)
  const answered = await bodyOf(answer)
  expect(answered).toEqual({
    version: expect.any(String),
    database_bytes: expect.any(Number),
    backup_every_seconds: null,
    last_backup: null,
    backup_failed_at: null,
    disk: answered.disk,
  } as never)
  const key = await newKey(database.sql, admin.orgId, ['read'])
  expect((await client(testApp(database.sql), key)('/v1/server')).status).toBe(403)
  using folder = scratchFolder()
  const app = testApp(database.sql, { config: { dataDir: folder.path, backupDir: folder.path } })
  const backupFor = async (scopes: string[]) =>
    (await bodyOf(await client(app, await newKey(database.sql, admin.orgId, scopes))('/v1/attention'))).backup
  const made = (at: Date) =>
    writeFileSync(
      join(folder.path, `cloud-analytics-${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z.zst`),
      '',
    )
  expect(await backupFor(['read', 'admin'])).toEqual({ last_at: null, failed_at: null } as never)
  expect(await backupFor(['read'])).toBeNull()
  made(new Date('2026-01-31T12:00:00Z'))
  expect(await backupFor(['read', 'admin'])).toEqual({
    last_at: '2026-01-31T12:00:00.000Z',
    failed_at: null,
  } as never)
  made(new Date())
  expect(await backupFor(['read', 'admin'])).toBeNull()
})
