// The entry point: starts the embedded PostgreSQL's process, the budget hook, or the command line with its threads.

import { EXEC_POSTGRES, execPostgres } from './database/embedded/exec-postgres.ts'

// This process is then the copy of the program that becomes the embedded PostgreSQL, and does nothing else.
if (process.env[EXEC_POSTGRES] !== undefined) execPostgres()

const args = process.argv.slice(2)
if (Bun.isMainThread && args[0] === 'hook' && args[1] === 'budget') {
  // before each prompt of an agent, which takes the exit code 2 for a refusal: neither flags nor settings are looked at
  const { runBudgetHook } = await import('./cli/hook/budget.ts')
  await runBudgetHook(process.env, args[3])
  process.exit(0)
}

if (Bun.isMainThread) {
  const { runCommandLine } = await import('./cli/program.ts')
  // Here, since only in the entry point these URLs are valid both from source and in the executable.
  const spawnWorker = () => new Worker(new URL('./server/deliveries/worker.ts', import.meta.url))
  const spawnIntake = () => new Worker(new URL('./server/intake/worker.ts', import.meta.url))
  process.exit(await runCommandLine(args, { env: process.env, spawnWorker, spawnIntake }))
}
