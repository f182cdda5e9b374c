import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { packForHost } from '../src/build/pack.ts'
import { packFiles } from '../src/build/pack-files.ts'
import { DATA_TEMPLATE } from './support/data-folder.ts'
import { SHARED_SERVER, startTestServer } from './support/postgres.ts'

// `bun test` in several processes, with one PostgreSQL for all of them. Arguments are passed on: folders, files, options.
// `--quick` runs the quick files, `--slow` all others.

/** Two more than processors, as many tests wait for times. Four at most: the server has 128 connections for all of them. */
const PROCESSES = Math.min(availableParallelism() + 2, 4)

/**
 * Names the time of each file: the slowest start first, so that all processes end together. `--update-timings` writes it
 * anew; a file that it does not name runs too.
 */
const TIMINGS = 'test/timings.json'

/** Files are slow that start another process: the program, a browser, another program or a PostgreSQL. */
const STARTS_PROCESS = /support\/(cli|data-folder)\.ts'|\/browser\.ts'|Bun\.spawn|startEmbedded/
/** So are those that took longer when TIMINGS was written. */
const QUICK_MS = 12_000
/**
 * The suites, with the minutes that each takes on a busy machine: where less are left it begins after midnight UTC, as
 * tests compare figures of today.
 */
const SUITES = new Map([
  ['--quick', 3],
  ['--slow', 8],
])
const DAY_MS = 86_400_000

/** A file system in memory, where the machine has one. */
const MEMORY = '/dev/shm'
/** Several times the space that the tests' databases and files take. */
const FREE_BYTES = 8 * 2 ** 30

const minutes = Math.max(...process.argv.map((argument) => SUITES.get(argument) ?? 0))
const leftMs = DAY_MS - (Date.now() % DAY_MS)
if (leftMs < minutes * 60_000) {
  process.stderr.write(`the tests begin after midnight UTC, in ${Math.ceil(leftMs / 1_000)} s\n`)
  await Bun.sleep(leftMs)
}

const inMemory = memoryFolder()
if (inMemory) process.env.TMPDIR = inMemory

await packForHost()
await packFiles()
const { server, stop } = await startTestServer()
const template = join(tmpdir(), `ca-tests-data-${process.pid}`)
const tests = Bun.spawn({
  cmd: [
    process.execPath,
    'test',
    `--parallel=${PROCESSES}`,
    // loading all modules again for each file takes 0.2 s a file
    '--no-isolate',
    `--timings=${TIMINGS}`,
    // only what hangs takes so long: starting a process takes 50 times as long on some machines
    '--timeout=90000',
    ...process.argv.slice(2).flatMap((argument) => (SUITES.has(argument) ? filesOf(argument) : argument)),
  ],
  env: { ...process.env, [SHARED_SERVER]: JSON.stringify(server), [DATA_TEMPLATE]: template },
  stdio: ['inherit', 'inherit', 'inherit'],
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))
process.exitCode = await tests.exited
await stop()
rmSync(template, { recursive: true, force: true })
if (inMemory) rmSync(inMemory, { recursive: true, force: true })

/** The files of a suite, as paths that `bun test` takes for no part of another's name. */
function filesOf(suite: string): string[] {
  const { files } = JSON.parse(readFileSync(TIMINGS, 'utf8')) as { files: Record<string, number> }
  const isQuick = (path: string) =>
    !STARTS_PROCESS.test(readFileSync(path, 'utf8')) && (files[path] ?? 0) <= QUICK_MS
  return [...new Bun.Glob('{test,clients}/**/*.test.{ts,js}').scanSync()]
    .filter((path) => !path.includes('node_modules') && isQuick(path) === (suite === '--quick'))
    .map((path) => `./${path}`)
}

/**
 * A folder in memory for all that the tests write, where there is room: starting a database there takes a third of the
 * time. Folders of runs that were killed are removed.
 */
function memoryFolder(): string | undefined {
  if (!existsSync(MEMORY)) return undefined
  for (const name of readdirSync(MEMORY)) {
    const pid = /^ca-tests-(\d+)$/.exec(name)?.[1]
    if (!pid || existsSync(`/proc/${pid}`)) continue
    try {
      rmSync(join(MEMORY, name), { recursive: true, force: true })
    } catch {
      // another user's
    }
  }
  const { bavail, bsize } = statfsSync(MEMORY)
  if (bavail * bsize < FREE_BYTES || freemem() < FREE_BYTES) return undefined
  const folder = join(MEMORY, `ca-tests-${process.pid}`)
  mkdirSync(folder, { mode: 0o755 })
  return folder
}
