import { EXEC_POSTGRES, execPostgres } from './db/embedded/exec-postgres.ts'

// The embedded PostgreSQL is started by a copy of this program, which loads nothing else.
if (process.env[EXEC_POSTGRES] !== undefined) execPostgres()

if (Bun.isMainThread) {
  const { runCommandLine } = await import('./cli/program.ts')
  // Written here since only the entry point's URL is right both from source and in the executable.
  const spawnWorker = () => new Worker(new URL('./worker/worker.ts', import.meta.url))
  process.exit(await runCommandLine(process.argv.slice(2), { env: process.env, spawnWorker }))
}
