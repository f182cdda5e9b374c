import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey, revokeKey } from '../../src/accounts/keys/queries.ts'
import { addBacklog, addEndpoint } from '../backlog/rows.ts'
import type { Case } from '../reads/case.ts'
import { CASES } from '../reads/cases.ts'
import { type BenchOptions, withBenchData } from '../support/data.ts'
import { EXECUTABLE, type Program, startProgram } from '../support/program.ts'

const DELIVERIES = 100_000
const POLL_MS = 50

/** Every answer is made anew. */
const SETTINGS = { CACHE_BYTES: '0' }

/** The benchmarks' data with deliveries of an endpoint that is disabled, so that they wait. */
export interface Prepared {
  key: string
  /** A folder that is removed at the end. */
  scratch: string
  /** Paths of the larger organization's reads. */
  reads: readonly string[]
  /** These, and those of webhooks. */
  paths: readonly string[]
}

export async function withPrepared(
  options: BenchOptions,
  use: (prepared: Prepared) => Promise<void>,
): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'cloud-analytics-bench-backup-'))
  const { org, key, keyId, endpoint } = await withBenchData(options, async (sql, [, big]) => {
    const { id, key } = await createKey(sql, big.id, { name: 'benchmark', scopes: ['read', 'webhooks'] })
    const endpoint = await addEndpoint(sql, big.id, 'https://example.com/hook', false)
    await addBacklog(sql, big.id, endpoint, DELIVERIES)
    return { org: big, key, keyId: id, endpoint }
  })
  const pathsOf = (cases: readonly Case[]) =>
    cases.map(({ path }) => path(org)).filter((path) => path.startsWith('/v1'))
  // reads of all sessions are left out, since they alone would decide a p99
  const reads = pathsOf(CASES.filter(({ limit }) => limit !== null))
  const paths = [...pathsOf(CASES), '/v1/webhooks', `/v1/webhooks/${endpoint}/deliveries?per_page=100`]
  try {
    await use({ key, scratch, reads, paths })
  } finally {
    rmSync(scratch, { recursive: true, force: true })
    await withBenchData(options, async (sql) => {
      await revokeKey(sql, keyId)
      await sql`
        with deliveries as (
          delete from webhook_deliveries d where d.org_id = ${org.id} and d.endpoint_id = ${endpoint} returning d.event_id
        ),
        events as (delete from webhook_events e using deliveries d where e.org_id = ${org.id} and e.id = d.event_id),
        queue as (delete from webhook_queue q where q.org_id = ${org.id} and q.endpoint_id = ${endpoint}),
        counts as (delete from webhook_delivery_counts c where c.org_id = ${org.id} and c.endpoint_id = ${endpoint})
        delete from webhook_endpoints e where e.org_id = ${org.id} and e.id = ${endpoint}`
    })
  }
}

export async function withProgram<Result>(
  dataDir: string,
  use: (program: Program) => Promise<Result>,
): Promise<Result> {
  const program = await startProgram(dataDir, SETTINGS)
  return await use(program).finally(() => program.stop())
}

/** Runs a command of the executable with --json: its result, seconds, and the most memory that it had, in MiB. */
export async function command(args: readonly string[], dataDir: string) {
  const startMs = performance.now()
  const child = Bun.spawn([EXECUTABLE, ...args, '--json'], {
    env: { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...SETTINGS },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let peakMiB = 0
  const timer = setInterval(() => {
    peakMiB = Math.max(peakMiB, memoryPeak(child.pid))
  }, POLL_MS)
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  clearInterval(timer)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`)
  return { seconds: (performance.now() - startMs) / 1_000, peakMiB, result: JSON.parse(stdout) }
}

function memoryPeak(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024
  } catch {
    return 0
  }
}
