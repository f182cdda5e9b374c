import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectTarget, connect } from '../../src/db/client.ts'
import { attachEmbedded, startEmbedded } from '../../src/db/embedded/embedded-server.ts'
import { silent } from '../support/postgres.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Account, account, arrivalOf, findSettled, untilAllDone } from '../support/webhook-account.ts'
import {
  addEndpointByApi,
  answersSoon,
  CONCURRENCY,
  command,
  type Environment,
  type Instance,
  killInstances,
  LEASE_MS,
  makeTenant,
  SETTINGS,
  startInstance,
  startLoad,
  untilReceived,
} from '../support/webhook-load.ts'

// The executable, killed while it delivers: what it acknowledged is delivered, and little of it twice.

const BUILT = join(import.meta.dir, '../..', 'dist', 'cloud-analytics')
const built = existsSync(BUILT)
if (!built) process.stderr.write('skipping the kills of the executable: `bun run build` makes it\n')

/** Rounds of kill -9 of each test; CI's 3 take some seconds. */
const KILLS = Number(process.env.WEBHOOK_KILL_ROUNDS ?? 3)
/** For the start, the lease, and the backlog, on a machine that does other things as well. */
const DONE_MS = 60_000
const TEST_MS = 120_000 + KILLS * 15_000

let home: string
let program: string[]
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'cloud-analytics-kill-'))
  program = [join(home, 'cloud-analytics')]
  if (built) copyFileSync(BUILT, join(home, 'cloud-analytics'))
})
afterAll(async () => {
  await killInstances()
  rmSync(home, { recursive: true, force: true })
})

/** What the rounds leave for the account. */
interface Rounds {
  /** Times of the kills, by the clock. */
  killedAtMs: number[]
  /** Requests that the receiver had open at the kills. */
  open: number
  /** Deliveries seen to have succeeded, and when (performance.now()): none of them may come again. */
  settled: Map<string, number>
}

/** Kills after a different number of deliveries each time. */
async function killRounds(
  receiver: Receiver,
  target: () => ConnectTarget,
  orgId: string,
  killAndRestart: (round: number) => Promise<void>,
): Promise<Rounds> {
  const rounds: Rounds = { killedAtMs: [], open: 0, settled: new Map() }
  for (let round = 0; round < KILLS; round += 1) {
    await untilReceived(receiver, 50 + Math.floor(Math.random() * 300))
    rounds.open += receiver.open()
    rounds.killedAtMs.push(Date.now())
    await killAndRestart(round)
    const sql = connect(target(), { max: 1, applicationName: 'test' })
    const settled = await findSettled(sql, orgId)
    await sql.end({ timeout: 1 })
    for (const id of settled) if (!rounds.settled.has(id)) rounds.settled.set(id, performance.now())
  }
  return rounds
}

/** Of each kill that lost attempts, how long it took until the first of them was made again. */
function firstRescues(rescues: Account['rescues'], killedAtMs: readonly number[]): number[] {
  // PostgreSQL ends the claim that it is at when its client dies
  const isUpTo = (lostAt: Date, at: number) => lostAt.getTime() <= at + 200
  return killedAtMs.flatMap((at, index) => {
    const before = killedAtMs[index - 1] ?? 0
    const mine = rescues.filter(({ lostAt }) => isUpTo(lostAt, at) && !isUpTo(lostAt, before))
    return mine.length === 0 ? [] : [Math.round(Math.min(...mine.map(({ rescuedAtMs }) => rescuedAtMs)) - at)]
  })
}

