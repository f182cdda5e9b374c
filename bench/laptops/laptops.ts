// A working day of many laptops in short: clients that `watch`, sessions that grow, a server that restarts twice, a client
// that is killed, one that is offline for most of the time. Every turn must arrive, none twice, each with its user:
// `bun run build && bun bench/laptops/laptops.ts`. Ends with 1 when anything is missing or a limit is exceeded.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createKey } from '../../src/accounts/keys/queries.ts'
import { createOrganization } from '../../src/accounts/organizations/queries.ts'
import { createLog } from '../../src/base/log.ts'
import { openDatabase } from '../../src/database/open.ts'
import { cpuSecondsOf, startProgram } from '../support/program.ts'
import { print, printColumns, quantile } from '../support/table.ts'
import { createLaptop, type Laptop } from './laptop.ts'

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '50' },
    /** Sessions grow for this long. */
    seconds: { type: 'string', default: '600' },
    /** Nothing happens for this long before that. */
    'idle-seconds': { type: 'string', default: '60' },
    /** The last turns may take this long to arrive. */
    'arrive-seconds': { type: 'string', default: '120' },
  },
})
const clients = Number(values.clients)
const growMs = Number(values.seconds) * 1_000
const LIMITS = { p99Ms: 100, idlePercent: 1, rssMiB: 80 }
const TURN_EVERY_MS = 3_000
const READ_EVERY_MS = 50
const READS = [
  '/v1/sessions',
  '/v1/cost',
  '/v1/quality',
  '/v1/cost/trend',
  '/v1/sessions?page=2',
  '/v1/security',
]

const root = mkdtempSync(join(tmpdir(), 'cloud-analytics-laptops-'))
const dataDir = join(root, 'data')
const port = String(await freePort())
let program = await startProgram(dataDir, { PORT: port })
const url = program.url
const { readKey, keys } = await makeAccounts()

async function freePort(): Promise<number> {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const free = listener.port
  listener.stop(true)
  return free
}

/** A key to read with, and one for each member that writes that member's sessions only. */
async function makeAccounts(): Promise<{ readKey: string; keys: string[] }> {
  const database = await openDatabase(
    { databaseUrl: null, dataDir, databasePool: 2 },
    'command',
    createLog('warn', 'pretty'),
  )
  try {
    const { sql } = database
    const { id } = await createOrganization(sql, { slug: 'acme', name: 'Acme', plan: 'cloud_enterprise' })
    const { key: admin } = await createKey(sql, id, { name: 'admin', scopes: ['read', 'write'] })
    const joined_at = new Date().toISOString()
    const records = Array.from({ length: clients }, (_, index) => ({
      type: 'member',
      email: `dev${index}@example.com`,
      display_name: `Dev ${index}`,
      role: 'developer',
      joined_at,
    }))
    const response = await fetch(`${url}/v1/sync`, {
      method: 'POST',
      headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
      body: JSON.stringify({ records }),
    })
    if (response.status !== 200) throw new Error(`members: ${response.status} ${await response.text()}`)
    const made: string[] = []
    for (const { email } of records) {
      made.push((await createKey(sql, id, { name: email, scopes: ['sessions:write'], member: email })).key)
    }
    return { readKey: admin, keys: made }
  } finally {
    await database.close()
  }
}

/** The way of the first laptop to the server: nothing listens there until it is opened. */
function createProxy(proxyPort: number): { url: string; open(): void; close(): void } {
  let server: Bun.Server<undefined> | undefined
  return {
    url: `http://127.0.0.1:${proxyPort}`,
    open() {
      server = Bun.serve({
        hostname: '127.0.0.1',
        port: proxyPort,
        async fetch(request) {
          const { pathname, search } = new URL(request.url)
          const body = request.method === 'GET' ? null : await request.arrayBuffer()
          const { method, headers: sent } = request
          return await fetch(url + pathname + search, { method, headers: sent, body, decompress: false })
        },
      })
    },
    close: () => void server?.stop(true),
  }
}

const headers = { authorization: `Bearer ${readKey}` }
const times: number[] = []
let unanswered = 0
let isReading = true
let isRestarting = false

/** Reads as dashboards do, at a steady pace. What a restart refuses is counted apart. */
async function readSteadily(): Promise<void> {
  for (let nth = 0; isReading; nth += 1) {
    const startedMs = performance.now()
    const during = isRestarting
    const response = await fetch(url + READS[nth % READS.length], { headers }).catch(() => undefined)
    await response?.arrayBuffer()
    if (response?.status === 200) {
      if (!during && !isRestarting) times.push(performance.now() - startedMs)
    } else unanswered += 1
    await Bun.sleep(Math.max(0, READ_EVERY_MS - (performance.now() - startedMs)))
  }
}

async function restart(): Promise<void> {
  isRestarting = true
  await program.stop()
  program = await startProgram(dataDir, { PORT: port })
  isRestarting = false
}

const rssMiBOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024

/** Finds problems in the server's answers about the sessions of a laptop. */
async function problemsOf(laptop: Laptop, ids: ReadonlyMap<string, string>): Promise<string[]> {
  const problems: string[] = []
  for (const { id, email, prompts, messages, output } of laptop.sessions()) {
    const response = await fetch(`${url}/v1/sessions/sess_${id}`, { headers })
    if (response.status !== 200) {
      problems.push(`${id} is not there (${response.status})`)
      continue
    }
    const session = (await response.json()) as {
      turns: number
      tokens: { output: number }
      user_id: string | null
    }
    const turns = prompts + messages
    if (session.turns !== turns) problems.push(`${id} has ${session.turns} of ${turns} turns`)
    if (session.tokens.output !== output)
      problems.push(`${id} has ${session.tokens.output} of ${output} output tokens`)
    if (session.user_id !== ids.get(email)) problems.push(`${id} is ${session.user_id}'s, not ${email}'s`)
  }
  return problems
}

