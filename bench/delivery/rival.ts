import { Agent, request } from 'node:http'
import { parseArgs } from 'node:util'
import { makeWorkerUtils, run } from 'graphile-worker'
import PgBoss from 'pg-boss'
import { signedHeaders } from '../../src/webhooks/signing/signature.ts'
import type { Job } from './jobs.ts'

// One rival as a process of its own: `fill` makes its tables and adds the jobs that wait, `work` does them until SIGTERM.
// A job makes the request that one of our attempts makes: the same headers, signed by the same code, over kept
// connections, at most as many at a time. Settings of both: see docs/benchmarks.md.

const TASK = 'deliver'
const TIMEOUT_MS = 15_000
const CHUNK = 1_000

function createPost(concurrency: number): (job: Job) => Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency, maxFreeSockets: concurrency })
  return async ({ url, secret, body, deliveryId, eventId, event }) => {
    const at = new Date()
    const identity = { prefix: 'X-Service', eventId, event, deliveryId, attempt: 1, at }
    const signed = signedHeaders({ ...identity, secret, previousSecret: null, body })
    const headers = { ...signed, 'Content-Length': Buffer.byteLength(body), 'Accept-Encoding': 'identity' }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const sent = request(url, { method: 'POST', agent, headers, timeout: TIMEOUT_MS }, (response) => {
      response.resume()
      const { statusCode = 0 } = response
      response.on('end', () =>
        statusCode >= 200 && statusCode < 300 ? resolve() : reject(new Error(`answered ${statusCode}`)),
      )
    })
    sent.on('timeout', () => sent.destroy(new Error('timed out')))
    sent.on('error', reject)
    sent.end(body)
    await promise
  }
}

interface Rival {
  fill(databaseUrl: string, jobs: readonly Job[]): Promise<void>
  /** Starts to work; returns a function that stops it. */
  work(databaseUrl: string, options: WorkOptions): Promise<() => Promise<void>>
}

interface WorkOptions {
  concurrency: number
  /** Jobs fetched at once. */
  batch: number
  /** graphile-worker: milliseconds for which finished jobs are collected into a batch. */
  gatherMs: number
  /** Connections to the database; of pg-boss also workers. */
  pool: number
}

const chunksOf = (jobs: readonly Job[]): Job[][] =>
  Array.from({ length: Math.ceil(jobs.length / CHUNK) }, (_, at) => jobs.slice(at * CHUNK, (at + 1) * CHUNK))

const graphile: Rival = {
  async fill(databaseUrl, jobs) {
    const utils = await makeWorkerUtils({ connectionString: databaseUrl })
    await utils.migrate()
    for (const chunk of chunksOf(jobs)) {
      await utils.addJobs(chunk.map((payload) => ({ identifier: TASK, payload })))
    }
    await utils.release()
  },
  async work(databaseUrl, { concurrency, batch, gatherMs, pool }) {
    const post = createPost(concurrency)
    const runner = await run({
      noHandleSignals: true,
      taskList: { [TASK]: async (payload) => post(payload as Job) },
      preset: {
        worker: {
          connectionString: databaseUrl,
          maxPoolSize: pool,
          concurrentJobs: concurrency,
          localQueue: { size: batch },
          completeJobBatchDelay: gatherMs,
          failJobBatchDelay: gatherMs,
        },
      },
    })
    return () => runner.stop()
  },
}

const boss: Rival = {
  async fill(databaseUrl, jobs) {
    const queue = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false })
    await queue.start()
    await queue.createQueue(TASK)
    for (const chunk of chunksOf(jobs))
      await queue.insert(
        TASK,
        chunk.map((data) => ({ name: TASK, data })),
      )
    await queue.stop({ graceful: false })
  },
  async work(databaseUrl, { concurrency, batch, pool }) {
    const post = createPost(concurrency)
    const queue = new PgBoss({ connectionString: databaseUrl, max: pool + 2, schedule: false })
    queue.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`))
    await queue.start()
    for (let worker = 0; worker < pool; worker += 1) {
      let id: string | undefined
      const options = { batchSize: batch, pollingIntervalSeconds: 0.5, priority: false }
      id = await queue.work<Job>(TASK, options, async (jobs) => {
        // fetches again as soon as these are done, not half a second after it fetched them
        if (id !== undefined) queue.notifyWorker(id)
        await Promise.all(jobs.map(({ data }) => post(data)))
      })
    }
    return () => queue.stop({ wait: true })
  },
}

async function readJobs(): Promise<Job[]> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
  return JSON.parse(text)
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string', default: '' },
    concurrency: { type: 'string', default: '64' },
    batch: { type: 'string', default: '256' },
    'gather-ms': { type: 'string', default: '0' },
    pool: { type: 'string', default: '10' },
  },
})
const [name, action] = positionals
const rival = name === 'pg-boss' ? boss : graphile
if (action === 'fill') {
  await rival.fill(values.database, await readJobs())
} else {
  const stop = await rival.work(values.database, {
    concurrency: Number(values.concurrency),
    batch: Number(values.batch),
    gatherMs: Number(values['gather-ms']),
    pool: Number(values.pool),
  })
  process.on('SIGTERM', async () => {
    await stop()
    process.exit(0)
  })
}
