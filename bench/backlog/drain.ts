import { loadavg } from 'node:os'
import { loadPricer } from '../../src/analysis/scoring/prices.ts'
import type { Sql } from '../../src/database/client.ts'
import { seed } from '../../src/server/seed/seed.ts'
import { writeRecords } from '../../src/server/sync/write.ts'
import { ask } from '../support/load.ts'
import { cpuSecondsOf, memoryOf, type Program } from '../support/program.ts'
import { print, printColumns, quantile } from '../support/table.ts'
import type { Lane } from './receiver.ts'
import { addBacklog, addEndpoint, addTenant, type Tenant } from './rows.ts'
import { type Receivers, type StageOptions, withStage } from './stage.ts'

// The effect of draining a large backlog of one organization on memory, on the API and on the order of
// deliveries.

const ENDPOINTS = 10
const SEED = 1
const DAYS = 90
/** Limit: a response during the drain takes at most this many times as long as without it. */
const API_LIMIT = 2
const SETTLE_MS = 3_000

interface DrainOptions extends StageOptions {
  deliveries: number
  phaseS: number
  /** Sessions of the organization, for the API to read. */
  sessions: number
}

async function prepare(sql: Sql, receivers: Receivers, options: DrainOptions) {
  const tenant = await addTenant(sql, 'backlog')
  const today = new Date().toISOString().slice(0, 10)
  const deps = { sql, now: () => new Date(), pricer: async () => loadPricer({}), storeContent: false }
  const amounts = { sessions: options.sessions, audit: 0, risk: 0, commits: 0 }
  await seed(deps, tenant.orgId, { ...amounts, projects: 20, days: DAYS, seed: SEED, today })
  await writeRecords(deps, tenant.orgId, [{ type: 'budget', month: today.slice(0, 7), limit: 2_500 }])
  const endpoints: string[] = []
  for (let at = 0; at < ENDPOINTS; at += 1) {
    // not enabled yet
    const url = `http://127.0.0.1:${receivers.ports.good}/${at}`
    const id = await addEndpoint(sql, tenant.orgId, url, false)
    endpoints.push(id)
    await addBacklog(sql, tenant.orgId, id, Math.ceil(options.deliveries / ENDPOINTS))
  }
  await sql`vacuum analyze`
  await sql`checkpoint`
  return { tenant, endpoints }
}

/** Measurements of one phase. */
interface Phase {
  name: string
  perSecond: number
  /** MiB (RSS), sampled each second. */
  rss: number[]
  pss: number
  /** Processor seconds a second. */
  cpu: { program: number; postgres: number }
  /** Milliseconds of the responses, by path. */
  responses: Map<string, number[]>
  load: number
}

/** Requests one path after the other on one connection until `endMs`. */
async function requestInTurn(program: Program, tenant: Tenant, paths: readonly string[], endMs: number) {
  const responses = new Map<string, number[]>(paths.map((path) => [path, []]))
  while (performance.now() < endMs) {
    for (const path of paths) {
      const startMs = performance.now()
      await ask({ base: program.url, path, key: tenant.key })
      responses.get(path)?.push(performance.now() - startMs)
    }
  }
  return responses
}

async function sampleMemory(pid: number, endMs: number): Promise<number[]> {
  const rss: number[] = []
  while (performance.now() < endMs) {
    rss.push(memoryOf(pid).program.rss)
    await Bun.sleep(1_000)
  }
  return rss
}

interface Scene {
  program: Program
  postmaster: number
  tenant: Tenant
  receivers: Receivers
  paths: readonly string[]
}

const receivedOf = async (receivers: Receivers): Promise<number> =>
  Object.values((await receivers.receipts()).lanes).reduce((sum, { received }) => sum + received, 0)

/** Samples for `seconds`; sends requests to the API meanwhile unless `quiet`. */
async function runPhase(scene: Scene, name: string, seconds: number, quiet: boolean): Promise<Phase> {
  const { program, postmaster, tenant, receivers, paths } = scene
  const before = await receivedOf(receivers)
  const cpuAt = () => [program.pid, postmaster].map(cpuSecondsOf)
  const [programBefore = 0, postgresBefore = 0] = cpuAt()
  const startMs = performance.now()
  const endMs = startMs + seconds * 1_000
  const [rss, responses] = await Promise.all([
    sampleMemory(program.pid, endMs),
    requestInTurn(program, tenant, quiet ? [] : paths, quiet ? 0 : endMs),
  ])
  const tookS = (performance.now() - startMs) / 1_000
  const [programAfter = 0, postgresAfter = 0] = cpuAt()
  return {
    name,
    perSecond: ((await receivedOf(receivers)) - before) / tookS,
    rss,
    pss: memoryOf(program.pid).program.pss,
    cpu: {
      program: (programAfter - programBefore) / tookS,
      postgres: (postgresAfter - postgresBefore) / tookS,
    },
    responses,
    load: loadavg()[0] ?? 0,
  }
}

