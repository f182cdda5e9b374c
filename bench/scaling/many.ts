// Many small organizations beside a large one, by the built executable with its embedded PostgreSQL:
// `bun run build && bun bench/scaling/many.ts`. With `--organizations 0` the large one is alone.

import { existsSync, mkdirSync } from 'node:fs'
import { cpus } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createKey } from '../../src/accounts/keys/queries.ts'
import { createOrganization } from '../../src/accounts/organizations/queries.ts'
import { loadPricer } from '../../src/analysis/scoring/prices.ts'
import { createLog } from '../../src/base/log.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { generateSessions } from '../../src/server/seed/generate.ts'
import { seed } from '../../src/server/seed/seed.ts'
import { runCommand } from '../intake/measure.ts'
import { EXECUTABLE, memoryOf, startProgram } from '../support/program.ts'
import { print, quantile } from '../support/table.ts'

const { values } = parseArgs({
  options: {
    organizations: { type: 'string', default: '10000' },
    /** Sessions of each small organization. */
    sessions: { type: 'string', default: '20' },
    /** Sessions of the large one. */
    large: { type: 'string', default: '100000' },
    /** Small organizations with a webhook. */
    receivers: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '5' },
    'data-dir': { type: 'string', default: resolve(import.meta.dir, '../../dist/bench-many') },
  },
})
const organizations = Number(values.organizations)
const receivers = Math.min(organizations, Number(values.receivers))
/** Small organizations whose reads are measured. */
const READERS = 200
const WRITERS = 8
const PATHS = ['/v1/sessions', '/v1/quality', '/v1/cost', '/v1/security', '/v1/cost/breakdown?by=member']
const today = new Date().toISOString().slice(0, 10)
const plan = { commits: 0, risk: 0, audit: 0, projects: 5, days: 90, seed: 1, today }
const dataDir = values['data-dir']
if (existsSync(dataDir)) throw new Error(`${dataDir} exists: remove it, or name another by --data-dir`)
mkdirSync(dataDir, { recursive: true })

/** Makes the organizations, the large one with its sessions; returns a key of the large one, and one of each other. */
async function fill(): Promise<{ large: string; small: string[] }> {
  const database = await openDatabase(
    { databaseUrl: null, dataDir, databasePool: 4 },
    'command',
    createLog('warn', 'pretty'),
  )
  try {
    const { sql } = database
    await migrate(sql, createLog('warn', 'pretty'))
    const deps = { sql, now: () => new Date(), pricer: async () => loadPricer({}), storeContent: false }
    const make = async (slug: string) => {
      const { id } = await createOrganization(sql, { slug, name: slug, plan: 'cloud_enterprise' })
      const { key } = await createKey(sql, id, { name: 'bench', scopes: ['read', 'write', 'webhooks'] })
      return { id, key }
    }
    const large = await make('large')
    await seed(deps, large.id, { ...plan, sessions: Number(values.large) })
    const small: string[] = []
    for (let made = 0; made < organizations; made += 1) small.push((await make(`org-${made}`)).key)
    return { large: large.key, small }
  } finally {
    await database.close()
  }
}

const authorization = (key: string) => ({ authorization: `Bearer ${key}` })

/** Milliseconds of GETs by one client, each with the next key. */
async function reads(url: string, path: string, keys: readonly string[]): Promise<number[]> {
  const times: number[] = []
  const endMs = performance.now() + (Number(values.seconds) * 1_000) / PATHS.length
  for (let turn = 0; performance.now() < endMs; turn += 1) {
    const startedMs = performance.now()
    const response = await fetch(url + path, { headers: authorization(keys[turn % keys.length] ?? '') })
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
    times.push(performance.now() - startedMs)
  }
  return times.sort((a, b) => a - b)
}

async function post(url: string, key: string, path: string, body: object): Promise<void> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...authorization(key), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status >= 300) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
}

/** Does the work for each, some at a time. */
async function inTurn<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const next = async () => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await work(item)
  }
  await Promise.all(Array.from({ length: WRITERS }, next))
}

