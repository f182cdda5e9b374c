// Deliveries a second of the built executable, graphile-worker and pg-boss: the same requests to the same receiver from
// the same PostgreSQL: `bun run build && bun bench/delivery/delivery.ts`. Each round runs them in the reverse order of the
// round before, each with a fresh process and a fresh database in which all deliveries wait.

import { mkdirSync } from 'node:fs'
import { loadavg } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createLog } from '../../src/base/log.ts'
import { packForHost } from '../../src/build/pack.ts'
import { type Embedded, startEmbedded } from '../../src/database/embedded/embedded-server.ts'
import { EXECUTABLE } from '../support/program.ts'
import { median, print, printColumns } from '../support/table.ts'
import { type Contender, type Database, databaseOf, rivals } from './contenders.ts'
import { type Latency, measureLatency } from './latency.ts'
import { OUR_NAME, ours } from './ours.ts'
import { startReceiver } from './processes.ts'
import { type Measured, runOnce } from './run.ts'

/** The results of each round, by name of the contender. */
type Rounds = Map<string, Measured[]>

function readOptions() {
  const { values } = parseArgs({
    options: {
      deliveries: { type: 'string', default: '20000' },
      rounds: { type: 'string', default: '5' },
      concurrency: { type: 'string', default: '64' },
      samples: { type: 'string', default: '500' },
      'data-dir': { type: 'string', default: resolve(import.meta.dir, '../../dist/bench-delivery/data') },
      executable: { type: 'string', default: EXECUTABLE },
      /** The program that runs the rivals: `node` or `bun`. */
      runtime: { type: 'string', default: process.execPath },
      /** Contenders by name, separated by commas; all unless given. */
      only: { type: 'string' },
      /** Added to the command of the rivals, to try other settings: `--batch=64 --pool=4`. */
      'rival-flags': { type: 'string', default: '' },
      check: { type: 'boolean', default: false },
    },
  })
  const counts = [values.deliveries, values.rounds, values.concurrency, values.samples].map(Number)
  const [deliveries = 0, rounds = 0, concurrency = 0, samples = 0] = counts
  if (!counts.every((count) => Number.isSafeInteger(count) && count > 0))
    throw new Error('--deliveries, --rounds, --concurrency and --samples take a count')
  return { ...values, deliveries, rounds, concurrency, samples }
}

/** Creates a database, runs `use` with it, and drops it. */
async function withDatabase<Result>(
  { target }: Embedded,
  use: (database: Database) => Promise<Result>,
): Promise<Result> {
  if (!('socketDir' in target)) throw new Error('the embedded PostgreSQL listens on a unix socket')
  const { sql } = databaseOf(target, 'postgres')
  await sql`drop database if exists bench with (force)`
  await sql`create database bench`
  const database = databaseOf(target, 'bench')
  try {
    return await use(database)
  } finally {
    await database.sql.end()
    await sql`drop database bench with (force)`
    await sql.end()
  }
}

async function measure(embedded: Embedded, contenders: readonly Contender[]): Promise<Rounds> {
  const receiver = await startReceiver()
  const all: Rounds = new Map()
  try {
    for (let round = 0; round < options.rounds; round += 1) {
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        const measured = await withDatabase(embedded, (database) =>
          runOnce(contender, database, receiver, options.deliveries, embedded.pid),
        )
        all.set(contender.name, [...(all.get(contender.name) ?? []), measured])
        printRound(round, contender.name, measured)
      }
    }
  } finally {
    receiver.stop()
  }
  return all
}

function printRound(round: number, name: string, measured: Measured): void {
  const { perSecond, settledPerSecond, duplicates, cpuOfProgram, cpuOfPostgres, rssBefore, rssAfter } =
    measured
  print(
    `round ${round + 1}, ${name}: ${perSecond.toFixed(0)}/s received, ${settledPerSecond.toFixed(0)}/s settled, ` +
      `${duplicates} duplicates, CPU ms a delivery ${cpuOfProgram.toFixed(3)} and ${cpuOfPostgres.toFixed(3)}, RSS ${rssBefore.toFixed(0)} to ${rssAfter.toFixed(0)} MiB ` +
      `(load average ${loadavg()[0]?.toFixed(2)})`,
  )
}

