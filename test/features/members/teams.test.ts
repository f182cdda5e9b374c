import { expect, test } from 'bun:test'
import { type Ask, asker, newKey, newOrg, type Org, PLENTY, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { memberRecord, sessionRecord } from '../../support/records.ts'

// Teams of members, and figures by team: a session counts for the team that its member is in now.

const SCOPES = ['read', 'write', 'audit:write', 'admin']

const db = await testsDatabase()

const app = testApp(db.sql, { config: { rateLimits: PLENTY } })

const session = (id: string, cost: number, further: object = {}) =>
  sessionRecord(`sess_${id}`, { created_at: '2026-03-10T10:00:00Z', estimated_cost: cost, ...further })

const send = async (ask: Ask, ...records: object[]) => {
  const sent = await ask('POST', '/v1/sync', { records })
  expect([sent.status, sent.text]).toEqual([200, expect.stringContaining('"received"')])
  return sent.body
}

/** Ada is in a team, by id and an address of hers; Bob, who is in none, and strangers have sessions too. */
async function organization(): Promise<{ own: Org; ask: Ask }> {
  const own = await newOrg(db.sql, { scopes: SCOPES })
  const ask = asker(app, own.key)
  await send(
    ask,
    memberRecord('ada', { team: 'payments', aliases: ['ada@home.example'] }),
    memberRecord('bob'),
    session('id', 1, { user_id: 'user_ada' }),
    session('alias', 2, { user_email: 'Ada@home.example', project_name: 'web' }),
    session('bob', 4, { user_email: 'bob@example.com' }),
    session('stranger', 8, { user_email: 'eve@example.com' }),
    session('nobody', 16),
  )
  return { own, ask }
}

const costs = async (ask: Ask, path: string) => {
  const { status, body } = await ask('GET', path)
  expect([path, status]).toEqual([path, 200])
  return body.data.map(({ key, cost }) => [key, cost])
}
const ids = async (ask: Ask, query: string) =>
  (await ask('GET', `/v1/sessions?${query}`)).body.data.map(({ id }) => id.replace('sess_', '')).sort()

test('sums by team and sessions of a team follow the team that a member is in now', async () => {
  const { ask } = await organization()
  const [breakdown, outcomes] = ['/v1/cost/breakdown?by=team', '/v1/outcomes?by=team']
  for (const path of [breakdown, outcomes]) {
    expect(await costs(ask, path)).toEqual([
      [null, 28],
      ['payments', 3],
    ])
    expect(await costs(ask, `${path}&team=payments`)).toEqual([['payments', 3]])
    expect(await costs(ask, `${path}&team=`)).toEqual([[null, 28]])
    expect(await costs(ask, `${path}&team=payments&project=web`)).toEqual([['payments', 2]])
  }
  expect(await ids(ask, 'team=payments')).toEqual(['alias', 'id'])
  expect(await ids(ask, 'team=')).toEqual(['bob', 'nobody', 'stranger'])
  expect(await ids(ask, 'team=Payments')).toEqual([])
  expect(await ids(ask, 'team=payments&min_cost=1.5')).toEqual(['alias'])
  expect((await ask('PATCH', '/v1/members/user_bob', { team: 'payments' })).status).toBe(200)
  expect((await ask('PATCH', '/v1/members/user_ada', { team: 'web' })).status).toBe(200)
  await send(ask, memberRecord('eve', { team: 'web' }))
  for (const path of [breakdown, outcomes]) {
    expect(await costs(ask, path)).toEqual([
      [null, 16],
      ['web', 11],
      ['payments', 4],
    ])
  }
  expect(await ids(ask, 'team=web')).toEqual(['alias', 'id', 'stranger'])
})

test('a record without a team keeps it, null takes it away', async () => {
  const { ask } = await organization()
  const teamOf = async () => {
    const { body } = await ask('GET', '/v1/team')
    return (body.members as { id: string; team: string | null }[]).find(({ id }) => id === 'user_ada')?.team
  }
  await send(ask, memberRecord('ada', { display_name: 'Ada L' }))
  expect(await teamOf()).toBe('payments')
  expect(await send(ask, memberRecord('ada', { display_name: 'Ada L', team: null }))).toMatchObject({
    updated: 1,
  })
  expect(await teamOf()).toBeNull()
  for (const team of ['', 'x'.repeat(101), 7])
    expect(
      (await ask('POST', '/v1/sync', { records: [memberRecord('ada', { team })] })).body.details,
    ).toMatchObject([{ field: 'records[0].team' }])
})

test('who sees only their own figures learns nothing of a team', async () => {
  const { own, ask } = await organization()
  await ask('PATCH', '/v1/members/user_bob', { team: 'web' })
  await ask('PATCH', '/v1/organization', { member_visibility: 'own' })
  const key = await newKey(db.sql, own.orgId, ['read'], 'bob@example.com')
  const bob = asker(app, key)
  for (const path of ['/v1/cost/breakdown?by=team', '/v1/outcomes?by=team']) {
    expect(await costs(bob, path)).toEqual([
      ['(others)', 27],
      ['web', 4],
    ])
    expect(await costs(bob, `${path}&team=payments`)).toEqual([])
  }
  expect((await bob('GET', '/v1/cost/breakdown?by=project&team=payments')).body.total).toMatchObject({
    cost: 0,
  })
  expect((await bob('GET', '/v1/outcomes?by=project&team=payments')).body.total).toMatchObject({ cost: 0 })
  expect(await ids(bob, 'team=payments')).toEqual([])
  expect(await ids(bob, 'team=web')).toEqual(['bob'])
})
