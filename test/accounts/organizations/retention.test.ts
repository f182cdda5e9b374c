import { expect, test } from 'bun:test'
import { confirmSettings, daysInForce } from '../../../src/accounts/organizations/retention-queries.ts'
import { createLog } from '../../../src/base/log.ts'
import { runHousekeeping } from '../../../src/server/deliveries/housekeeping.ts'
import { checkRetention } from '../../../src/server/doctor/checks.ts'
import { deleteExpiredSessions } from '../../../src/server/erasure/retention.ts'
import { asker, newOrg, testApp } from '../../support/api.ts'
import { run } from '../../support/cli.ts'
import { silent, testsDatabase } from '../../support/postgres.ts'

// A retention that is made shorter deletes nothing for a day, says what it will delete, and can be confirmed.

const DAY_MS = 86_400_000
const db = await testsDatabase()

const dayAgo = (days: number) => new Date(Date.now() - days * DAY_MS)

/** An organization with sessions of these days ago. */
async function organization(...days: number[]) {
  const own = await newOrg(db.sql, { scopes: ['read', 'write', 'admin'] })
  const ask = asker(testApp(db.sql), own.key)
  const records = days.map((ago) => ({
    ...{ type: 'session', id: `sess_${ago}`, project_name: 'p', created_at: dayAgo(ago).toISOString() },
  }))
  expect((await ask('POST', '/v1/sync', { records })).status).toBe(200)
  const settings = async () => (await ask('GET', '/v1/organization')).body as unknown as Settings
  const patch = async (body: object) => {
    const { status, body: answer } = await ask('PATCH', '/v1/organization', body)
    expect(status).toBe(200)
    return (answer as unknown as Settings).retention_pending
  }
  const kept = async () => {
    await deleteExpiredSessions(db.sql, new Date())
    return (await ask('GET', '/v1/sessions')).body.data.map(({ id }) => id)
  }
  /** Has the shortening be this long ago. Citus refuses a column minus an interval, which depends on the zone. */
  const pass = (hours: number) => db.sql`
    update organizations
    set retention_shortened_at = to_timestamp(
      extract(epoch from retention_shortened_at - to_timestamp(0)) - ${hours * 3600}::integer
    )
    where org_id = ${own.orgId}`
  return { ...own, ask, settings, patch, kept, pass }
}
interface Settings {
  retention_sessions_days: number | null
  retention_pending: { days: number; sessions: number; at: string } | null
}

test('sessions older than a shorter retention go after a day', async () => {
  const { settings, patch, kept, pass } = await organization(1, 50, 100, 200)
  const set = Date.now()
  const pending = await patch({ retention_sessions_days: 90 })
  expect(pending).toMatchObject({ days: 90, sessions: 2 })
  const waitMs = Date.parse(pending?.at ?? '') - set
  expect([waitMs >= DAY_MS - 1_000, waitMs < DAY_MS + 60_000]).toEqual([true, true])
  expect(await settings()).toMatchObject({ retention_sessions_days: 90, retention_pending: pending })
  expect(await kept()).toEqual(['sess_1', 'sess_50', 'sess_100', 'sess_200'])
  // one that deletes less than was announced waits no longer; one that deletes more does
  await pass(23)
  const at = Date.parse(pending?.at ?? '') - 23 * 3_600_000
  expect(await patch({ retention_sessions_days: 120 })).toEqual({
    days: 120,
    sessions: 1,
    at: new Date(at).toISOString(),
  })
  expect(Date.parse((await patch({ retention_sessions_days: 40 }))?.at ?? '') > at + 22 * 3_600_000).toBe(
    true,
  )
  await patch({ retention_sessions_days: 120 })
  await pass(25)
  expect((await settings()).retention_pending).toBeNull()
  expect(await kept()).toEqual(['sess_1', 'sess_50', 'sess_100'])
  // the retention that was deleted under is the retention of before now
  expect(await patch({ retention_sessions_days: 90 })).toMatchObject({ days: 90, sessions: 1 })
  expect(await patch({ retention_sessions_days: null })).toBeNull()
  expect(await kept()).toEqual(['sess_1', 'sess_50', 'sess_100'])
})

