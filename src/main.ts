import { EXEC_POSTGRES, execPostgres } from './db/embedded/exec-postgres.ts'

// A copy of this program executes the embedded PostgreSQL; nothing else may run in it.
if (process.env[EXEC_POSTGRES] !== undefined) execPostgres()

if (Bun.isMainThread) {
  const { runCommandLine } = await import('./cli/program.ts')
  // Only in the entry point is this URL valid both from source and in the executable.
  const spawnWorker = () => new Worker(new URL('./worker/worker.ts', import.meta.url))
  process.exit(await runCommandLine(process.argv.slice(2), { env: process.env, spawnWorker }))
}
