import { expect, test } from 'bun:test'
import { messageOf } from '../../../src/base/errors.ts'
import { checkRollups } from '../../../src/server/doctor/checks.ts'
import { erasePerson } from '../../../src/server/erasure/person.ts'
import { createIntake } from '../../../src/server/intake/intake.ts'
import { watchInbox } from '../../../src/server/intake/write-telemetry.ts'
import { client, jsonPost, newOrg, noPrices, type Org, testApp } from '../../support/api.ts'
import { hold, silent, testsDatabase } from '../../support/postgres.ts'
import { AT, CLAUDE, call, inboxEmpty, logs } from './fixtures.ts'

const database = await testsDatabase()

/** An intake that gathers telemetry for so long. */
const intakeOf = (drainMs: number, onDrainFailed = (_orgId: string, _error: unknown) => {}, workMs = 5_000) =>
  createIntake(
    {
      sql: database.sql,
      now: () => new Date(),
      storeContent: false,
      pricer: noPrices,
      onDrainFailed,
    },
    { drainMs, workMs },
  )
const KILLED_MS = 1_000_000
/** An app whose intake gathers for longer than a test lasts, as one that is killed before it writes. */
const killed = testApp(database.sql, { intake: intakeOf(KILLED_MS) })

const send = async ({ key }: Org, body: object, app = killed) => {
  const response = await client(app, key)('/v1/logs', jsonPost(body))
  expect([response.status, await response.text()]).toEqual([200, '{}'])
}
/** The input tokens of each session. */
const inputs = async ({ orgId }: Org) => {
  const rows = await database.sql<{ id: string; input: number }[]>`
    select d.session_id as id, (d.detail->'tokens'->>'input')::integer as input
    from session_details d
    where d.org_id = ${orgId}
    order by d.session_id`
  return Object.fromEntries(rows.map(({ id, input }) => [id, input]))
}
const entries = async ({ orgId }: Org) => {
  const rows = await database.sql<{ details: { records: number } }[]>`
    select a.details from audit_log a where a.org_id = ${orgId} and a.action = 'telemetry.received'`
  return rows.map(({ details }) => details.records)
}
const waiting = async ({ orgId }: Org) => {
  const rows = await database.sql<{ session_id: string | null; user_email: string | null }[]>`
    select t.session_id, t.user_email from telemetry_inbox t where t.org_id = ${orgId}`
  return rows
}
const agrees = async () => expect((await checkRollups(database.sql, false)).message).toStartWith('agree')

test('an instance that ends leaves telemetry to another, which finds it after 3 s', async () => {
  const own = await newOrg(database.sql)
  const intake = intakeOf(KILLED_MS)
  const app = testApp(database.sql, { intake })
  await send(own, logs([call('s', 1), call('s', 2), call('t', 3)], CLAUDE), app)
  await intake.stop()
  expect([await inputs(own), await entries(own)]).toEqual([{}, []])
  const other = intakeOf(KILLED_MS)
  const sentMs = Date.now()
  const watch = watchInbox(database.sql, other, silent)
  await inboxEmpty(database.sql)
  watch.stop()
  expect(Date.now() - sentMs).toBeGreaterThan(1_000)
  expect([await inputs(own), await entries(own)]).toEqual([{ sess_s: 2_003, sess_t: 1_003 }, [3]])
  await agrees()
})

test('two instances write each row once', async () => {
  const own = await newOrg(database.sql)
  const requests = Array.from({ length: 30 }, (_, n) => n)
  for (const n of requests) await send(own, logs([call('s', n), call(`s${n % 3}`, n)], CLAUDE))
  const failures: unknown[] = []
  const both = [1, 2].map(() => intakeOf(0, (_orgId, error) => failures.push(error)))
  for (const intake of both) intake.drain([own.orgId])
  await inboxEmpty(database.sql)
  for (const intake of both) await intake.stop()
  const sum = (of: readonly number[]) => of.reduce((total, n) => total + 1_000 + n, 0)
  expect([failures, await inputs(own), await entries(own)]).toEqual([
    [],
    {
      sess_s: sum(requests),
      ...Object.fromEntries([0, 1, 2].map((k) => [`sess_s${k}`, sum(requests.filter((n) => n % 3 === k))])),
    },
    requests.map(() => 2),
  ])
  await agrees()
})

