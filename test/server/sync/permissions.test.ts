import { describe, expect, test } from 'bun:test'
import { createKey } from '../../../src/accounts/keys/queries.ts'
import type { Scope } from '../../../src/accounts/keys/scopes.ts'
import { bodyOf, client, jsonPost, newKey, newOrg, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { commitRecord, memberRecord, pullRecord, sessionRecord } from '../../support/records.ts'

// The scopes and the member of a key decide what it may send, and to whom sessions belong.

const database = await testsDatabase()
const app = testApp(database.sql)

const AT = '2026-03-01T10:00:00Z'
const session = (id: string, fields: object = {}) =>
  sessionRecord(`sess_${id}`, { created_at: AT, ...fields })
const member = (email: string, id: string) => memberRecord('member', { email, id, joined_at: AT })
const RECORDS: Record<string, object> = {
  'sessions:write': session('one'),
  'commits:write': commitRecord('a'.repeat(40), { committed_at: AT, files: [] }),
  'risk:write': pullRecord(1, {
    pr_title: 'Pay',
    created_at: AT,
    impact_score: 1,
    regression_score: 1,
    security_score: 1,
    coupling_score: 1,
  }),
  'members:write': member('ada@example.com', 'user_ada'),
  'budgets:write': { type: 'budget', month: '2026-03', limit: 10 },
  'reports:write': { type: 'report', report_type: 'soc2', from: '2026-01-01', to: '2026-01-31' },
  'audit:write': { type: 'audit', action: 'door.opened', user_id: 'ada', created_at: AT },
}
const SCOPES = Object.keys(RECORDS)

const sender = (key: string) => {
  const ask = client(app, key)
  return async (records: readonly object[], query = '') => {
    const response = await ask(`/v1/sync${query}`, jsonPost({ records }))
    return { status: response.status, body: await bodyOf(response) }
  }
}

/** Counts the organization's rows of all that records become, without audit entries of keys. */
async function storedRows(orgId: string): Promise<number> {
  const tables = ['sessions', 'commits', 'pr_risks', 'members', 'budgets', 'reports']
  const counts = await Promise.all(
    tables.map(async (table) => {
      const { sql } = database
      const [row] = await sql<{ n: number }[]>`
        select count(*)::int as n from ${sql(table)} t where t.org_id = ${orgId}`
      return row?.n ?? 0
    }),
  )
  const [audit] = await database.sql<{ n: number }[]>`
    select count(*)::int as n from audit_log a where a.org_id = ${orgId} and a.action = 'door.opened'`
  return counts.reduce((sum, n) => sum + n, audit?.n ?? 0)
}

describe('scopes', () => {
  test.each(SCOPES)('%s is for its kind of record alone', async (scope) => {
    const own = await newOrg(database.sql, { scopes: [scope] })
    const send = sender(own.key)
    for (const other of SCOPES.filter((one) => one !== scope)) {
      const { status, body } = await send([RECORDS[scope] ?? {}, RECORDS[other] ?? {}])
      expect(status).toBe(403)
      expect(body).toMatchObject({
        code: 'FORBIDDEN',
        error: `records[1]: needs an API key with the scope ${other}`,
        details: [{ field: 'records[1]' }],
      })
    }
    expect(await storedRows(own.orgId)).toBe(0)
    expect((await send([RECORDS[scope] ?? {}])).status).toBe(200)
    expect(await storedRows(own.orgId)).toBe(1)
  })

  test('write is for all kinds but audit entries', async () => {
    const own = await newOrg(database.sql, { scopes: ['write'] })
    const send = sender(own.key)
    const refused = await send(Object.values(RECORDS))
    expect(refused.status).toBe(403)
    expect(refused.body.error).toBe('records[6]: needs an API key with the scope audit:write')
    expect(await storedRows(own.orgId)).toBe(0)
    expect((await send(Object.values(RECORDS).slice(0, -1))).status).toBe(200)
  })

  test('a line of NDJSON is named by its number, and before what is wrong with other lines', async () => {
    const own = await newOrg(database.sql, { scopes: ['sessions:write'] })
    const response = await client(app, own.key)('/v1/sync', {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: `\n{"type":"session"}\n${JSON.stringify(RECORDS['budgets:write'])}\n`,
    })
    expect(response.status).toBe(403)
    expect((await bodyOf(response)).details.map(({ field }) => field)).toEqual(['records[2]'])
  })

  test('sessions of another user, and all that contradict themselves, are named by their lines', async () => {
    const { key } = await newOrg(database.sql)
    const send = async (...records: object[]) => {
      const response = await client(app, key)('/v1/sync', {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson' },
        body: `\n${records.map((record) => JSON.stringify(record)).join('\n')}`,
      })
      const { details = [] } = await bodyOf(response)
      return { status: response.status, fields: details.map(({ field }) => field) }
    }
    const wrong = { quality_score: 50, quality_metadata: { base: 75, factors: [] } }
    expect(await send(session('one', { user_email: 'ada@example.com' }))).toEqual({ status: 200, fields: [] })
    expect(await send(session('one', { user_email: 'alan@example.com' }), session('two'))).toEqual({
      status: 400,
      fields: ['records[1].user_email'],
    })
    expect(await send(session('a', wrong), session('b'), session('c', wrong))).toEqual({
      status: 400,
      fields: ['records[1].quality_metadata.score', 'records[3].quality_metadata.score'],
    })
  })

  test('a missing scope is named also behind many invalid records', async () => {
    const own = await newOrg(database.sql, { scopes: ['sessions:write'] })
    const invalid = Array.from({ length: 50 }, () => ({ type: 'session' }))
    const { status, body } = await sender(own.key)([...invalid, RECORDS['budgets:write'] ?? {}])
    expect([status, body.code]).toEqual([403, 'FORBIDDEN'])
    expect(body.details.map(({ field }) => field)).toEqual(['records[50]'])
    const other = await sender(own.key)(invalid)
    expect([other.status, other.body.details.length]).toEqual([400, 20])
  })
})

test('deleted sessions are stored again by a key with write only', async () => {
  const { key, orgId } = await newOrg(database.sql, { scopes: ['write'] })
  const laptop = await newKey(database.sql, orgId, ['sessions:write'])
  const send = sender(laptop)
  await send([session('gone')])
  expect((await client(app, key)('/v1/sessions/sess_gone', { method: 'DELETE' })).status).toBe(204)
  const { status, body } = await send([session('gone')], '?restore=true')
  expect([status, body.code, body.error]).toEqual([
    403,
    'FORBIDDEN',
    '?restore=true needs an API key with the scope write',
  ])
  expect((await send([session('gone')])).body).toMatchObject({ created: 0, unchanged: 1 })
  expect((await sender(key)([session('gone')], '?restore=true')).body).toMatchObject({ created: 1 })
})

describe("a member's key", () => {
  const BOUND: { name: string; scopes: Scope[]; member: string } = {
    name: 'laptop',
    scopes: ['sessions:write'],
    member: 'ADA@example.com',
  }

  async function bound(scopes: Scope[] = ['sessions:write', 'sessions:read']) {
    const own = await newOrg(database.sql)
    const sendAny = sender(own.key)
    await sendAny([member('ada@example.com', 'user_ada'), member('bob@example.com', 'user_bob')])
    const { key } = await createKey(database.sql, own.orgId, { ...BOUND, scopes })
    const userOf = async (id: string) =>
      (await bodyOf(await client(app, own.key)(`/v1/sessions/sess_${id}`))).user_id
    return { own, sendAny, send: sender(key), userOf }
  }

  test('sends the sessions of the member', async () => {
    const { send, userOf } = await bound()
    const own = [
      session('none'),
      session('address', { user_email: 'Ada@Example.com' }),
      session('id', { user_id: 'user_ada' }),
    ]
    expect((await send(own)).body).toMatchObject({ created: 3 })
    for (const id of ['none', 'address', 'id']) expect(await userOf(id)).toBe('user_ada')
    expect((await send(own)).body).toMatchObject({ unchanged: 3 })
  })

  test.each([
    [{ user_email: 'bob@example.com' }, 'user_email'],
    [{ user_id: 'user_bob' }, 'user_id'],
    [{ user_email: 'ada@example.com', user_id: 'user_bob' }, 'user_id'],
  ])('is refused those of another: %o', async (user, field) => {
    const { own, send } = await bound()
    const { status, body } = await send([session('mine'), session('theirs', user)])
    expect([status, body.code]).toEqual([403, 'FORBIDDEN'])
    expect(body.details.map((detail) => detail.field)).toEqual([`records[1].${field}`])
    expect(await storedRows(own.orgId)).toBe(2)
  })

  test('takes no session of another, also with reassign', async () => {
    const { sendAny, send, userOf } = await bound()
    await sendAny([session('bobs', { user_email: 'bob@example.com' })])
    expect((await send([session('bobs')])).status).toBe(400)
    const { status, body } = await send([session('bobs')], '?reassign=true')
    expect([status, body.code]).toEqual([403, 'FORBIDDEN'])
    expect(body.details.map(({ field }) => field)).toEqual(['records[0].user_email'])
    expect(await userOf('bobs')).toBe('user_bob')
  })

  test('takes no session that is stored without a user', async () => {
    const { sendAny, send, userOf } = await bound()
    await sendAny([session('nobodys')])
    for (const query of ['', '?reassign=true']) {
      for (const user of [{}, { user_id: 'user_ada' }]) {
        const { status, body } = await send([session('mine'), session('nobodys', user)], query)
        expect([status, body.code]).toEqual([403, 'FORBIDDEN'])
        const field = 'user_id' in user ? 'user_id' : 'user_email'
        expect(body.details.map((detail) => detail.field)).toEqual([`records[1].${field}`])
      }
    }
    expect(await userOf('nobodys')).toBeNull()
    // its own ones grow
    await send([session('mine')])
    expect((await send([session('mine', { turns: 2 })])).body).toMatchObject({ updated: 1 })
  })

  test('adds commits of any author and changes none that is stored', async () => {
    const { own, send } = await bound(['commits:write'])
    const commit = RECORDS['commits:write'] ?? {}
    const other = { ...commit, sha: 'b'.repeat(40), author_email: 'bob@example.com', author_name: 'Bob' }
    expect((await send([commit, other])).body).toMatchObject({ created: 2 })
    expect((await send([commit, other])).body).toMatchObject({ unchanged: 2 })
    const told = { ...other, on_default_branch: false }
    expect((await send([commit, told])).body).toMatchObject({ updated: 1, unchanged: 1 })
    expect((await send([commit, told])).body).toMatchObject({ updated: 0, unchanged: 2 })
    const before = await database.sql`select c.* from commits c where c.org_id = ${own.orgId} order by c.sha`
    const files = [{ path: 'pay.ts', additions: 9, deletions: 0, status: 'modified' }]
    for (const change of [
      { author_email: 'ada@example.com' },
      { author_name: 'Eve' },
      { committed_at: '2026-03-02T10:00:00Z' },
      { files },
    ]) {
      const { status, body } = await send([commit, { ...other, ...change }])
      expect([status, body.code]).toEqual([403, 'FORBIDDEN'])
      expect(body.details.map(({ field }) => field)).toEqual(['records[1].sha'])
    }
    expect(
      await database.sql`select c.* from commits c where c.org_id = ${own.orgId} order by c.sha`,
    ).toEqual(before)
    // a key that is nobody's corrects it
    expect((await sender(own.key)([{ ...other, files }])).body).toMatchObject({ updated: 1 })
  })

  test('makes no alias', async () => {
    const { own, send, sendAny } = await bound(['members:write'])
    // a developer's keys write no members at all
    const ada = { ...member('ada@example.com', 'user_ada'), role: 'admin' }
    await database.sql`update members set role = 'admin' where org_id = ${own.orgId} and id = 'user_ada'`
    const { status, body } = await send([{ ...ada, aliases: ['eve@example.com'] }])
    expect([status, body.code]).toEqual([403, 'FORBIDDEN'])
    expect(body.details.map(({ field }) => field)).toEqual(['records[0].aliases'])
    expect((await send([ada])).status).toBe(200)
    expect((await sendAny([{ ...ada, aliases: ['eve@example.com'] }])).body).toMatchObject({ updated: 1 })
  })

  test('is only for members', async () => {
    const own = await newOrg(database.sql)
    expect(createKey(database.sql, own.orgId, BOUND)).rejects.toThrow('there is no member "ADA@example.com"')
  })
})

describe('the user of a session', () => {
  const users = async (orgId: string) =>
    Object.fromEntries(
      (
        await database.sql<{ id: string; user: string | null }[]>`
          select s.id, coalesce(s.user_id, s.user_email) as user from sessions s where s.org_id = ${orgId}`
      ).map(({ id, user }) => [id, user]),
    )

  test('stays when the session is sent again without one', async () => {
    const { key, orgId } = await newOrg(database.sql)
    const send = sender(key)
    await send([session('kept', { user_email: 'ada@example.com' })])
    expect((await send([session('kept')])).body).toMatchObject({ unchanged: 1 })
    expect((await send([session('kept', { turns: 5 })])).body).toMatchObject({ updated: 1 })
    expect((await send([session('kept', { turns: 5, user_email: 'ada@example.com' })])).body).toMatchObject({
      unchanged: 1,
    })
    expect((await send([session('two', { user_id: 'user_x' }), session('two', { turns: 1 })])).status).toBe(
      200,
    )
    expect(await users(orgId)).toEqual({ sess_kept: 'ada@example.com', sess_two: 'user_x' })
  })

  test('changes only when the request says so', async () => {
    const { key, orgId } = await newOrg(database.sql)
    const send = sender(key)
    const theirs = session('given', { user_email: 'bob@example.com' })
    await send([session('given', { user_email: 'ada@example.com' })])
    const { status, body } = await send([session('other'), theirs])
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(body.details).toEqual([
      {
        field: 'records[1].user_email',
        message: 'the session has another user; ?reassign=true (sync --reassign) changes that',
      },
    ])
    expect((await send([theirs], '?reassign=false')).status).toBe(400)
    expect(await users(orgId)).toEqual({ sess_given: 'ada@example.com' })
    expect((await send([theirs], '?reassign=true')).body).toMatchObject({ updated: 1 })
    expect(await users(orgId)).toEqual({ sess_given: 'bob@example.com' })
    expect((await send([theirs], '?reassign=yes')).status).toBe(400)
  })

  test('is not another one for two records of one request, unless the request says so', async () => {
    const { key, orgId } = await newOrg(database.sql)
    const send = sender(key)
    const both = ['ada', 'bob'].map((name) => session('twice', { user_email: `${name}@example.com` }))
    expect((await send(both)).body.details.map(({ field }) => field)).toEqual(['records[1].user_email'])
    expect((await send(both, '?reassign=true')).status).toBe(200)
    expect(await users(orgId)).toEqual({ sess_twice: 'bob@example.com' })
  })

  test('is the same by the id and by the address of a member', async () => {
    const { key } = await newOrg(database.sql)
    const send = sender(key)
    await send([member('ada@example.com', 'user_ada'), session('same', { user_email: 'ada@example.com' })])
    expect((await send([session('same', { user_id: 'user_ada' })])).body).toMatchObject({ updated: 1 })
    expect((await send([session('same', { user_email: 'ADA@example.com' })])).status).toBe(200)
    expect((await send([session('same', { user_id: 'user_bob' })])).status).toBe(400)
  })
})