const medianOf = (rounds: readonly Measured[], value: (measured: Measured) => number): number =>
  median(rounds.map(value))

function printMedians(all: Rounds): void {
  print(
    `\n${options.deliveries} deliveries, ${options.concurrency} at a time, median of ${options.rounds} rounds`,
  )
  printColumns([
    [
      '',
      'received/s',
      'settled/s',
      'CPU ms, program',
      'PostgreSQL',
      'RSS MiB, first',
      'settled',
      'headers',
      'body bytes',
    ],
    ...[...all].map(([name, rounds]) => [
      name,
      medianOf(rounds, ({ perSecond }) => perSecond).toFixed(0),
      medianOf(rounds, ({ settledPerSecond }) => settledPerSecond).toFixed(0),
      medianOf(rounds, ({ cpuOfProgram }) => cpuOfProgram).toFixed(3),
      medianOf(rounds, ({ cpuOfPostgres }) => cpuOfPostgres).toFixed(3),
      medianOf(rounds, ({ rssBefore }) => rssBefore).toFixed(0),
      medianOf(rounds, ({ rssAfter }) => rssAfter).toFixed(0),
      String(rounds[0]?.headers),
      String(rounds[0]?.bodyBytes),
    ]),
  ])
}

/** Limit of `--check`: milliseconds from a commit to the receipt while idle. */
const LATENCY_LIMITS = { p50: 10, p99: 50 }

async function measureLatencies(embedded: Embedded, contenders: readonly Contender[]) {
  const latencies: [string, Latency][] = []
  for (const contender of contenders) {
    const latency = await withDatabase(embedded, (database) =>
      measureLatency(contender, database, options.samples),
    )
    latencies.push([contender.name, latency])
  }
  print(`\nidle, ms from before COMMIT to the receipt (load average ${loadavg()[0]?.toFixed(2)})`)
  printColumns([
    ['', 'samples', 'p50', 'p95', 'p99', 'max'],
    ...latencies.map(([name, { samples, p50, p95, p99, max }]) => [
      name,
      String(samples),
      ...[p50, p95, p99, max].map((ms) => ms.toFixed(2)),
    ]),
  ])
  return latencies
}

/** The limits of `--check` that are exceeded. */
function problemsOf(all: Rounds, latencies: readonly [string, Latency][]): string[] {
  const problems: string[] = []
  const rates = [...all].map(([name, rounds]) => ({
    name,
    rate: medianOf(rounds, (one) => one.settledPerSecond),
  }))
  const own = rates.find(({ name }) => name === OUR_NAME)
  for (const { name, rate } of rates) {
    if (own !== undefined && own.rate < rate) problems.push(`slower than ${name}`)
  }
  const repeated = (all.get(OUR_NAME) ?? []).reduce((sum, { duplicates }) => sum + duplicates, 0)
  if (repeated > 0) problems.push(`${repeated} deliveries were sent again`)
  const latency = latencies.find(([name]) => name === OUR_NAME)?.[1]
  for (const part of ['p50', 'p99'] as const) {
    if (latency !== undefined && latency[part] >= LATENCY_LIMITS[part])
      problems.push(`${part} of the latency is not below ${LATENCY_LIMITS[part]} ms`)
  }
  return problems
}

const options = readOptions()
await packForHost()
mkdirSync(options['data-dir'], { recursive: true })
const embedded = await startEmbedded({
  dataDir: options['data-dir'],
  log: createLog('warn', 'pretty'),
  role: 'command',
})
let problems: string[]
try {
  const { executable, concurrency, runtime, 'data-dir': folder } = options
  const flags = options['rival-flags'].split(' ').filter((flag) => flag !== '')
  const all = [ours({ executable, folder, concurrency }), ...(await rivals({ runtime, concurrency, flags }))]
  const named = options.only?.split(',')
  const contenders = all.filter(({ name }) => named === undefined || named.includes(name))
  const rounds = await measure(embedded, contenders)
  printMedians(rounds)
  problems = problemsOf(rounds, await measureLatencies(embedded, contenders))
} finally {
  await embedded.stop()
}
for (const problem of problems) print(`BEYOND: ${problem}`)
process.exit(options.check && problems.length > 0 ? 1 : 0)
