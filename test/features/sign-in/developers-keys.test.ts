import { expect, test } from 'bun:test'
import { client, newOrg, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { signedIn } from './people.ts'

// A developer makes keys for their own laptops, and manages nobody else's.

const db = await testsDatabase()
const app = testApp(db.sql)

test('a developer makes, sees, rotates and revokes keys of their own only', async () => {
  const { orgId, keyId } = await newOrg(db.sql)
  const ada = await signedIn(app, db.sql, orgId, 'ada@example.com')
  const bob = await signedIn(app, db.sql, orgId, 'bob@example.com')
  const make = async (body: object, by = ada) => {
    const answer = await by.send('POST', '/v1/keys', { name: 'laptop', ...body })
    return { status: answer.status, body: (await answer.json()) as Record<string, string> }
  }
  const made = await make({ scopes: ['sessions:write', 'commits:write', 'cost:read'] })
  expect(made).toMatchObject({
    status: 201,
    body: { member: { id: ada.id, email: 'ada@example.com' }, created_by: ada.id },
  })
  expect((await client(app, made.body.key)('/v1/cost')).status).toBe(200)
  for (const scopes of [['read'], ['audit:read'], ['write'], ['webhooks'], ['admin'], ['members:write']]) {
    expect([scopes, (await make({ scopes })).status]).toEqual([scopes, 403])
  }
  expect((await make({ scopes: ['cost:read'], member: 'bob@example.com' })).status).toBe(403)
  expect((await make({ scopes: ['cost:read'], member: ada.id })).status).toBe(201)
  const bobs = await make({ scopes: ['sessions:write'] }, bob)
  const listed = (await (await ada.get('/v1/keys')).json()) as {
    data: { member: object }[]
    pagination: object
  }
  expect(listed.data.map(({ member }) => member)).toEqual([
    { id: ada.id, email: 'ada@example.com' },
    { id: ada.id, email: 'ada@example.com' },
  ])
  expect(listed.pagination).toMatchObject({ total: 2 })
  for (const id of [bobs.body.id, keyId]) {
    expect((await ada.get(`/v1/keys/${id}`)).status).toBe(404)
    expect((await ada.send('POST', `/v1/keys/${id}/rotate`)).status).toBe(404)
    expect((await ada.send('DELETE', `/v1/keys/${id}`)).status).toBe(404)
  }
  expect((await ada.send('POST', `/v1/keys/${made.body.id}/rotate`)).status).toBe(200)
  expect((await ada.send('DELETE', `/v1/keys/${made.body.id}`)).status).toBe(204)
  for (const path of ['/v1/members', '/v1/organization']) {
    expect([path, (await ada.get(path)).status]).toEqual([path, 403])
  }
})

test('an auditor makes none, and an admin any', async () => {
  const { orgId } = await newOrg(db.sql)
  const otto = await signedIn(app, db.sql, orgId, 'otto@example.com', 'auditor')
  expect((await otto.get('/v1/keys')).status).toBe(403)
  expect((await otto.get('/v1/organization')).status).toBe(200)
  const anna = await signedIn(app, db.sql, orgId, 'anna@example.com', 'admin')
  const made = await anna.send('POST', '/v1/keys', {
    name: 'ci',
    scopes: ['read', 'write', 'webhooks', 'admin'],
    member: otto.id,
  })
  expect(made.status).toBe(201)
  expect(((await (await anna.get('/v1/keys')).json()) as { data: unknown[] }).data).toHaveLength(2)
})
