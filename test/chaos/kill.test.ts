import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectTarget, connect } from '../../src/database/client.ts'
import { attachEmbedded } from '../../src/database/embedded/embedded-server.ts'
import { eventually } from '../support/cli.ts'
import { newDataFolder } from '../support/data-folder.ts'
import { testDatabase } from '../support/postgres.ts'
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
  makeOrg,
  SETTINGS,
  startInstance,
  startLoad,
  syncSessions,
  untilReceived,
} from '../support/webhook-load.ts'

// The executable, killed while it delivers: what it acknowledged is delivered, and little of it twice.

const BUILT = join(import.meta.dir, '../..', 'dist', 'cloud-analytics')
const built = existsSync(BUILT)
if (!built) process.stderr.write('skipping the kills of the executable: `bun run build` makes it\n')

/** Rounds of kill -9 of each test; CI's 2 take some seconds. */
const KILLS = Number(process.env.WEBHOOK_KILL_ROUNDS ?? 2)
/** The start, the lease and the backlog end within this time, on a machine that does other things as well. */
const DONE_MS = 60_000
setDefaultTimeout(120_000 + KILLS * 15_000)

const home = mkdtempSync(join(tmpdir(), 'cloud-analytics-kill-'))
const program = [join(home, 'cloud-analytics')]
if (built) copyFileSync(BUILT, join(home, 'cloud-analytics'))
afterAll(async () => {
  await killInstances()
  rmSync(home, { recursive: true, force: true })
  // two data directories: some seconds on a busy disk
}, 180_000)

/** The rounds leave these for the account. */
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
    await untilReceived(receiver, 50 + Math.floor(Math.random() * 150))
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

/** Returns for each kill that lost attempts how long it took until the first of them was made again. */
function firstRescues(rescues: Account['rescues'], killedAtMs: readonly number[]): number[] {
  // PostgreSQL ends the claim that it is at when its client dies
  const isUpTo = (lostAt: Date, at: number) => lostAt.getTime() <= at + 200
  return killedAtMs.flatMap((at, index) => {
    const before = killedAtMs[index - 1] ?? 0
    const mine = rescues.filter(({ lostAt }) => isUpTo(lostAt, at) && !isUpTo(lostAt, before))
    return mine.length === 0 ? [] : [Math.round(Math.min(...mine.map(({ rescuedAtMs }) => rescuedAtMs)) - at)]
  })
}

/** Checks that nothing was lost and little was sent twice, and prints the figures. */
async function checkRun(
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
  const outcome = await account(sql, orgId, received, acknowledged)
  await sql.end({ timeout: 1 })
  const late = received
    .map(arrivalOf)
    .filter(({ delivery, atMs }) => atMs > (settled.get(delivery) ?? Infinity))
  const { lost, rescues, ...figures } = outcome
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
  expect(outcome.duplicates).toBeLessThanOrEqual(outcome.lostAttempts + outcome.failedAttempts)
  expect(outcome.lostAttempts).toBeLessThanOrEqual(CONCURRENCY * KILLS)
  // nobody takes what another may still be sending: its lease has ended, or its sender was killed meanwhile
  const wasKilled = (lostAt: Date, rescuedAtMs: number) =>
    killedAtMs.some((at) => lostAt.getTime() <= at + 200 && at <= rescuedAtMs)
  const early = rescues.filter(
    ({ claimToRescueMs, lostAt, rescuedAtMs }) =>
      claimToRescueMs < LEASE_MS - 100 && !wasKilled(lostAt, rescuedAtMs),
  )
  expect(early).toEqual([])
}

/** Deliveries in flight to one endpoint at most, by default: WEBHOOK_ENDPOINT_CONCURRENCY. */
const DEFAULT_IN_FLIGHT = 4
/** The leases of the default time-out end after 20 s. */
const MAX_SILENCE_MS = 25_000
const {
  WEBHOOK_TIMEOUT_MS: _timeout,
  WEBHOOK_CONCURRENCY: _concurrency,
  WEBHOOK_ENDPOINT_CONCURRENCY: _ofEndpoint,
  ...DEFAULTS
} = SETTINGS

/**
 * Has `kill` end what holds all that the endpoint may have in flight. Returns how long after that the receiver
 * got the next request.
 */
async function silenceAfter(
  receiver: Receiver,
  sync: (count: number) => Promise<string[]>,
  acknowledged: Set<string>,
  kill: () => Promise<unknown>,
): Promise<number> {
  receiver.answer('hang')
  for (const id of await sync(2 * DEFAULT_IN_FLIGHT)) acknowledged.add(id)
  const isFull = (open: number) => open === DEFAULT_IN_FLIGHT
  await eventually(async () => receiver.open(), isFull, DONE_MS)
  const before = receiver.received.length
  const killedAtMs = performance.now()
  receiver.answer(answersSoon)
  await kill()
  await untilReceived(receiver, before + 1 - receiver.received.length)
  return Math.round((receiver.received[before]?.atMs ?? Infinity) - killedAtMs)
}

/** Checks the account of such kills, each with as many in flight as the endpoint may have. */
async function checkSilences(
  name: string,
  target: ConnectTarget,
  orgId: string,
  receiver: Receiver,
  acknowledged: ReadonlySet<string>,
  silencesMs: readonly number[],
): Promise<void> {
  const sql = connect(target, { max: 2, applicationName: 'test' })
  await untilAllDone(sql, orgId, DONE_MS)
  const { lost, rescues, ...figures } = await account(sql, orgId, receiver.received, acknowledged)
  await sql.end({ timeout: 1 })
  const load = loadavg().map((value) => Math.round(value * 10) / 10)
  process.stderr.write(
    `${JSON.stringify({ name, kills: KILLS, acknowledged: acknowledged.size, lost: lost.length, ...figures, rescued: rescues.length, silencesMs, load })}\n`,
  )
  expect(lost).toEqual([])
  expect(figures.duplicates).toBeLessThanOrEqual(KILLS * DEFAULT_IN_FLIGHT)
  expect(Math.max(...silencesMs)).toBeLessThan(MAX_SILENCE_MS)
}

