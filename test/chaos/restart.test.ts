import { afterAll, expect, test } from 'bun:test'
import { chmodSync } from 'node:fs'
import { loadavg } from 'node:os'
import { type ConnectTarget, connect, type Sql } from '../../src/database/client.ts'
import { attachEmbedded, startEmbedded } from '../../src/database/embedded/embedded-server.ts'
import { eventually, PROGRAM, scratchFolder } from '../support/cli.ts'
import { newDataFolder } from '../support/data-folder.ts'
import { silent } from '../support/postgres.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { account, arrivalOf, untilAllDone } from '../support/webhook-account.ts'
import {
  addEndpointByApi,
  answersSoon,
  command,
  type Environment,
  type Instance,
  killInstances,
  makeTenant,
  SETTINGS,
  startInstance,
  startLoad,
  syncSessions,
  type Tenant,
  untilReceived,
} from '../support/webhook-load.ts'

// PostgreSQL restarts under a stream of syncs and deliveries. A tenant of its own probes how soon all works again.

/** Restarts of each kind; CI's 2 take some seconds. */
const RESTARTS = Number(process.env.WEBHOOK_RESTARTS ?? 2)
/** An idle machine takes 2 s at most; `recoveries` prints how long it took. */
const BACK_WITHIN_MS = 20_000
const PROBES = 5
const DONE_MS = 60_000
const TEST_MS = 120_000 + RESTARTS * 20_000

const scratch = scratchFolder()
// the socket would otherwise be in another folder after each start
chmodSync(scratch.path, 0o755)
afterAll(async () => {
  await killInstances()
  scratch.remove()
})

interface Probe {
  instance: Instance
  target: () => ConnectTarget
  tenant: Tenant
  receiver: Receiver
}

