import { availableParallelism } from 'node:os'
import { hostTarget, pack } from '../src/build/pack.ts'
import { packFiles } from '../src/build/pack-files.ts'
import { SHARED_SERVER, startTestServer } from './support/postgres.ts'

// `bun test` in several processes, with one PostgreSQL for all of them. Arguments are passed on: folders, files, options.

/** Two at least, as many tests wait. More than four would make what they measure depend on each other. */
const PROCESSES = Math.min(Math.max(availableParallelism(), 2), 4)

await pack(hostTarget())
packFiles()
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