/** Holds the promises, and prints the figures. */
async function judge(
  name: string,
  target: ConnectTarget,
  orgId: string,
  receiver: Receiver,
  acknowledged: ReadonlySet<string>,
  { killedAtMs, open, settled }: Rounds,
): Promise<void> {
  const sql = connect(target, { max: 2, applicationName: 'test' })
  await untilAllDone(sql, orgId, DONE_MS)
  const { received } = receiver
  const told = await account(sql, orgId, received, acknowledged)
  await sql.end({ timeout: 1 })
  const late = received
    .map(arrivalOf)
    .filter(({ delivery, atMs }) => atMs > (settled.get(delivery) ?? Infinity))
  const { lost, rescues, ...figures } = told
  process.stderr.write(
    `${JSON.stringify({
      name,
      kills: KILLS,
      acknowledged: acknowledged.size,
      lost: lost.length,
      ...figures,
      openAtKills: open,
      rescued: rescues.length,
      leaseMs: LEASE_MS,
      firstRescueAfterKillMs: firstRescues(rescues, killedAtMs),
      load: loadavg().map((value) => Math.round(value * 10) / 10),
    })}\n`,
  )
  expect(lost).toEqual([])
  expect(late).toEqual([])
  expect(told.duplicates).toBeLessThanOrEqual(told.lostAttempts + told.failedAttempts)
  expect(told.lostAttempts).toBeLessThanOrEqual(CONCURRENCY * KILLS)
  // nobody takes what another may still be sending; two clocks of this machine may differ a little
  expect(rescues.filter(({ claimToRescueMs }) => claimToRescueMs < LEASE_MS - 100)).toEqual([])
}

describe.skipIf(!built)('deliveries of the executable', () => {
  test(
    `kill -9 of the one instance with its database, ${KILLS} times`,
    async () => {
      const env: Environment = { ...SETTINGS, DATA_DIR: join(home, 'one') }
      const receiver = await startReceiver(answersSoon)
      let instance: Instance = await startInstance(program, env)
      const tenant = await makeTenant(program, env)
      await addEndpointByApi(instance.url, tenant, receiver.url)
      const target = () => {
        const found = attachEmbedded(env.DATA_DIR)
        if (found === undefined) throw new Error('the database is not running')
        return found
      }
      const load = startLoad(tenant, () => [instance.url], receiver)
      const rounds = await killRounds(receiver, target, tenant.orgId, async () => {
        await instance.end('SIGKILL')
        instance = await startInstance(program, env)
      })
      await load.stop()
      await judge('one instance', target(), tenant.orgId, receiver, load.acknowledged, rounds)
      expect(await command(program, env, 'doctor')).toMatchObject({ ok: true })
      expect(await instance.end()).toBe(0)
      receiver.close()
    },
    TEST_MS,
  )

  test(
    `kill -9 of one of two instances on one database, ${KILLS} times`,
    async () => {
      const embedded = await startEmbedded({ dataDir: join(home, 'database'), log: silent })
      const { target } = embedded
      if ('url' in target) throw new Error('an embedded server listens on a socket')
      const DATABASE_URL = `postgres://${target.user}@localhost/${target.database}?host=${encodeURIComponent(target.socketDir)}`
      const envs = ['first', 'second'].map(
        (name): Environment => ({ ...SETTINGS, DATABASE_URL, DATA_DIR: join(home, name) }),
      )
      const [env] = envs
      if (env === undefined) throw new Error('there is no instance')
      const receiver = await startReceiver(answersSoon)
      const instances: Instance[] = []
      for (const each of envs) instances.push(await startInstance(program, each))
      const tenant = await makeTenant(program, env)
      await addEndpointByApi(instances[0]?.url ?? '', tenant, receiver.url)
      const load = startLoad(tenant, () => instances.map(({ url }) => url), receiver)
      const rounds = await killRounds(
        receiver,
        () => target,
        tenant.orgId,
        async (round) => {
          const index = round % 2
          await instances[index]?.end('SIGKILL')
          instances[index] = await startInstance(program, envs[index] ?? env)
        },
      )
      await load.stop()
      await judge('two instances', target, tenant.orgId, receiver, load.acknowledged, rounds)
      expect(await command(program, env, 'doctor')).toMatchObject({ ok: true })
      for (const instance of instances) expect(await instance.end()).toBe(0)
      receiver.close()
      await embedded.stop()
    },
    TEST_MS,
  )
})
