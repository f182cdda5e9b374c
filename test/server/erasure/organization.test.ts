import { describe, expect, test } from 'bun:test'
import { createOrganization, findOrganization } from '../../../src/accounts/organizations/queries.ts'
import { deleteOrganization, finishDeletions } from '../../../src/server/erasure/organization.ts'
import { countRows, endOrganization } from '../../../src/server/erasure/queries.ts'
import { jsonPost } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { account, dump, finding, session } from './account.ts'

const database = await testsDatabase()

async function filled() {
  const a = await account(database)
  await a.ask('/v1/webhooks', jsonPost({ url: 'https://hooks.example.com/x', events: ['*'] }))
  await a.sync([
    session('one', '2026-11-01', { security_metadata: { findings: [finding('a.ts')] } }),
    { type: 'budget', month: '2026-11', limit: 5 },
    { type: 'audit', action: 'a.b', user_id: 'u', created_at: '2026-11-01T00:00:00Z' },
  ])
  return a
}

/** The tables that have a row of the organization, the counts of requests aside: they end with their minute. */
const tablesOf = async (orgId: string) =>
  [...(await dump(database))]
    .filter(([name, text]) => name !== 'rate_windows' && text.includes(orgId))
    .map(([name]) => name)

describe('org delete', () => {
  test('everything of it goes, nothing of another, and its name can be given again', async () => {
    const a = await filled()
    const other = await filled()
    const before = await other.export()
    expect((await countRows(database.sql, a.orgId)).map(({ table }) => table)).toEqual(
      expect.arrayContaining(['api_keys', 'audit_log', 'sessions', 'webhook_queue', 'org_locks']),
    )
    await deleteOrganization(database.sql, a.orgId)
    expect(await tablesOf(a.orgId)).toEqual([])
    expect(await other.export()).toBe(before)
    expect(await other.doctor()).toStartWith('agree')
    await createOrganization(database.sql, { slug: a.slug, name: 'again', plan: 'cloud_pro' })
  })

  test('a running instance refuses its keys, whatever it has in memory', async () => {
    const a = await filled()
    for (let time = 0; time < 3; time += 1) expect((await a.ask('/v1/sessions')).status).toBe(200)
    await database.sql.begin((tx) => endOrganization(tx, a.orgId))
    const deadline = performance.now() + 10_000
    // a write is refused at once: it needs the lock that is gone
    const deleted = await a.ask('/v1/sessions/sess_one', { method: 'DELETE' })
    expect(deleted.status).toBe(401)
    let status = 200
    while (status !== 401 && performance.now() < deadline) {
      status = (await a.ask('/v1/sessions')).status
    }
    expect(status).toBe(401)
  })

  test('one that was interrupted is found by nobody and finished by the server', async () => {
    const a = await filled()
    await database.sql.begin((tx) => endOrganization(tx, a.orgId))
    expect(await findOrganization(database.sql, a.slug)).toBeUndefined()
    expect(a.sync([session('two', '2026-11-01')])).rejects.toThrow('deleted')
    expect(await finishDeletions(database.sql)).toBe(0)
    await database.sql`
      update organizations
      set deleted_at = now() - interval '10 minutes'
      where org_id = ${a.orgId}`
    expect(await finishDeletions(database.sql)).toBeGreaterThan(0)
    expect(await tablesOf(a.orgId)).toEqual([])
  })
})
