import { type Command, Option } from 'commander'
import { VERSION } from '../../version.ts'
import type { Actions } from '../command/context.ts'
import { printResult } from '../command/output.ts'

/** `migrate`, `doctor`, `health` and `version`. */
export function addOperations(program: Command, action: Actions): void {
  program
    .command('migrate')
    .description('bring the database to the schema of this program (serve and all commands do it too)')
    .action(
      action(async (context) => {
        const { migrateDatabase } = await import('./migrate.ts')
        await migrateDatabase(context)
      }),
    )
  program
    .command('doctor')
    .description('check settings, database, rollups, worker and disk')
    .option('--repair', 'first write the rollups anew from the sessions')
    .addOption(new Option('--rebuild-rollups', 'the former name of --repair').hideHelp())
    .action(
      action(async (context, { repair, rebuildRollups }: { repair?: true; rebuildRollups?: true }) => {
        const { doctor } = await import('./doctor.ts')
        await doctor(context, repair === true || rebuildRollups === true)
      }),
    )
  program
    .command('health')
    .description('ask a running server whether it is well; for container probes')
    .option('--url <url>', "the server's address (that on DATA_DIR, or http://HOST:PORT)")
    .addHelpText('after', '\nExample:\n  cloud-analytics health --url http://127.0.0.1:8080')
    .action(
      action(async (context, { url }: { url?: string }) => {
        const { health } = await import('./health.ts')
        await health(context, url)
      }),
    )
  program
    .command('version')
    .description('print the version')
    .action(async function (this: Command) {
      await printResult(this.optsWithGlobals<{ json?: true }>().json === true, { version: VERSION }, VERSION)
    })
}
