import { expect, test } from 'bun:test'
import { asker, newOrg, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'

const db = await testsDatabase()

test('a change of the time zone waits, and refuses another one', async () => {
  const own = await newOrg(db.sql, { scopes: ['read', 'admin', 'audit:write'] })
  const ask = asker(testApp(db.sql), own.key)
  const zoneOf = async () => {
    const { time_zone, time_zone_pending } = (await ask('GET', '/v1/organization')).body as Record<
      string,
      unknown
    >
    return { time_zone, time_zone_pending }
  }
  const change = (time_zone: unknown) => ask('PATCH', '/v1/organization', { time_zone })
  expect(await zoneOf()).toEqual({ time_zone: 'UTC', time_zone_pending: null })
  for (const wrong of [null, '', '+01:00', 'europe/berlin', 'Mars/Olympus', 1]) {
    const { status, body } = await change(wrong)
    expect([wrong, status, body.details?.map(({ field }) => field)]).toEqual([wrong, 400, ['time_zone']])
  }
  // the zone in force is no change
  expect((await change('UTC')).body).toMatchObject({ time_zone: 'UTC', time_zone_pending: null })
  const asked = await change('Europe/Berlin')
  const waiting = {
    time_zone: 'UTC',
    time_zone_pending: { time_zone: 'Europe/Berlin', at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) },
  }
  expect([asked.status, asked.body]).toMatchObject([200, waiting])
  for (const another of ['Asia/Kolkata', 'UTC', 'Europe/Berlin']) {
    const { status, body } = await change(another)
    expect([status, body.code, body.details?.map(({ field }) => field)]).toEqual([
      409,
      'VALIDATION_ERROR',
      ['time_zone'],
    ])
  }
  expect((await ask('PATCH', '/v1/organization', { name: 'Other' })).body).toMatchObject({
    name: 'Other',
    ...waiting,
  })
  expect(await zoneOf()).toEqual(waiting)
  const { data } = (await ask('GET', '/v1/audit?action=organization.updated')).body
  expect(data.map(({ action }) => action)).toHaveLength(2)
  const entries = await db.sql<{ details: object }[]>`
    select l.details from audit_log l where l.org_id = ${own.orgId} and l.action = 'organization.updated' order by l.created_at`
  expect([...entries]).toEqual([
    { details: { ids: [own.orgId], time_zone: 'Europe/Berlin' } },
    { details: { ids: [own.orgId], name: 'Other' } },
  ])
})
