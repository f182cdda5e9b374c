import { expect, test } from 'bun:test'
import { findZone, inZone } from '../../../src/accounts/organizations/zone-queries.ts'
import { newOrg } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'

const db = await testsDatabase()

const change = (orgId: string, zone: string) =>
  db.sql`update organizations set time_zone = ${zone} where org_id = ${orgId}`

test('an answer that was begun in another time zone is read again', async () => {
  const { orgId } = await newOrg(db.sql)
  const read: string[] = []
  const answer = await inZone(db.sql, { orgId, zone: 'Asia/Tokyo', isZoneChanging: true }, async (zone) => {
    read.push(zone)
    if (read.length === 1) await change(orgId, 'Europe/Berlin')
    return `by ${zone}`
  })
  // the remembered zone does not count while another one waits
  expect([answer, read]).toEqual(['by Europe/Berlin', ['UTC', 'Europe/Berlin']])
  expect(await findZone(db.sql, orgId)).toBe('Europe/Berlin')
  // a stream that was begun is ended
  let cancelled = 0
  const cancel = () => {
    cancelled += 1
  }
  const streams = () => new Response(new ReadableStream({ cancel }))
  const last = await inZone(db.sql, { orgId, zone: 'UTC', isZoneChanging: true }, async (zone) => {
    if (zone === 'Europe/Berlin') await change(orgId, 'UTC')
    return streams()
  })
  expect([last.body === null, cancelled]).toEqual([false, 1])
})

test('what is remembered is enough for a quick answer while no other zone waits', async () => {
  const none = { orgId: 'org_none', zone: 'Asia/Tokyo', isZoneChanging: false }
  expect(await inZone(db.sql, none, async (zone) => zone)).toBe('Asia/Tokyo')
})