test('a second PATCH confirms what waits, and only that', async () => {
  const { patch, kept, ask } = await organization(1, 50, 100)
  expect(await patch({ confirm_retention: true })).toBeNull()
  // nobody has seen yet what goes
  expect(await patch({ retention_sessions_days: 90, confirm_retention: true })).toMatchObject({ sessions: 1 })
  expect(await patch({ confirm_retention: false })).toMatchObject({ sessions: 1 })
  expect(await kept()).toHaveLength(3)
  expect(await patch({ retention_sessions_days: 90, confirm_retention: true })).toBeNull()
  expect(await kept()).toEqual(['sess_1', 'sess_50'])
  const { data } = (await ask('GET', '/v1/audit?action=organization.updated')).body
  expect(data[0]).toMatchObject({ details: { retention_pending: null } })
})

test('org update --yes does it at once; without it the log, doctor and the command say what goes', async () => {
  const { slug, kept } = await organization(1, 100)
  const env = { DATA_DIR: '/nonexistent', DATABASE_URL: db.url }
  const update = (...args: string[]) => run(['org', 'update', slug, ...args], env)
  const set = await update('--retention-sessions', '30d')
  expect([set.code, set.stdout]).toEqual([
    0,
    expect.stringMatching(/^from 20\S+ on older ones are deleted, 1 session now: .*--yes/m),
  ])
  const lines: string[] = []
  const settings = { retentionDeliveriesDays: 30, retentionAuditDays: 0 }
  const log = createLog('warn', 'json', (line) => lines.push(line))
  await runHousekeeping(db.sql, settings, log)
  await runHousekeeping(db.sql, settings, log)
  const announced = `${slug}: from [^ ]+Z on sessions older than 30 days are deleted, 1 now; org update ${slug} --retention-sessions 30 --yes does it at once`
  expect(lines.filter((line) => line.includes(`${slug}: `))).toEqual([
    expect.stringMatching(new RegExp(announced)),
  ])
  expect(await checkRetention(db.sql)).toMatchObject({
    status: 'warn',
    message: expect.stringMatching(new RegExp(announced)),
  })
  expect(await kept()).toEqual(['sess_1', 'sess_100'])
  expect((await update('--yes')).code).toBe(2)
  const confirmed = await update('--retention-sessions', '30d', '--yes', '--json')
  expect(JSON.parse(confirmed.stdout)).toMatchObject({ retention_sessions_days: 30, retention_pending: null })
  expect(await kept()).toEqual(['sess_1'])
}, 180_000)

test('a setting that a server has shorter than the database was used with holds after a day, or confirmed', async () => {
  const { orgId } = await organization()
  const days = (wanted: number) => daysInForce(db.sql, 'RETENTION_AUDIT_DAYS', wanted)
  const pass = () => db.sql`update retention_settings set shortened_at = shortened_at - interval '25 hours'`
  await db.sql`delete from retention_settings`
  // the first value holds at once, and a longer one
  expect([await days(30), await days(60), await days(0)]).toEqual([30, 60, 0])
  expect([await days(90), await days(90)]).toEqual([0, 0])
  await pass()
  expect([await days(90), await days(7), await days(30), await days(90)]).toEqual([90, 90, 90, 90])
  expect(await checkRetention(db.sql)).toBeUndefined()

  await db.sql`
    insert into audit_log (org_id, id, action, user_id, details, ip_address, created_at)
    select ${orgId}, 'log_' || n, 'a.done', 'u', '{}', '', now() - n * interval '1 day'
    from generate_series(10, 15) n`
  const old = async () => (await db.sql`select 1 from audit_log l where l.action = 'a.done'`).count
  await runHousekeeping(db.sql, { retentionDeliveriesDays: 30, retentionAuditDays: 12 }, silent)
  expect(await old()).toBe(6)
  const env = { DATA_DIR: '/nonexistent', DATABASE_URL: db.url }
  const asked = await run(['retention', 'confirm'], env)
  expect([asked.code, asked.stdout]).toEqual([
    2,
    expect.stringMatching(
      /^RETENTION_AUDIT_DAYS: from 20\S+Z on audit entries older than 12 days are deleted, [34] now; retention confirm --yes does it at once\n$/,
    ),
  ])
  const confirmed = await run(['retention', 'confirm', '--yes', '--json'], env)
  expect(JSON.parse(confirmed.stdout)).toEqual({
    confirmed: true,
    settings: [{ name: 'RETENTION_AUDIT_DAYS', days: 12, at: expect.any(String) }],
  })
  await runHousekeeping(db.sql, { retentionDeliveriesDays: 30, retentionAuditDays: 12 }, silent)
  expect(await old()).toBeLessThan(4)
  await confirmSettings(db.sql)
}, 180_000)