/** Measures and prints; returns the number of figures beyond their limit. */
export async function measureDrain(receivers: Receivers, options: DrainOptions): Promise<number> {
  return await withStage(options, async ({ sql, start }) => {
    const { tenant, endpoints } = await prepare(sql, receivers, options)
    await receivers.clear()
    const program = await start()
    try {
      const paths = ['/v1/sessions', '/v1/cost', `/v1/webhooks/${endpoints[0]}/deliveries`]
      const scene = { program, postmaster: options.embedded.pid, tenant, receivers, paths }
      const phase = (name: string, quiet = false) => runPhase(scene, name, options.phaseS, quiet)
      const setEnabled = async (enabled: boolean) => {
        await sql`
          update webhook_endpoints e
          set enabled = ${enabled}
          where e.org_id = ${tenant.orgId}`
        await Bun.sleep(SETTLE_MS)
      }
      for (let i = 0; i < 30; i += 1) await requestInTurn(program, tenant, paths, performance.now() + 1)
      await Bun.sleep(SETTLE_MS)
      const idle = [await phase('idle')]
      await setEnabled(true)
      const draining: Phase[] = []
      for (let at = 0; at < 3; at += 1) {
        draining.push(await phase('draining', true), await phase('draining, asked'))
      }
      await setEnabled(false)
      idle.push(await phase('idle again'))
      printPhases([...idle.slice(0, 1), ...draining, ...idle.slice(1)])
      printOrder((await receivers.receipts()).lanes)
      return printResponses(paths, idle, draining)
    } finally {
      await program.stop()
    }
  })
}

function printPhases(phases: readonly Phase[]): void {
  print('\nphases')
  printColumns([
    ['', 'received/s', 'RSS MiB, least', 'most', 'PSS at the end', 'CPU program', 'CPU PostgreSQL', 'load'],
    ...phases.map(({ name, perSecond, rss, pss, cpu, load }) => [
      name,
      perSecond.toFixed(0),
      Math.min(...rss).toFixed(0),
      Math.max(...rss).toFixed(0),
      pss.toFixed(0),
      cpu.program.toFixed(2),
      cpu.postgres.toFixed(2),
      load.toFixed(1),
    ]),
  ])
}

function printOrder(lanes: Readonly<Record<string, Lane>>): void {
  const all = Object.values(lanes)
  const total = (value: (lane: Lane) => number) => all.reduce((sum, lane) => sum + value(lane), 0)
  const received = total((lane) => lane.received)
  const late = total((lane) => lane.late)
  print(
    `\norder: of ${received} received ${late} (${((100 * late) / received).toFixed(2)} %) came behind a later one of their endpoint, by ${Math.max(...all.map(({ mostPlaces }) => mostPlaces))} places at most`,
  )
}

function printResponses(
  paths: readonly string[],
  idle: readonly Phase[],
  draining: readonly Phase[],
): number {
  const rows: string[][] = []
  let failures = 0
  for (const path of paths) {
    const of = (phases: readonly Phase[], part: number) =>
      quantile(
        phases.flatMap(({ responses }) => responses.get(path) ?? []),
        part,
      )
    const ratio = of(draining, 0.99) / of(idle, 0.99)
    if (!(ratio <= API_LIMIT)) failures += 1
    const ms = [of(idle, 0.5), of(draining, 0.5), of(idle, 0.99), of(draining, 0.99)].map((value) =>
      value.toFixed(2),
    )
    const name = path.replace(/hook_[^/]+/, ':id')
    rows.push([name, ...ms, ratio.toFixed(2), ratio <= API_LIMIT ? 'ok' : 'BEYOND'])
  }
  print('\nanswers on one connection, ms')
  printColumns([['', 'idle: p50', 'draining', 'idle: p99', 'draining', 'ratio', 'verdict'], ...rows])
  return failures
}
