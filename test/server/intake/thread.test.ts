import { expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '../../../src/base/log.ts'
import { createRegistry } from '../../../src/base/metrics/registry.ts'
import { measureThreads } from '../../../src/base/metrics/threads.ts'
import { type PriceFile, readPriceFile } from '../../../src/base/model-prices.ts'
import { endConnections } from '../../../src/database/pools/reconnecting-pool.ts'
import { createGate } from '../../../src/http/queues/gate.ts'
import { measureSessions } from '../../../src/server/intake/measure.ts'
import type { Intake } from '../../../src/server/intake/messages.ts'
import { createIntakeThread } from '../../../src/server/intake/thread.ts'
import { CLAUDE, call, logs } from '../../analysis/telemetry/fixtures.ts'
import { newOrg } from '../../support/api.ts'
import { scratchFolder } from '../../support/at-end.ts'
import { eventually, until } from '../../support/cli.ts'
import { testsDatabase } from '../../support/postgres.ts'

// The intake thread itself, which dies and hangs on demand.

const UNRULY = new URL('../../fixtures/unruly-intake.ts', import.meta.url)
const WAIT_MS = 30_000

const database = await testsDatabase()
const own = await newOrg(database.sql)

function startIntake({ idleMs = 100_000, missedBeats = 100, modelPrices = null as PriceFile | null } = {}) {
  const threads: Worker[] = []
  const lines: string[] = []
  const registry = createRegistry()
  const intake = createIntakeThread({
    meter: measureThreads(registry)('intake', measureSessions(registry)),
    spawn() {
      const thread = new Worker(UNRULY)
      threads.push(thread)
      return thread
    },
    target: database.target,
    settings: { logLevel: 'silent', logFormat: 'json', storeContent: false, modelPrices },
    log: createLog('warn', 'json', (line) => lines.push(line)),
    endConnections: (name) => endConnections(database.sql, name),
    tickMs: 100,
    missedBeats,
    idleMs,
    stopMs: 20_000,
  })
  return { intake, threads, lines, metrics: () => registry.text() }
}
const submit = (intake: Intake, id: string, over = {}) => {
  const created_at = '2026-01-01T00:00:00Z'
  const record = { type: 'session', id: `sess_${id}`, project_name: 'p', created_at, ...over }
  return submitBytes(intake, new TextEncoder().encode(JSON.stringify(record)))
}
const submitBytes = (intake: Intake, bytes: Uint8Array<ArrayBuffer>, signal = new AbortController().signal) =>
  intake.submit(
    {
      orgId: own.orgId,
      actor: { userId: 'mem_test', ipAddress: null },
      options: {},
      body: { bytes, encoding: undefined, mediaType: 'application/x-ndjson' },
    },
    signal,
  )
const stored = async (id: string) => {
  const rows = await database.sql`
    select s.id from sessions s where s.org_id = ${own.orgId} and s.id = ${`sess_${id}`}`
  return rows.length
}
const connections = async () => {
  const rows = await database.sql`
    select a.pid
    from pg_stat_activity a
    where a.application_name like 'cloud-analytics intake %'
      and a.datname = current_database()`
  return rows.length
}

test('writes, refuses and answers as without a thread', async () => {
  const { intake, metrics } = startIntake()
  expect(await submit(intake, 'plain')).toEqual({ received: 1, created: 1, updated: 0, unchanged: 0 })
  // not `rejects`: while bun waits in it, no message of a thread arrives
  expect(await submit(intake, 'bad id').catch((error: unknown) => error)).toMatchObject({
    code: 'VALIDATION_ERROR',
    options: { details: [{ field: 'records[0].id', message: expect.any(String) }] },
  })
  await intake.stop()
  // its last report came before its end
  const text = await metrics()
  expect(text).toContain('intake_sessions_total{agent="none",result="created"} 1\n')
  expect(text).toContain('intake_sessions_total{agent="none",result="refused"} 1\n')
  expect(text).toContain('thread_restarts_total{thread="intake"} 0\n')
  await expect(submit(intake, 'late')).rejects.toMatchObject({ code: 'BUSY' })
})

test('a changed MODEL_PRICES file holds from the next request on; an unusable one changes nothing', async () => {
  const folder = scratchFolder()
  const file = join(folder.path, 'prices.json')
  const replace = async (text: string) => {
    await Bun.write(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }
  const prices = (input: number) => JSON.stringify({ 'in-house': { input, output: 1 } })
  await replace(prices(1))
  const { intake } = startIntake({ modelPrices: { file, prices: readPriceFile(file) } })
  const costOf = async (id: string) => {
    await submit(intake, id, { model: 'in-house', tokens: { input: 1_000_000 } })
    const [row] = await database.sql<{ estimated_cost: string }[]>`
      select s.estimated_cost from sessions s where s.org_id = ${own.orgId} and s.id = ${`sess_${id}`}`
    return Number(row?.estimated_cost)
  }
  expect(await costOf('price-1')).toBe(1)
  await replace(prices(2))
  expect(await costOf('price-2')).toBe(2)
  await replace('{')
  expect(await costOf('price-3')).toBe(2)
  await replace(prices(3))
  expect(await costOf('price-4')).toBe(3)
  await intake.stop()
  folder.remove()
})

test('telemetry that was answered is written by the next thread when its own ends before', async () => {
  const { intake, threads } = startIntake()
  const bytes = new TextEncoder().encode(JSON.stringify(logs([call('left', 1)], CLAUDE)))
  const body = { bytes, encoding: undefined, mediaType: 'application/json' } as const
  const actor = { userId: 'mem_test', ipAddress: null }
  const request = { orgId: own.orgId, actor, options: {}, telemetry: 'logs', body } as const
  await intake.submit(request, new AbortController().signal)
  threads[0]?.postMessage({ type: 'exit' })
  await eventually(connections, (count) => count === 0)
  expect(await stored('left')).toBe(0)
  // again and again, as the server does: the end of the thread may not be known yet
  const drained = async () => {
    intake.drain([own.orgId])
    return await stored('left')
  }
  await eventually(drained, (count) => count === 1)
  expect(threads.length).toBe(2)
  await intake.stop()
})

for (const way of ['throw', 'reject', 'exit', 'hang'] as const) {
  test(`a thread that ends by ${way} within a transaction: 503, nothing half-written, the next request passes`, async () => {
    const { intake, threads, lines, metrics } = startIntake()
    const { sql } = database
    await submit(intake, `${way}-before`)
    // the sessions are written, and the transaction waits at its entry in the audit log
    await sql`
      create function wait_long() returns trigger language plpgsql as $$
      begin
        perform pg_sleep(60);
        return new;
      end $$`
    await sql`create trigger wait_long before insert on audit_log for each row execute function wait_long()`
    const interrupted = submit(intake, way).catch((error: unknown) => error)
    await eventually(
      async () => (await sql`select 1 from pg_stat_activity a where a.wait_event = 'PgSleep'`).length,
      (sleeping) => sleeping > 0,
      WAIT_MS,
    )
    threads[0]?.postMessage({ type: way })
    expect(await interrupted).toMatchObject({ code: 'BUSY', options: { retryAfterS: 2 } })
    await eventually(connections, (open) => open === 0, WAIT_MS)
    await sql`drop trigger wait_long on audit_log`
    await sql`drop function wait_long`
    expect(await stored(way)).toBe(0)
    expect(lines).toHaveLength(1)
    expect(await metrics()).toContain('thread_restarts_total{thread="intake"} 1\n')
    expect(await submit(intake, way)).toMatchObject({ created: 1 })
    expect(threads).toHaveLength(2)
    await intake.stop()
  }, 180_000)
}

test('a thread without requests ends with its connections, and the next request starts another', async () => {
  const { intake, threads, lines } = startIntake({ idleMs: 500 })
  await submit(intake, 'idle')
  await eventually(connections, (open) => open === 0, WAIT_MS)
  expect(await submit(intake, 'idle')).toMatchObject({ unchanged: 1 })
  expect(threads).toHaveLength(2)
  await intake.stop()
  expect(lines).toEqual([])
}, 180_000)

test('a body counts until the thread answers or ends, also when its client has left', async () => {
  const { intake, threads, lines } = startIntake({ missedBeats: 150 })
  const gate = createGate({ large: { total: 1, each: 1, waiting: 0 } })
  const submitLarge = async (left = new AbortController().signal) => {
    const request = new Request('http://localhost', { signal: left })
    const pass = gate.pass(request, own.orgId)
    try {
      await pass.takeLarge()
      await pass.takeWork(30 * 1024 * 1024)
      return await submitBytes(intake, new Uint8Array(30 * 1024 * 1024), pass.signal)
    } catch (error) {
      return error
    } finally {
      gate.release(request)
    }
  }
  expect(await submitLarge()).toMatchObject({ code: 'VALIDATION_ERROR' })
  const client = new AbortController()
  const leaving = submitLarge(client.signal)
  setImmediate(() => client.abort())
  expect(await leaving).toMatchObject({ message: 'The client went away' })
  threads[0]?.postMessage({ type: 'hang' })
  const gone = new AbortController()
  const left = submitLarge(gone.signal)
  // the body is in the thread by then
  setImmediate(() => gone.abort())
  expect(await submitLarge()).toMatchObject({
    code: 'BUSY',
    message: 'Too many large bodies at once; try again',
  })
  await until(() => lines.length === 1, WAIT_MS)
  expect(await left).toMatchObject({ code: 'BUSY' })
  expect(await submitLarge()).toMatchObject({ code: 'VALIDATION_ERROR' })
  expect(threads).toHaveLength(2)
  await intake.stop()
}, 180_000)
