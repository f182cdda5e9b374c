import type { Command } from 'commander'
import { VERSION } from '../../version.ts'
import { contextOf, type Surroundings } from '../command/context.ts'
import { answer } from '../command/output.ts'

/** `migrate`, `doctor`, `health` and `version`. */
export function addOperations(program: Command, surroundings: Surroundings): void {
  program
    .command('migrate')
    .description('bring the database to the schema of this program (serve and all commands do it too)')
    .action(async function (this: Command) {
      const { migrateDatabase } = await import('./migrate.ts')
      await migrateDatabase(contextOf(this, surroundings))
    })
  program
    .command('doctor')
    .description('check settings, database, rollups, worker and disk')
    .option('--rebuild-rollups', 'first write the rollups anew from the sessions')
    .action(async function (this: Command) {
      const { doctor } = await import('./doctor.ts')
      await doctor(
        contextOf(this, surroundings),
        this.opts<{ rebuildRollups?: true }>().rebuildRollups === true,
      )
    })
  program
    .command('health')
    .description('ask a running server whether it is well; for container probes')
    .option('--url <url>', "the server's address (http://HOST:PORT of the settings)")
    .addHelpText('after', '\nExample:\n  cloud-analytics health --url http://127.0.0.1:8080')
    .action(async function (this: Command) {
      const { health } = await import('./health.ts')
      await health(contextOf(this, surroundings), this.opts<{ url?: string }>().url)
    })
  program
    .command('version')
    .description('print the version')
    .action(async function (this: Command) {
      await answer(this.optsWithGlobals<{ json?: true }>().json === true, { version: VERSION }, VERSION)
    })
}
