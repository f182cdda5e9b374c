import { availableParallelism } from 'node:os'
import { packForHost } from '../src/build/pack.ts'
import { packDashboard } from '../src/build/pack-dashboard.ts'
import { packFiles } from '../src/build/pack-files.ts'
import { SHARED_SERVER, startTestServer } from './support/postgres.ts'

// `bun test` in several processes, with one PostgreSQL for all of them. Arguments are passed on: folders, files, options.

/** One more than processors, as some tests wait for times. Four at most: the server has 64 connections for all of them. */
const PROCESSES = Math.min(availableParallelism() + 1, 4)

await packForHost()
packFiles()
await packDashboard()
const { server, stop } = await startTestServer()
const tests = Bun.spawn({
  cmd: [
    process.execPath,
    'test',
    `--parallel=${PROCESSES}`,
    // loading all modules again for each file takes 0.2 s a file
    '--no-isolate',
    '--timeout=30000',
    ...process.argv.slice(2),
  ],
  env: { ...process.env, [SHARED_SERVER]: JSON.stringify(server) },
  stdio: ['inherit', 'inherit', 'inherit'],
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))
process.exitCode = await tests.exited
await stop()