describe.skipIf(!built)('deliveries of the executable', () => {
  test(`kill -9 of the one instance with its database, ${KILLS} times`, async () => {
    const env: Environment = { ...SETTINGS, DATA_DIR: join(home, 'one') }
    await newDataFolder(env.DATA_DIR)
    const receiver = await startReceiver(answersSoon)
    let instance: Instance = await startInstance(program, env)
    const org = await makeOrg(program, env)
    await addEndpointByApi(instance.url, org, receiver.url)
    const target = () => {
      const found = attachEmbedded(env.DATA_DIR)
      if (found === undefined) throw new Error('the database is not running')
      return found
    }
    const load = startLoad(org, () => [instance.url], receiver)
    const rounds = await killRounds(receiver, target, org.orgId, async () => {
      await instance.end('SIGKILL')
      instance = await startInstance(program, env)
    })
    await load.stop()
    await checkRun('one instance', target(), org.orgId, receiver, load.acknowledged, rounds)
    expect(await command(program, env, 'doctor')).toMatchObject({ ok: true })
    expect(await instance.end()).toBe(0)
    receiver.close()
  })

  test(`kill -9 of one of two instances on one database, ${KILLS} times`, async () => {
    const database = await testDatabase()
    const { target, url: DATABASE_URL } = database
    const envs = ['first', 'second'].map(
      (name): Environment => ({ ...SETTINGS, DATABASE_URL, DATA_DIR: join(home, name) }),
    )
    const [env] = envs
    if (env === undefined) throw new Error('there is no instance')
    const receiver = await startReceiver(answersSoon)
    const instances: Instance[] = []
    for (const each of envs) instances.push(await startInstance(program, each))
    const org = await makeOrg(program, env)
    await addEndpointByApi(instances[0]?.url ?? '', org, receiver.url)
    const load = startLoad(org, () => instances.map(({ url }) => url), receiver)
    const rounds = await killRounds(
      receiver,
      () => target,
      org.orgId,
      async (round) => {
        const index = round % 2
        await instances[index]?.end('SIGKILL')
        instances[index] = await startInstance(program, envs[index] ?? env)
      },
    )
    await load.stop()
    await checkRun('two instances', target, org.orgId, receiver, load.acknowledged, rounds)
    expect(await command(program, env, 'doctor')).toMatchObject({ ok: true })
    for (const instance of instances) expect(await instance.end()).toBe(0)
    receiver.close()
    await database.drop()
  })

  test(`what one of two instances held in flight by default is soon sent by the other, ${KILLS} times`, async () => {
    const database = await testDatabase()
    const { target, url: DATABASE_URL } = database
    const start = (name: string) =>
      startInstance(program, { ...DEFAULTS, DATABASE_URL, DATA_DIR: join(home, name) })
    const receiver = await startReceiver(answersSoon)
    let victim = await start('default-0')
    let survivor = await start('default-1')
    const org = await makeOrg(program, { ...DEFAULTS, DATABASE_URL, DATA_DIR: home })
    await addEndpointByApi(victim.url, org, receiver.url)
    const acknowledged = new Set<string>()
    const silencesMs: number[] = []
    for (let round = 0; round < KILLS; round += 1) {
      // stopped, so that the other one claims all that may be in flight
      survivor.signal('SIGSTOP')
      const silenceMs = await silenceAfter(
        receiver,
        (count) => syncSessions(victim.url, org, count),
        acknowledged,
        async () => {
          survivor.signal('SIGCONT')
          await victim.end('SIGKILL')
        },
      )
      silencesMs.push(silenceMs)
      victim = survivor
      survivor = await start(`default-${round % 2}`)
    }
    await checkSilences('one of two, defaults', target, org.orgId, receiver, acknowledged, silencesMs)
    for (const instance of [victim, survivor]) expect(await instance.end()).toBe(0)
    receiver.close()
    await database.drop()
  })

  test(`what the only instance held in flight by default is soon sent by its next start, ${KILLS} times`, async () => {
    const env: Environment = { ...DEFAULTS, DATA_DIR: join(home, 'only') }
    await newDataFolder(env.DATA_DIR)
    const receiver = await startReceiver(answersSoon)
    let instance = await startInstance(program, env)
    const org = await makeOrg(program, env)
    await addEndpointByApi(instance.url, org, receiver.url)
    const acknowledged = new Set<string>()
    const silencesMs: number[] = []
    for (let round = 0; round < KILLS; round += 1) {
      const silenceMs = await silenceAfter(
        receiver,
        (count) => syncSessions(instance.url, org, count),
        acknowledged,
        async () => {
          await instance.end('SIGKILL')
          instance = await startInstance(program, env)
        },
      )
      silencesMs.push(silenceMs)
    }
    const target = attachEmbedded(env.DATA_DIR)
    if (target === undefined) throw new Error('the database is not running')
    await checkSilences('the only one, defaults', target, org.orgId, receiver, acknowledged, silencesMs)
    expect(await instance.end()).toBe(0)
    receiver.close()
  })
})
