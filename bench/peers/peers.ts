// The built executable beside what others use, on the same data: `bun run build && bun bench/peers/peers.ts`. Writes
// bench/RESULTS.md and docs/benchmarks.svg.

import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { createKey, revokeKey } from '../../src/accounts/keys/queries.ts'
import { addDays, daysBetween } from '../../src/base/dates.ts'
import { createLog } from '../../src/base/log.ts'
import { openDatabase } from '../../src/database/open.ts'
import { sessionList } from '../../src/features/sessions/list-queries.ts'
import { type BenchOrg, withBenchData } from '../support/data.ts'
import { startProgram } from '../support/program.ts'
import { median, print, printColumns } from '../support/table.ts'
import { COUNT_SQL, PAGE_SQL, type PeerOptions } from './list.ts'
import { GENERATOR, load } from './load.ts'
import { writeResults } from './results.ts'

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '10000,1000000' },
    risk: { type: 'string', default: '1000,50000' },
    commits: { type: 'string', default: '10000,50000' },
    'data-dir': { type: 'string', default: resolve(import.meta.dir, '../../dist/bench') },
    rounds: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '1' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '32' },
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
})
const [small = 0, big = 0] = values.sessions.split(',').map(Number)
const [smallRisk = 0, bigRisk = 0] = values.risk.split(',').map(Number)
const [smallCommits = 0, bigCommits = 0] = values.commits.split(',').map(Number)
const rounds = Number(values.rounds)
/** Rounds that are not counted. */
const warmUp = Number(values['warm-up'])
const seconds = Number(values.seconds)
const connections = Number(values.connections)
/** Connections of each peer to PostgreSQL, and of pgbench: those of the executable's pool by default. */
const POOL = 10
const PGBENCH_CLIENTS = 8
/** More than one round can ask: no filter is asked twice. */
const PATHS = Math.min(20_000, Math.ceil(20_000 * seconds))

/** One way to get a page. Asked once a round; what it gives is requests a second. */
interface Contender {
  name: string
  run: (round: number) => Promise<{ perSecond: number; p50Ms: number }>
}

const log = createLog('warn', 'pretty')
const sizes = [
  { sessions: small, risk: smallRisk, commits: smallCommits },
  { sessions: big, risk: bigRisk, commits: bigCommits },
] as const
const dataDir = resolve(values['data-dir'])
const { org, key, keyId, range } = await withBenchData(
  { dataDir, sizes: [...sizes] },
  async (sql, [, own]) => {
    const made = await createKey(sql, own.id, { name: 'peers', scopes: ['read'] })
    const [row] = await sql<{ first: string; last: string }[]>`
    select min(r.bucket) as first, max(r.bucket) as last
    from session_rollups r
    where r.org_id = ${own.id} and r.grain = 'day' and r.project = ''`
    if (row === undefined) throw new Error('no sessions')
    return { org: own, key: made.key, keyId: made.id, range: row }
  },
)

/** Ranges of days, none twice in all rounds: for what nobody has asked before. */
function rangesOf(round: number): { date_from: string; date_to: string }[] {
  const days = daysBetween(range.first, range.last)
  return Array.from({ length: PATHS }, (_item, index) => {
    const nth = (round * PATHS + index) * 7_919
    const from = nth % days
    const length = 1 + (Math.floor(nth / days) % (days - from))
    return { date_from: addDays(range.first, from), date_to: addDays(range.first, from + length) }
  })
}

const program = await startProgram(dataDir)
const database = await openDatabase({ databaseUrl: null, dataDir, databasePool: 1 }, 'command', log)
if (!('socketDir' in database.target)) throw new Error('the benchmark needs the embedded PostgreSQL')
const { socketDir, database: name } = database.target
const headers = { authorization: `Bearer ${key}` }
const portOf = (url: string) => Number(new URL(url).port)
const children: Bun.Subprocess[] = []

async function startPeer(command: string[], input?: Uint8Array): Promise<number> {
  const child = Bun.spawn(command, { stdin: input ?? 'ignore', stdout: 'pipe', stderr: 'inherit' })
  children.push(child)
  for await (const chunk of child.stdout) return Number(new TextDecoder().decode(chunk))
  throw new Error(`${command.join(' ')} did not start`)
}

const peerOptions = (withTotal: boolean): string =>
  JSON.stringify({
    socketDir,
    database: name,
    orgId: org.id,
    pool: POOL,
    withTotal,
    pageSql: PAGE_SQL,
    countSql: COUNT_SQL,
  } satisfies PeerOptions)

async function http(port: number, paths: readonly string[], auth = true) {
  return await load({ port, paths, headers: auth ? headers : {}, connections, seconds })
}

const query = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString()
const cold =
  (path: string, extra: Record<string, string> = {}): Contender['run'] =>
  async (round) =>
    await http(
      portOf(program.url),
      rangesOf(round).map((days) => `${path}?${query({ ...extra, ...days })}`),
    )
const hot =
  (path: string): Contender['run'] =>
  async () =>
    await http(portOf(program.url), [path])

