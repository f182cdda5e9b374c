import { EXEC_POSTGRES, execPostgres } from './db/embedded/exec-postgres.ts'

// The embedded PostgreSQL is started through a copy of this program; that must come before all else.
if (process.env[EXEC_POSTGRES] !== undefined) execPostgres()

if (Bun.isMainThread) {
  const { runCommandLine } = await import('./cli/program.ts')
  // Written here and not where it is used: only from the entry point is the URL right in source and in the executable.
  const spawnWorker = () => new Worker(new URL('./worker/worker.ts', import.meta.url))
  process.exit(await runCommandLine(process.argv.slice(2), { env: process.env, spawnWorker }))
}
