import { afterAll, beforeAll, expect, test } from 'bun:test'
import { loadavg } from 'node:os'
import { createLog } from '../../src/base/log.ts'
import { startServer } from '../../src/cli/serve/server.ts'
import { loadConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/database/open.ts'
import { eventually, PROGRAM, scratchFolder } from '../support/cli.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'
import { account, untilAllDone } from '../support/webhook-account.ts'
import {
  addEndpointByApi,
  answersSoon,
  CONCURRENCY,
  type Environment,
  makeTenant,
  SETTINGS,
  startLoad,
  type Tenant,
  untilReceived,
} from '../support/webhook-load.ts'

// The whole server with the worker's own code in a thread that dies and hangs on demand.

const UNRULY = new URL('../fixtures/unruly-worker.ts', import.meta.url)
const DONE_MS = 60_000

let database: TestDatabase
const scratch = scratchFolder()
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(async () => {
  await database.drop()
  scratch.remove()
})

/** Asks again and again until `stop`; what went wrong, and how many answers came. */
function poll(url: string, { headers }: Tenant) {
  const outcome = { answers: 0, failures: [] as string[] }
  let running = true
  const ask = async (path: string) => {
    while (running) {
      const answer = await fetch(`${url}${path}`, { headers }).then(
        async (response) => response.text().then(() => String(response.status)),
        (error) => String(error),
      )
      if (answer === '200') outcome.answers += 1
      else outcome.failures.push(`${path}: ${answer}`)
      await Bun.sleep(20)
    }
  }
  const asking = [ask('/live'), ask('/v1/sessions?per_page=1')]
  return {
    outcome,
    async stop() {
      running = false
      await Promise.all(asking)
    },
  }
}

test('the worker thread dies in every way and hangs: the API answers all the time, and all is delivered', async () => {
  const { sql, url: DATABASE_URL } = database
  const env: Environment = { ...SETTINGS, DATABASE_URL, DATA_DIR: scratch.path }
  const config = loadConfig(env)
  const threads: Worker[] = []
  const lines: string[] = []
  const log = createLog('warn', 'json', (line) => lines.push(line))
  const spawnWorker = () => {
    const thread = new Worker(UNRULY)
    threads.push(thread)
    return thread
  }
  const spawnIntake = () => new Worker(new URL('../../src/server/intake/worker.ts', import.meta.url))
  const started = { config, log, env, isGiven: () => true, json: true, spawnWorker, spawnIntake }
  const server = await startServer(started, await openDatabase(config, 'serve', log))
  const tenant = await makeTenant(PROGRAM, env)
  const receiver = await startReceiver(answersSoon)
  await addEndpointByApi(server.url, tenant, receiver.url)
  const polls = poll(server.url, tenant)
  const load = startLoad(tenant, () => [server.url], receiver)
  const backMs: Record<string, number> = {}
  for (const way of ['throw', 'reject', 'exit', 'hang']) {
    await untilReceived(receiver, 50)
    const count = threads.length
    const start = performance.now()
    threads.at(-1)?.postMessage({ type: way })
    await eventually(
      async () => threads.length,
      (now) => now === count + 1,
      DONE_MS,
    )
    await untilReceived(receiver, 20)
    backMs[way] = Math.round(performance.now() - start)
  }
  await load.stop()
  await untilAllDone(sql, tenant.orgId, DONE_MS)
  await polls.stop()
  const outcome = await account(sql, tenant.orgId, receiver.received, load.acknowledged)
  const { rescues, ...figures } = outcome
  const { answers, failures } = polls.outcome
  process.stderr.write(
    `${JSON.stringify({ name: 'thread', ...figures, answers, backMs, load: loadavg() })}\n`,
  )
  expect(failures).toEqual([])
  expect(answers).toBeGreaterThan(100)
  expect(outcome.lost).toEqual([])
  expect(outcome.lostAttempts).toBeLessThanOrEqual(4 * CONCURRENCY)
  expect(outcome.duplicates).toBeLessThanOrEqual(outcome.lostAttempts + outcome.failedAttempts)
  expect(lines.filter((line) => line.includes('a new one is started'))).toHaveLength(4)
  await server.stop()
  receiver.close()
}, 540_000)