test('requests that come during a drain are written by the next one', async () => {
  const own = await newOrg(database.sql)
  const app = testApp(database.sql, { intake: intakeOf(1) })
  const requests = Array.from({ length: 40 }, (_, n) => n)
  await Promise.all(requests.map((n) => send(own, logs([call('s', n)], CLAUDE), app)))
  await inboxEmpty(database.sql)
  expect(await inputs(own)).toEqual({ sess_s: 40_000 + 780 })
  await agrees()
})

test('what could not be written in time is refused until the drain is over', async () => {
  const own = await newOrg(database.sql)
  const app = testApp(database.sql, { intake: intakeOf(1, undefined, 200) })
  const letGo = await hold(database.sql, (tx) => tx`lock table sessions in exclusive mode`)
  const post = (nth: number) =>
    client(app, own.key)('/v1/logs', jsonPost(logs([call(`s${nth}`, nth)], CLAUDE)))
  expect((await post(0)).status).toBe(200)
  // the drain that waits for the organization has taken longer than that by now
  let nth = 1
  let refused = await post(nth)
  while (refused.status === 200 && nth < 1_000) refused = await post(++nth)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
  await letGo()
  await inboxEmpty(database.sql)
  expect(Object.keys(await inputs(own))).toHaveLength(nth)
  expect((await post(nth)).status).toBe(200)
  await inboxEmpty(database.sql)
})

test('a session whose sums are beyond the limits of a record holds up no other', async () => {
  const own = await newOrg(database.sql)
  const calls = Array.from({ length: 1_001 }, (_, n) => call('huge', n, { input_tokens: 1e9 }))
  await send(own, logs([...calls.slice(0, 600), call('s', 1)], CLAUDE))
  await send(own, logs(calls.slice(600), CLAUDE))
  const intake = intakeOf(0)
  intake.drain([own.orgId])
  await inboxEmpty(database.sql)
  expect([await inputs(own), await entries(own)]).toEqual([{ sess_s: 1_001 }, [601, 401]])
  await intake.stop()
})

test('telemetry that no session can take is dropped with a word, and holds up no other', async () => {
  const own = await newOrg(database.sql)
  const failures: string[] = []
  const intake = intakeOf(0, (_orgId, error) => failures.push(messageOf(error)))
  const app = testApp(database.sql, { intake })
  const record = { type: 'session', id: 'sess_client', project_name: 'p', created_at: AT }
  const sent = await client(app, own.key)('/v1/sync', jsonPost({ records: [record] }))
  expect(sent.status).toBe(200)
  await send(own, logs([call('good', 1), call('client', 2), call('wrong', 3)], CLAUDE))
  // the intake itself stores none of these
  const change = (session: string, path: string, value: string) => database.sql`
    update telemetry_inbox t set parts = jsonb_set(t.parts::jsonb, ${path}::text::text[], to_jsonb(${value}::text))::text
    where t.org_id = ${own.orgId}
      and t.session_id = ${session}`
  await change('sess_client', '{turns,0,model}', 'x'.repeat(200_000))
  await change('sess_wrong', '{agent}', 'x'.repeat(200))
  intake.drain([own.orgId])
  await inboxEmpty(database.sql)
  await intake.stop()
  expect(failures.sort()).toEqual(
    ['client', 'wrong'].map(
      (id) => `telemetry of sess_${id} is dropped: it is beyond the limits of a session`,
    ),
  )
  expect(Object.keys(await inputs(own))).toEqual(['sess_client', 'sess_good'])
  await agrees()
})

