import { expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { createGate } from '../../../src/http/queues/gate.ts'
import { createIntake } from '../../../src/server/intake/intake.ts'
import type { Intake } from '../../../src/server/intake/messages.ts'
import { newOrg, type Org } from '../../support/api.ts'
import { hold, holdOrganization, testsDatabase } from '../../support/postgres.ts'
import { commitRecord, pullRecord, sessionRecord } from '../../support/records.ts'

const PLENTY = { maxProcessorMs: 60_000 }
const ACTOR = { userId: 'mem_test', ipAddress: null }

const database = await testsDatabase()
const heavy = await newOrg(database.sql)
const light = await newOrg(database.sql)

/** `inWork` is called when the work on a request has begun, which nothing has been written of. */
const intakeOf = (limits?: { maxProcessorMs?: number }, inWork = () => {}): Intake =>
  createIntake(
    {
      sql: database.sql,
      now: () => new Date(),
      storeContent: false,
      pricer: async () => {
        inWork()
        return { cost: () => undefined, divided: () => undefined }
      },
    },
    limits,
  )
const session = (id: string, content?: string) =>
  sessionRecord(`sess_${id}`, {
    project_name: 'p',
    ...(content === undefined ? {} : { turn_records: [{ content }] }),
  })
const submit = async (
  intake: Intake,
  { orgId }: Org,
  records: unknown[],
  signal = new AbortController().signal,
  gate = createGate(),
) => {
  const bytes = new Uint8Array(gzipSync(records.map((record) => JSON.stringify(record)).join('\n')))
  const request = new Request('http://localhost', { signal })
  const pass = gate.pass(request, orgId)
  try {
    await pass.takeWork(bytes.length)
    return await intake.submit(
      {
        orgId,
        options: {},
        actor: ACTOR,
        body: { bytes, encoding: 'gzip', mediaType: 'application/x-ndjson' },
      },
      pass.signal,
    )
  } finally {
    gate.release(request)
  }
}
const storedOf = async ({ orgId }: Org, id: string) => {
  const rows =
    await database.sql`select s.id from sessions s where s.org_id = ${orgId} and s.id = ${`sess_${id}`}`
  return rows.length
}
/** Some seconds of work: 20 MB of plain words. */
const many = (name: string) =>
  Array.from({ length: 5_000 }, (_, index) => session(`${name}${index}`, 'word '.repeat(800)))

test('a large request leaves turns for another organization', async () => {
  const intake = intakeOf(PLENTY)
  const order: string[] = []
  const slow = submit(intake, heavy, many('turns')).then(() => order.push('large'))
  for (let index = 0; index < 5; index += 1) {
    await submit(intake, light, [session(`turns${index}`)]).then(() => order.push('small'))
  }
  await slow
  expect(order).toEqual([...Array(5).fill('small'), 'large'])
})

test('work beyond the limit is 413 naming the record, and nothing is stored', async () => {
  const failed = submit(intakeOf({ maxProcessorMs: 100 }), heavy, many('limit'))
  await expect(failed).rejects.toMatchObject({
    code: 'TOO_LARGE',
    message: expect.stringMatching(/^records\[\d+\]: was reached after 0\.1 s of work/),
  })
  expect(await storedOf(heavy, 'limit0')).toBe(0)
})

test('the limit of work does not count what a request waits for', async () => {
  const maxProcessorMs = 100
  const intake = intakeOf({ maxProcessorMs })
  const release = await hold(database.sql, (tx) => tx`lock table commit_files in access exclusive mode`)
  const sent = submit(intake, heavy, [commit('c')])
  // the work of others in the same thread is none of its own either
  const until = performance.now() + 5 * maxProcessorMs
  for (let index = 0; performance.now() < until; index += 1) {
    await submit(intake, light, [session(`meanwhile${index}`)])
  }
  await release()
  expect(await sent).toMatchObject({ created: 1 })
})

test('waiting beyond the limit is 503, and the writing before it goes on', async () => {
  const intake = intakeOf()
  // long enough for the first to reach its writing on a slow machine
  const gate = createGate({ untilWritingMs: 5_000 })
  const release = await holdOrganization(database.sql, heavy.orgId)
  const first = submit(intake, heavy, [session('first')], undefined, gate)
  await expect(submit(intake, heavy, [session('second')], undefined, gate)).rejects.toMatchObject({
    code: 'BUSY',
    options: { retryAfterS: 2 },
  })
  await release()
  expect(await first).toMatchObject({ created: 1 })
  expect([await storedOf(heavy, 'first'), await storedOf(heavy, 'second')]).toEqual([1, 0])
})

const changed = [{ path: 'src/a.ts', status: 'modified', additions: 1, deletions: 0 }]
const commit = (sha: string) => commitRecord(sha.repeat(40), { project: 'p', files: changed })
const pull = (pr_number: number) =>
  pullRecord(pr_number, {
    repo: 'acme/p',
    created_at: '2026-01-02T00:00:00Z',
    project: 'p',
    author_email: 'ada@example.com',
    files: changed,
  })

test.each([
  ['commits', 'commit_files', [commit('a')]],
  // sessions are written with what pull requests they belong to: their table is not held
  ['pull requests', 'commit_files', [pull(1)]],
  ['pull requests with commits', 'commit_files', [commit('b'), pull(2)]],
  // their security is computed from the findings of the sessions, the rest before
  ['pull requests with sessions', 'commit_files', [session('beside'), pull(3)]],
])('%s are computed and written while others write the organization', async (name, table, records) => {
  const intakes = [intakeOf(PLENTY), intakeOf(PLENTY)]
  const release = await hold(database.sql, (tx) => tx`lock table ${tx(table)} in access exclusive mode`)
  let isDone = false
  const slow = submit(intakes[0] ?? intakeOf(), heavy, records).then((result) => {
    isDone = true
    return result
  })
  const waiting = () => database.sql`
    select 1 from pg_stat_activity a
    where a.datname = current_database() and a.wait_event_type = 'Lock' and a.query like ${`%${table}%`}`
  while ((await waiting()).length === 0) await Bun.sleep(5)
  // the organization waits in this process, and in another one
  for (const [index, intake] of intakes.entries()) {
    expect(await submit(intake, heavy, [session(`${name.replaceAll(' ', '_')}${index}`)])).toMatchObject({
      created: 1,
    })
  }
  expect(isDone).toBe(false)
  await release()
  expect(await slow).toMatchObject({ created: records.length })
})

test('a client that leaves stops its work', async () => {
  const client = new AbortController()
  const intake = intakeOf(PLENTY, () => client.abort())
  const left = submit(intake, heavy, many('left'), client.signal)
  await expect(left).rejects.toThrow('The client went away')
  expect(await submit(intake, heavy, [session('stays')])).toMatchObject({ created: 1 })
  expect(await storedOf(heavy, 'left0')).toBe(0)
  await expect(submit(intake, heavy, [session('gone')], client.signal)).rejects.toThrow(
    'The client went away',
  )
})

test('a stop refuses what is not written yet', async () => {
  let stopped: Promise<void> | undefined
  const intake = intakeOf(PLENTY, () => {
    stopped = intake.stop()
  })
  await expect(submit(intake, heavy, many('stop'))).rejects.toMatchObject({ code: 'BUSY' })
  await stopped
  await expect(submit(intake, light, [session('late')])).rejects.toMatchObject({ code: 'BUSY' })
  expect(await storedOf(heavy, 'stop0')).toBe(0)
})