async function withSql<Result>(target: ConnectTarget, use: (sql: Sql) => Promise<Result>): Promise<Result> {
  const sql = connect(target, { max: 2, applicationName: 'test' })
  try {
    return await use(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

const answers = (target: ConnectTarget) =>
  withSql(target, (sql) => sql`select 1`).then(
    () => true,
    () => false,
  )

const isListening = (target: ConnectTarget) =>
  withSql(target, async (sql) => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count
      from pg_stat_activity a
      where a.application_name = 'cloud-analytics worker'
        and a.query ilike 'listen %'`
    return row?.count === 1
  }).catch(() => false)

/** Measures the time from the answer to the sync of one session to the arrival of its event. */
async function syncToArrival({ instance, tenant, receiver }: Probe): Promise<number> {
  const [id] = await eventually(
    () => syncSessions(instance.url, tenant, 1),
    (ids) => ids.length === 1,
    BACK_WITHIN_MS,
  )
  const start = performance.now()
  const arrival = () => receiver.received.map(arrivalOf).find(({ session }) => session === id)
  await eventually(
    async () => arrival() !== undefined,
    (isThere) => isThere,
    BACK_WITHIN_MS,
  )
  return Math.max(0, (arrival()?.atMs ?? Infinity) - start)
}

/** Waits until everything works again; how long each took, in ms since now. */
async function recovery(probe: Probe) {
  const start = performance.now()
  const took = async (work: Promise<unknown>) => {
    await work
    return Math.round(performance.now() - start)
  }
  const isTrue = (value: boolean) => value
  const health = async () => (await fetch(`${probe.instance.url}/health`).catch(() => null))?.status === 200
  const [healthMs, deliveredMs, listeningMs] = await Promise.all([
    took(eventually(health, isTrue, BACK_WITHIN_MS)),
    took(syncToArrival(probe)),
    took(eventually(() => isListening(probe.target()), isTrue, BACK_WITHIN_MS)),
  ])
  const latencies: number[] = []
  for (let count = 0; count < PROBES; count += 1) latencies.push(await syncToArrival(probe))
  const [medianMs = Infinity] = latencies.sort((one, other) => one - other).slice(Math.floor(PROBES / 2))
  return { healthMs, deliveredMs, listeningMs, medianMs: Math.round(medianMs) }
}

/** Runs `restart` again and again under load; checks that everything works again, and prints the figures. */
async function rounds(
  name: string,
  env: Environment,
  instance: Instance,
  target: () => ConnectTarget,
  restart: (round: number) => Promise<void>,
) {
  const [loaded, probed] = [await startReceiver(answersSoon), await startReceiver(204)]
  const [tenant, probing] = [await makeTenant(PROGRAM, env), await makeTenant(PROGRAM, env)]
  await addEndpointByApi(instance.url, tenant, loaded.url)
  await addEndpointByApi(instance.url, probing, probed.url)
  const load = startLoad(tenant, () => [instance.url], loaded)
  const recoveries: Awaited<ReturnType<typeof recovery>>[] = []
  for (let round = 0; round < RESTARTS; round += 1) {
    await untilReceived(loaded, 50 + Math.floor(Math.random() * 100))
    await restart(round)
    await eventually(
      () => answers(target()),
      (isBack) => isBack,
      DONE_MS,
    )
    recoveries.push(await recovery({ instance, target, tenant: probing, receiver: probed }))
    expect(instance.exitCode()).toBe(null)
  }
  await load.stop()
  const outcome = await withSql(target(), async (sql) => {
    await untilAllDone(sql, tenant.orgId, DONE_MS)
    return await account(sql, tenant.orgId, loaded.received, load.acknowledged)
  })
  const { rescues, ...figures } = outcome
  const acknowledged = load.acknowledged.size
  process.stderr.write(`${JSON.stringify({ name, acknowledged, ...figures, recoveries, load: loadavg() })}\n`)
  expect(outcome.lost).toEqual([])
  // no result was given up
  expect(instance.log()).not.toContain('cannot be written')
  expect(outcome.duplicates).toBeLessThanOrEqual(outcome.lostAttempts + outcome.failedAttempts)
  expect(await command(PROGRAM, env, 'doctor')).toMatchObject({ ok: true })
  expect(await instance.end()).toBe(0)
  for (const receiver of [loaded, probed]) receiver.close()
}

for (const [kind, signal] of [
  ['fast', 'SIGINT'],
  ['immediate', 'SIGQUIT'],
] as const) {
  test(
    `an external PostgreSQL restarts (${kind}), ${RESTARTS} times`,
    async () => {
      const dataDir = `${scratch.path}/database-${kind}`
      await newDataFolder(dataDir)
      let embedded = await startEmbedded({ dataDir, log: silent })
      const { target } = embedded
      if ('url' in target) throw new Error('an embedded server listens on a socket')
      const { user, database, socketDir } = target
      const env: Environment = {
        ...SETTINGS,
        DATABASE_URL: `postgres://${user}@localhost/${database}?host=${encodeURIComponent(socketDir)}`,
        DATA_DIR: `${scratch.path}/instance-${kind}`,
      }
      const instance = await startInstance(PROGRAM, env)
      await rounds(
        kind,
        env,
        instance,
        () => target,
        async (round) => {
          process.kill(embedded.pid, signal)
          await embedded.exited
          await embedded.stop()
          // PostgreSQL starts at once, and after a moment without any database
          await Bun.sleep((round % 2) * 1_000)
          embedded = await startEmbedded({ dataDir, log: silent })
          expect(embedded.target).toEqual(target)
        },
      )
      await embedded.stop()
    },
    TEST_MS,
  )
}

test(
  `the embedded PostgreSQL restarts after the kill -9 of a backend, ${RESTARTS} times`,
  async () => {
    const env: Environment = { ...SETTINGS, DATA_DIR: `${scratch.path}/embedded` }
    await newDataFolder(env.DATA_DIR)
    const instance = await startInstance(PROGRAM, env)
    const target = () => {
      const found = attachEmbedded(env.DATA_DIR)
      if (found === undefined) throw new Error('the database is not running')
      return found
    }
    await rounds('backend', env, instance, target, async () => {
      await withSql(target(), async (sql) => {
        const [backend] = await sql<{ pid: number }[]>`
          select a.pid
          from pg_stat_activity a
          where a.application_name like 'cloud-analytics %'
          order by random()
          limit 1`
        expect(backend?.pid).toBeGreaterThan(0)
        // ends when the server restarts, which a busy machine does some time after the kill
        const restarted = sql`select pg_sleep(${DONE_MS / 1_000})`.execute().then(
          () => false,
          () => true,
        )
        process.kill(backend?.pid ?? 0, 'SIGKILL')
        expect(await restarted).toBe(true)
      })
    })
  },
  TEST_MS,
)