test('telemetry of a sub-agent that waits belongs to the session that comes meanwhile and names it', async () => {
  const own = await newOrg(database.sql)
  const app = testApp(database.sql)
  await send(own, logs([call('child', 1)], CLAUDE), app)
  await inboxEmpty(database.sql)
  await send(own, logs([call('child', 2), call('parent', 3)], CLAUDE))
  const record = { type: 'session', id: 'sess_parent', project_name: 'p', created_at: '2026-01-01T00:00:00Z' }
  const tokens = { input: 5, output: 1, cache_read: 0, cache_creation: 0 }
  const records = [{ ...record, tokens, includes: ['sess_child'] }]
  const sent = await client(app, own.key)('/v1/sync', jsonPost({ records }))
  expect(sent.status).toBe(200)
  const intake = intakeOf(0)
  intake.drain([own.orgId])
  await inboxEmpty(database.sql)
  await intake.stop()
  // none of the three calls is lost, nor in a session of its own
  expect(Object.keys(await inputs(own))).toEqual(['sess_parent'])
  const [row] = await database.sql`
    select s.telemetry_tokens::integer as tokens from sessions s where s.org_id = ${own.orgId}`
  expect(row?.tokens).toBe(3 * 1_100 + 13 * (1 + 2 + 3))
  await agrees()
})

test('calls of days that are kept are stored, whichever older ones of their session come with them', async () => {
  const own = await newOrg(database.sql)
  await database.sql`update organizations o set retention_sessions_days = 30 where o.org_id = ${own.orgId}`
  const daysAgo = (days: number) => ({
    'event.timestamp': new Date(Date.now() - days * 86_400_000).toISOString(),
  })
  const old = [call('s', 1, daysAgo(40)), call('old', 4, daysAgo(40))]
  await send(own, logs([...old, call('s', 2, daysAgo(29)), call('s', 3, daysAgo(0))], CLAUDE))
  const intake = intakeOf(0)
  intake.drain([own.orgId])
  await inboxEmpty(database.sql)
  await intake.stop()
  expect([await inputs(own), await entries(own)]).toEqual([{ sess_s: 2_005 }, [4]])
  await agrees()
})

test('deleting a session deletes its telemetry, erasing a person changes the address of what waits', async () => {
  const own = await newOrg(database.sql)
  const intake = intakeOf(0)
  const email = 'ada@example.com'
  await send(own, logs([call('s', 1, { 'user.email': email })], CLAUDE), testApp(database.sql, { intake }))
  await inboxEmpty(database.sql)
  // keeps in the inbox what comes from now on
  await intake.stop()
  await send(own, logs([call('s', 2), call('t', 3, { 'user.email': email })], CLAUDE))
  const { status } = await client(killed, own.key)('/v1/sessions/sess_s', { method: 'DELETE' })
  expect(status).toBe(204)
  expect((await waiting(own)).map(({ session_id }) => session_id).sort()).toEqual([null, 'sess_t'])
  const erased = await erasePerson(database.sql, own.orgId, { userId: 'cli:test', ipAddress: null }, email)
  expect((await waiting(own)).flatMap(({ user_email }) => user_email ?? [])).toEqual([erased.pseudonym])
  await database.sql`delete from telemetry_inbox t where t.org_id = ${own.orgId}`
})

test('telemetry that is written to sessions while its person is erased keeps nothing of the person', async () => {
  const own = await newOrg(database.sql)
  for (let round = 0; round < 4; round++) {
    const email = `person${round}@example.com`
    const sent = Array.from({ length: 16 }, (_, n) => call(`r${round}n${n}`, n, { 'user.email': email }))
    const sender = testApp(database.sql, { intake: intakeOf(KILLED_MS) })
    await send(own, logs(sent, CLAUDE), sender)
    const writer = intakeOf(0)
    writer.drain([own.orgId])
    // the later the erasure begins, the more has been written: each of these times is tested
    await Bun.sleep(round * 5)
    await erasePerson(database.sql, own.orgId, { userId: 'cli:test', ipAddress: null }, email)
    writer.drain([own.orgId])
    await inboxEmpty(database.sql)
    await writer.stop()
    const left = await database.sql`
      select s.id, s.user_email
      from sessions s
      join session_details d on d.org_id = s.org_id and d.session_id = s.id
      where s.org_id = ${own.orgId}
        and (s.user_email = ${email} or d.detail::text like ${`%${email}%`})`
    expect([round, left.length]).toEqual([round, 0])
  }
  await agrees()
})