/** Sends the sessions of the small organizations. */
async function sync(url: string, keys: readonly string[]): Promise<void> {
  const records = [...generateSessions({ ...plan, sessions: Number(values.sessions) })]
  const startedMs = performance.now()
  await inTurn(keys, (key) => post(url, key, '/v1/sync', { records }))
  const seconds = (performance.now() - startedMs) / 1_000
  print(
    `${keys.length} requests of ${records.length} sessions: ${(keys.length / seconds).toFixed(0)} a second`,
  )
}

/** One webhook for each of these organizations, then one session of each: the seconds until each has a delivery. */
async function deliver(url: string, keys: readonly string[]): Promise<void> {
  const left = new Map<string, number>()
  const late: number[] = []
  const all = Promise.withResolvers<void>()
  const receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url: target }) {
      const name = new URL(target).pathname
      const sentMs = left.get(name)
      if (sentMs !== undefined && left.delete(name)) late.push(performance.now() - sentMs)
      if (late.length === keys.length) all.resolve()
      return new Response('ok')
    },
  })
  const entries = keys.map((key, index) => ({ key, name: `/${index}` }))
  const each = (work: (entry: { key: string; name: string }) => Promise<void>) => inTurn(entries, work)
  await each(({ key, name }) =>
    post(url, key, '/v1/webhooks', {
      url: `http://127.0.0.1:${receiver.port}${name}`,
      events: ['session.completed'],
    }),
  )
  const startedMs = performance.now()
  await each(async ({ key, name }) => {
    left.set(name, performance.now())
    await post(url, key, '/v1/sync', {
      records: [
        {
          type: 'session',
          id: `sess_bench${name.slice(1)}`,
          project_name: 'bench',
          created_at: `${today}T00:00:00Z`,
        },
      ],
    })
  })
  await all.promise
  const seconds = (performance.now() - startedMs) / 1_000
  late.sort((a, b) => a - b)
  print(
    `${keys.length} organizations, a session and its delivery each: ${(keys.length / seconds).toFixed(0)} a second, ` +
      `p50 ${quantile(late, 0.5).toFixed(0)} ms, p99 ${quantile(late, 0.99).toFixed(0)} ms from the request`,
  )
  await receiver.stop(true)
}

const fillingMs = performance.now()
const keys = await fill()
print(
  `${cpus().length} cores of ${cpus()[0]?.model}; made in ${((performance.now() - fillingMs) / 1_000).toFixed(0)} s`,
)
const program = await startProgram(dataDir, {
  CACHE_BYTES: '0',
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
})
const mib = (value: number) => `${value.toFixed(0)} MiB`
const printMemory = (when: string) => {
  const { program: own, postgres } = memoryOf(program.pid)
  print(`${when}: ${mib(own.rss)}, PostgreSQL ${mib(postgres.pss)}`)
}
print(`ready after ${program.readyMs.toFixed(0)} ms`)
printMemory('memory at the start')
if (organizations > 0) await sync(program.url, keys.small)
for (const path of PATHS) {
  const large = quantile(await reads(program.url, path, [keys.large]), 0.5).toFixed(2)
  const small = keys.small.slice(0, READERS)
  const others =
    small.length === 0 ? '' : `, small ${quantile(await reads(program.url, path, small), 0.5).toFixed(2)}`
  print(`${path}: p50 in ms, large ${large}${others}`)
}
if (receivers > 0) await deliver(program.url, keys.small.slice(0, receivers))
printMemory('memory after it')
const doctor = await runCommand([EXECUTABLE, 'doctor', '--data-dir', dataDir], { server: program.pid })
print(
  `doctor: ${doctor.seconds.toFixed(1)} s, ${doctor.cpuSeconds.toFixed(1)} s of processor time, ${mib(doctor.peakMiB)}`,
)
print(`stopped after ${(await program.stop()).toFixed(0)} ms`)