async function memberIds(): Promise<Map<string, string>> {
  const response = await fetch(`${url}/v1/team`, { headers })
  const { members } = (await response.json()) as { members: { id: string; email: string }[] }
  return new Map(members.map(({ id, email }) => [email, id]))
}

const proxy = createProxy(await freePort())
const laptops = keys.map((key, index) => createLaptop(root, index, index === 0 ? proxy.url : url, key))
const [, killed] = laptops
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await Promise.all(laptops.map((laptop) => laptop.kill()))
    await program.stop()
    rmSync(root, { recursive: true, force: true })
    process.exit(1)
  })
}
const failures: string[] = []
try {
  for (const laptop of laptops) {
    laptop.work()
    laptop.start()
  }
  await Bun.sleep(15_000)
  const before = new Map(laptops.map((laptop) => [laptop, cpuSecondsOf(laptop.pid())]))
  const idleMs = performance.now()
  await Bun.sleep(Number(values['idle-seconds']) * 1_000)
  const idleSeconds = (performance.now() - idleMs) / 1_000
  // the offline one tries to connect
  const idle = laptops.slice(1).map((laptop) => cpuSecondsOf(laptop.pid()) - (before.get(laptop) ?? 0))
  const idlePercent = idle.map((seconds) => (100 * seconds) / idleSeconds)

  print(`idle for ${idleSeconds.toFixed(0)} s; sessions grow for ${growMs / 1_000} s`)
  const reading = readSteadily()
  const startedMs = Date.now()
  const events: [number, () => unknown][] = [
    [0.25, restart],
    [0.35, () => killed?.kill()],
    [0.55, () => killed?.start()],
    [0.6, restart],
    [0.75, () => proxy.open()],
  ]
  const happening: Promise<unknown>[] = []
  while (Date.now() - startedMs < growMs) {
    const roundMs = Date.now()
    for (const laptop of laptops) {
      if (!laptop.isResting(roundMs) && Math.random() < 0.9) laptop.work()
      const part = (Date.now() - startedMs) / growMs
      for (let next = events[0]; next !== undefined && next[0] <= part; next = events[0]) {
        events.shift()
        happening.push(Promise.resolve(next[1]()))
      }
      await Bun.sleep(TURN_EVERY_MS / laptops.length)
    }
  }
  await Promise.all(happening)
  const grownMs = Date.now()
  const ids = await memberIds()
  let problems = ['not asked yet']
  while (problems.length > 0 && Date.now() - grownMs < Number(values['arrive-seconds']) * 1_000) {
    await Bun.sleep(2_000)
    print(
      `${problems.length} problems ${Math.round((Date.now() - grownMs) / 1_000)} s after the last turn: ${problems[0]}`,
    )
    problems = (await Promise.all(laptops.map((laptop) => problemsOf(laptop, ids)))).flat()
  }
  const arrivedSeconds = (Date.now() - grownMs) / 1_000
  isReading = false
  await reading
  failures.push(...problems)
  const listed = (await (await fetch(`${url}/v1/sessions`, { headers })).json()) as {
    pagination: { total: number }
  }
  const sessions = laptops.flatMap((laptop) => laptop.sessions())
  if (listed.pagination.total !== sessions.length)
    failures.push(`${listed.pagination.total} sessions are stored, ${sessions.length} were written`)

  const rss = laptops.map((laptop) => rssMiBOf(laptop.pid()))
  const cpu = laptops.map((laptop) => cpuSecondsOf(laptop.pid()))
  const p99Ms = quantile(times, 0.99)
  const turns = sessions.reduce((sum, { prompts, messages }) => sum + prompts + messages, 0)
  print(
    `${clients} clients, ${sessions.length} sessions, ${turns} turns in ${growMs / 1_000} s (load average ${loadavg()[0]?.toFixed(2)})`,
  )
  printColumns([
    ['', 'median', 'p99', 'most'],
    ['dashboards, ms', quantile(times, 0.5).toFixed(1), p99Ms.toFixed(1), Math.max(...times).toFixed(0)],
    ...(
      [
        ['CPU of an idle watch, %', idlePercent, 2],
        ['memory of watch, MiB', rss, 0],
        ['CPU of watch and its syncs in all, s', cpu.slice(2), 1],
      ] as const
    ).map(([title, all, digits]) => [
      title,
      quantile(all, 0.5).toFixed(digits),
      quantile(all, 0.99).toFixed(digits),
      Math.max(...all).toFixed(digits),
    ]),
  ])
  print(
    `${times.length} reads answered, ${unanswered} while the server restarted; all turns there ${arrivedSeconds.toFixed(0)} s after the last was written`,
  )
  if (p99Ms > LIMITS.p99Ms) failures.push(`dashboards: p99 is ${p99Ms.toFixed(0)} ms`)
  if (quantile(idlePercent, 0.5) > LIMITS.idlePercent) failures.push('an idle watch takes too much CPU')
  if (Math.max(...rss) > LIMITS.rssMiB) failures.push('watch takes too much memory')
  const codes = await Promise.all(laptops.map((laptop) => laptop.stop()))
  if (codes.some((code) => code !== 0)) failures.push(`watch ended with ${codes.join(' ')}`)
} finally {
  isReading = false
  await Promise.all(laptops.map((laptop) => laptop.kill()))
  proxy.close()
  await program.stop()
  rmSync(root, { recursive: true, force: true })
}
for (const failure of failures.slice(0, 50)) print(`FAILED ${failure}`)
process.exit(failures.length > 0 ? 1 : 0)