/** The statement of a first page as the executable sends it, its parameters written into it. */
async function statementOf(own: BenchOrg): Promise<string> {
  let text = ''
  const sql = postgres({
    path: `${socketDir}/.s.PGSQL.5432`,
    user: 'postgres',
    database: name,
    max: 1,
    debug: (_connection, statement, parameters) => {
      text = statement.replace(/\$(\d+)/g, (_match, nth: string) => {
        const value: unknown = parameters[Number(nth) - 1]
        return typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`
      })
    },
  })
  await sessionList.list.page(sql, own.id, { page: 1, per_page: 50, sort: 'created_at', order: 'desc' })
  await sql.end()
  return text
}

async function pgbench(statement: string): Promise<{ perSecond: number; p50Ms: number }> {
  const file = join(dataDir, 'pgbench.sql')
  // pgbench takes `:MI` for a variable; on one line a comment would end the statement
  const script = statement
    .replace(/--.*$/gm, '')
    .replaceAll('HH24:MI:SS', "HH24'||chr(58)||'MI'||chr(58)||'SS")
  await Bun.write(file, `${script.replace(/\s+/g, ' ').trim()};\n`)
  const child = Bun.spawn(
    [
      'pgbench',
      ...[
        '-n',
        '-M',
        'prepared',
        '-c',
        String(PGBENCH_CLIENTS),
        '-j',
        '2',
        '-T',
        String(Math.max(1, Math.round(seconds))),
      ],
      ...['-h', socketDir, '-U', 'postgres', '-f', file, name],
    ],
    {
      stdout: 'pipe',
      stderr: 'pipe',
      env: { ...process.env, PGOPTIONS: '-c plan_cache_mode=force_generic_plan' },
    },
  )
  const output = await new Response(child.stdout).text()
  const tps = /tps = ([\d.]+) \(without/.exec(output)?.[1]
  if (tps === undefined)
    throw new Error(`pgbench gave no result: ${output}${await new Response(child.stderr).text()}`)
  return { perSecond: Number(tps), p50Ms: (PGBENCH_CLIENTS * 1_000) / Number(tps) }
}

const LIST = '/v1/sessions'
/** The reads with the longest responses, 26 and 77 KB; the list has 8 KB. */
const QUALITY = '/v1/quality'
const TREND = '/v1/cost/trend'
const BY_MEMBER = '/v1/cost/breakdown?by=member'
const READS = [LIST, QUALITY, '/v1/cost?group_by=week', TREND, '/v1/security', BY_MEMBER]
const HOT = `hot `
const COLD = `cold `

async function contenders(): Promise<Contender[]> {
  const bare = async (path: string) => {
    const response = await fetch(`${program.url}${path}`, { headers })
    return await startPeer([process.execPath, join(import.meta.dir, 'bare.ts')], await response.bytes())
  }
  const bareList = await bare(LIST)
  const bareQuality = await bare(QUALITY)
  const bareTrend = await bare(TREND)
  const peer = (file: string, total: boolean) =>
    startPeer([process.execPath, join(import.meta.dir, file), peerOptions(total)])
  const peers = [
    ['Fastify + pg, no total', await peer('fastify.ts', false)],
    ['Fastify + pg, count(*)', await peer('fastify.ts', true)],
    ['Hono + postgres.js, no total', await peer('hono.ts', false)],
    ['Hono + postgres.js, count(*)', await peer('hono.ts', true)],
  ] as const
  const statement = await statementOf(org)
  return [
    { name: 'bare server, the bytes of a list', run: () => http(bareList, ['/'], false) },
    { name: 'bare server, those of quality', run: () => http(bareQuality, ['/'], false) },
    { name: 'bare server, those of a trend', run: () => http(bareTrend, ['/'], false) },
    ...READS.map((path) => ({ name: `${HOT}${path}`, run: hot(path) })),
    ...(Bun.which('pgbench') === null
      ? []
      : [{ name: 'pgbench, the same statement', run: () => pgbench(statement) }]),
    ...READS.map((path) => {
      const [route = '', extra] = path.split('?')
      return { name: `${COLD}${path}`, run: cold(route, Object.fromEntries(new URLSearchParams(extra))) }
    }),
    ...peers.map(([title, port]) => ({
      name: title,
      run: (round: number) =>
        http(
          port,
          rangesOf(round).map((days) => `/sessions?${query(days)}`),
          false,
        ),
    })),
  ]
}

const results = new Map<string, { perSecond: number[]; p50Ms: number[] }>()
try {
  const all = (await contenders()).filter((contender) => contender.name.includes(values.only))
  for (let round = 1 - warmUp; round <= rounds; round += 1) {
    // each begins from the other end
    for (const { name: title, run } of round % 2 === 0 ? all : all.toReversed()) {
      const { perSecond, p50Ms } = await run(round)
      if (round < 1) continue
      const known = results.get(title) ?? { perSecond: [], p50Ms: [] }
      known.perSecond.push(perSecond)
      known.p50Ms.push(p50Ms)
      results.set(title, known)
    }
  }
  const rows = all.map(({ name: title }) => {
    const known = results.get(title) ?? { perSecond: [], p50Ms: [] }
    return { title, perSecond: median(known.perSecond), p50Ms: median(known.p50Ms), raw: known.perSecond }
  })
  print(
    `${org.name}, ${connections} connections, ${rounds} rounds of ${seconds} s, by ${GENERATOR}, ${cpus()[0]?.model}`,
  )
  printColumns([
    ['', 'requests/s', 'p50 ms', 'rounds'],
    ...rows.map(({ title, perSecond, p50Ms, raw }) => [
      title,
      perSecond.toFixed(0),
      p50Ms.toFixed(2),
      raw.map((value) => value.toFixed(0)).join(' '),
    ]),
  ])
  if (values.write)
    await writeResults(rows, { org: org.name, connections, rounds, seconds, generator: GENERATOR })
} finally {
  for (const child of children) child.kill()
  await database.close()
  await program.stop()
  await withBenchData({ dataDir, sizes: [...sizes] }, async (sql) => {
    await revokeKey(sql, keyId)
  })
}
