import { afterAll, expect, test } from 'bun:test'
import { createLog } from '../../../src/base/log.ts'
import { createRegistry } from '../../../src/base/metrics/registry.ts'
import { measureThreads } from '../../../src/base/metrics/threads.ts'
import { loadConfig } from '../../../src/config.ts'
import { type FromWorker, measureAttempts, superviseWorker } from '../../../src/webhooks/worker/supervise.ts'
import { eventually, until } from '../../support/cli.ts'
import { testDatabase } from '../../support/postgres.ts'
import { silentProxy } from '../../support/silent-proxy.ts'

// Real threads: the worker itself, and one that dies and hangs on demand.

const WORKER = new URL('../../../src/server/deliveries/worker.ts', import.meta.url)
const MISBEHAVING = new URL('../../fixtures/misbehaving-worker.ts', import.meta.url)

const stops: (() => Promise<void>)[] = []

const database = await testDatabase()
afterAll(async () => {
  for (const stop of stops) await stop()
  await database.drop()
})

/** Supervises threads of `url`; `messages` are all they said, `lines` what was logged. */
function supervise(url: URL, tickMs: number, target = database.target) {
  const threads: Worker[] = []
  const messages: FromWorker[] = []
  const lines: string[] = []
  const registry = createRegistry()
  const worker = superviseWorker({
    meter: measureThreads(registry)('worker', measureAttempts(registry)),
    spawn() {
      const thread = new Worker(url)
      thread.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => messages.push(data))
      threads.push(thread)
      return thread
    },
    target,
    settings: { ...loadConfig({}), logLevel: 'error', logFormat: 'json' },
    secretKey: new Uint8Array(32),
    log: createLog('error', 'json', (line) => lines.push(line)),
    tickMs,
  })
  stops.push(worker.stop)
  const metrics = () => registry.text()
  return { worker, threads, messages, lines, metrics }
}

const beats = async (messages: FromWorker[]) => messages.filter(({ type }) => type === 'heartbeat').length

test('the worker beats, does its housekeeping, and drains', async () => {
  await database.sql`insert into rate_windows (org_id, minute, used) values ('org_old', 1, 1), ('org_new', 9e9, 1)`
  const { worker, messages } = supervise(WORKER, 1_000)
  expect(worker.state()).toBe('ok')
  await eventually(
    () => beats(messages),
    (count) => count > 0,
  )
  const left = () => database.sql`select w.org_id from rate_windows w`
  await eventually(left, (rows) => rows.length === 1)
  expect([...(await left())]).toEqual([{ org_id: 'org_new' }])
  await worker.stop()
  await worker.stop()
  expect(messages.at(-1)).toEqual({ type: 'stopped', counts: [] })
})

test.each(['throw', 'reject', 'exit'])('a thread that ends by %s is replaced', async (way) => {
  const { worker, threads, messages, lines, metrics } = supervise(MISBEHAVING, 1_000)
  await eventually(
    () => beats(messages),
    (count) => count >= 1,
  )
  threads[0]?.postMessage({ type: way })
  await until(() => worker.state() === 'restarting')
  expect(await metrics()).toContain('thread_restarts_total{thread="worker"} 1\n')
  await until(() => worker.state() === 'ok')
  expect(threads).toHaveLength(2)
  expect(lines.join('')).toContain('a new one is started')
  await worker.stop()
  expect(threads).toHaveLength(2)
})

test('a thread that hangs is given up and replaced', async () => {
  // a new thread has six seconds to start
  const { worker, threads, messages, lines, metrics } = supervise(MISBEHAVING, 300)
  await eventually(
    () => beats(messages),
    (count) => count >= 1,
  )
  threads[0]?.postMessage({ type: 'hang' })
  await until(() => threads.length >= 2)
  await until(() => worker.state() === 'ok')
  expect(lines.join('')).toContain('no beat')
  expect(await metrics()).toContain('thread_restarts_total{thread="worker"} 1\n')
  await worker.stop()
})

test('a database connection that falls silent is told, and that it is back', async () => {
  const proxy = await silentProxy(database.url)
  const { worker, messages } = supervise(WORKER, 1_000, { url: proxy.url })
  await eventually(
    () => beats(messages),
    (count) => count > 1,
  )
  proxy.fallSilent()
  const state = async () => worker.state()
  await eventually(state, (told) => told === 'database unreachable')
  proxy.goOn()
  await eventually(state, (told) => told === 'ok')
  await worker.stop()
  proxy.close()
})
