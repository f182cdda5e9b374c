import { expect, test } from 'bun:test'
import { findStanding } from '../../src/accounts/people/visibility-queries.ts'
import { leaseRequests } from '../../src/http/rate-windows.ts'
import { client, jsonPost, newOrg, testApp } from '../support/api.ts'
import { testsDatabase } from '../support/postgres.ts'
import { memberRecord } from '../support/records.ts'
import { asOrganization, asOwner, hasRowSecurity } from '../support/rls.ts'

// The row level security by which all tests of the API find statements that read another organization's rows.

const database = await testsDatabase()
const own = await newOrg(database.sql)
const other = await newOrg(database.sql)
const records = [
  { type: 'session', id: 'sess_1', project_name: 'web', created_at: '2026-11-15T00:00:00Z' },
  memberRecord('ada'),
]
const sent = await client(testApp(database.sql), other.key)('/v1/sync', jsonPost({ records }))
expect(sent.status, await sent.text()).toBe(200)

const ids = () => database.sql`select s.id from sessions s`

test.skipIf(!hasRowSecurity)('a statement that reads a row of another organization fails', async () => {
  await asOrganization(own.orgId, async () => {
    await expect(ids()).rejects.toThrow(`a row of ${other.orgId} was read by ${own.orgId}`)
    expect(await asOwner(ids)).toHaveLength(1)
  })
  expect(await asOrganization(other.orgId, ids)).toHaveLength(1)
  expect(await ids()).toHaveLength(1)
})

test('the looks at one organization, which the tests of requests take as the owner of the tables, read its rows only', async () => {
  const { sql } = database
  const lease = (orgId: string) => leaseRequests(sql, orgId, 'read', 3, null)
  const before = await lease(other.orgId)
  await asOrganization(own.orgId, async () => {
    expect(await findStanding(sql, own.orgId, 'ada@example.com')).toBeUndefined()
    expect(await lease(own.orgId)).toMatchObject({ usedBefore: 0 })
  })
  const again = await asOrganization(other.orgId, () => lease(other.orgId))
  if (again.minute === before.minute) expect(again.usedBefore).toBe(before.usedBefore + 3)
  expect(await findStanding(sql, other.orgId, 'ada@example.com')).toMatchObject({ role: 'developer' })
})
