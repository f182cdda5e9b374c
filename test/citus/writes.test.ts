import { describe, expect, test } from 'bun:test'
import { createKey } from '../../src/accounts/keys/queries.ts'
import { updateOrganization } from '../../src/features/organization/queries.ts'
import { deleteOrganization } from '../../src/server/erasure/organization.ts'
import { erasePerson } from '../../src/server/erasure/person.ts'
import { deleteExpiredSessions } from '../../src/server/erasure/retention.ts'
import { account, dump, NOW, session } from '../server/erasure/account.ts'
import { bodyOf, jsonInit, jsonPost } from '../support/api.ts'
import { testsDatabase } from '../support/postgres.ts'
import { commitRecord, memberRecord } from '../support/records.ts'
import { citusUrls } from '../support/scaling/citus.ts'

// Citus refuses statements that one PostgreSQL takes: each of these is done once on a cluster.

const ACTOR = { userId: 'cli:operator', ipAddress: null }
const ADA = 'ada@example.com'

const database = await testsDatabase()

describe.skipIf(citusUrls.length < 3)('on a cluster', () => {
  const sendFrom = async ({ ask }: Awaited<ReturnType<typeof account>>, machine: string, records: object[]) =>
    await bodyOf(await ask('/v1/sync', jsonInit('POST', { records }, { 'x-machine': machine })))

  test('a machine sends, and sends again', async () => {
    const a = await account(database)
    const mine = (id: string) => session(id, '2026-11-01', { user_email: ADA })
    expect(await sendFrom(a, 'mbp', [mine('one')])).toMatchObject({ created: 1 })
    expect(await sendFrom(a, 'mbp', [mine('one')])).toMatchObject({ unchanged: 1 })
    expect(await sendFrom(a, 'mbp', [mine('two')])).toMatchObject({ created: 1 })
    expect((await a.get('/v1/team/machines')).data).toMatchObject([{ machine: 'mbp', sessions: 2 }])
  }, 180_000)

  test("a webhook's secret is rotated, and again within the grace", async () => {
    const a = await account(database)
    const post = async (path: string, body: object) => {
      const response = await a.ask(path, jsonPost(body))
      return [response.status, await bodyOf(response)] as const
    }
    const [, { id }] = await post('/v1/webhooks', { url: 'https://hooks.example.com/x', events: ['*'] })
    for (const body of [{}, { grace_period_seconds: 60 }, { finish: true }, { grace_period_seconds: 0 }]) {
      const [status, rotated] = await post(`/v1/webhooks/${id}/rotate-secret`, body)
      expect([body, status, rotated]).toMatchObject([body, 200, { id }])
    }
  }, 180_000)

  test('sessions are deleted by id and by age', async () => {
    const a = await account(database)
    await a.sync([session('one', '2026-11-01'), session('two', '2026-11-01'), session('old', '2025-01-01')])
    expect((await a.ask('/v1/sessions/sess_one', { method: 'DELETE' })).status).toBe(204)
    await updateOrganization(database.sql, a.slug, {
      retention_sessions_days: 100,
      confirm_retention: 'all',
    })
    expect(await deleteExpiredSessions(database.sql, NOW)).toBe(1)
    expect((await a.get('/v1/sessions')).data).toMatchObject([{ id: 'sess_two' }])
    expect(await a.doctor()).toStartWith('agree')
  }, 180_000)

  test('a person is erased, then the organization is deleted', async () => {
    const a = await account(database)
    await a.sync([memberRecord('ada', { email: ADA, display_name: 'Ada Lovelace' })])
    await createKey(database.sql, a.orgId, { name: 'laptop', scopes: ['write'], member: ADA })
    await sendFrom(a, `mbp of ${ADA}`, [session('one', '2026-11-01', { user_email: ADA, summary: ADA })])
    await a.sync([
      commitRecord('c1', {
        author_email: ADA,
        author_name: 'Ada Lovelace',
        files: [{ path: 'src/a.ts', additions: 3, deletions: 1, status: 'added' }],
      }),
    ])
    await sendFrom(a, `mbp of ${ADA.toUpperCase()}`, [session('two', '2026-11-01', { user_email: ADA })])
    expect(await erasePerson(database.sql, a.orgId, ACTOR, ADA)).toMatchObject({
      sessions: 2,
      commits: 1,
      keys: 1,
    })
    const rows = async () => [...(await dump(database)).values()].join('\n').split('\n')
    const own = (await rows()).filter((row) => row.includes(a.orgId))
    expect(own.filter((row) => row.includes(ADA))).toEqual([])
    expect(await a.doctor()).toStartWith('agree')
    await deleteOrganization(database.sql, a.orgId)
    expect((await rows()).filter((row) => row.includes(a.orgId))).toEqual([])
  }, 180_000)
})
