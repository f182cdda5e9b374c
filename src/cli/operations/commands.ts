import { type Command, Option } from 'commander'
import type { Actions } from '../command/context.ts'

/** `backup`, `restore`, `migrate`, `doctor`, `reprice`, `health` and `version`. */
export function addOperations(program: Command, action: Actions): void {
  addBackup(program, action)
  program
    .command('migrate')
    .description('bring the database to the schema of this program (serve and all commands do it too)')
    .option(
      '--citus',
      'distribute the tables by organization over the nodes of a Citus cluster; stop the servers first',
    )
    .action(
      action(async (context, { citus }: { citus?: true }) => {
        const { migrateDatabase } = await import('./migrate.ts')
        await migrateDatabase(context, citus === true)
      }),
    )
  program
    .command('doctor')
    .description('check settings, database, rollups, prices, webhooks, worker, server, backups and disk')
    .option('--repair', 'first write the rollups anew from the sessions')
    .addOption(new Option('--rebuild-rollups', 'the former name of --repair').hideHelp())
    .action(
      action(async (context, { repair, rebuildRollups }: { repair?: true; rebuildRollups?: true }) => {
        const { doctor } = await import('./doctor.ts')
        await doctor(context, repair === true || rebuildRollups === true)
      }),
    )
  program
    .command('reprice')
    .description('price what had no known price when it was written, by the prices of now')
    .option('--org <slug>', 'slug of the organization (all)')
    .addHelpText(
      'after',
      `
What has a cost keeps it. Prices are those of this program and of MODEL_PRICES; doctor names the models without one.

Example:
  cloud-analytics reprice --org acme --model-prices prices.json`,
    )
    .action(
      action(async (context, { org }: { org?: string }) => {
        const { reprice } = await import('./reprice.ts')
        await reprice(context, org)
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
    .description('print version, commit, schema and PostgreSQL of this build')
    .action(async function (this: Command) {
      const { printVersion } = await import('./version.ts')
      await printVersion(this.optsWithGlobals<{ json?: true }>().json === true)
    })
}

function addBackup(program: Command, action: Actions): void {
  const backup = program
    .command('backup <file>')
    .usage('[options] <file> | verify <file>')
    .description('write everything into one file, also while serve runs')
    .option(
      '--with-secret-key',
      'have the key of webhook secrets inside; the file is then as secret as the key',
    )
    .addHelpText(
      'after',
      `
The file has the state of one instant, and its name only when it is complete; an older file of that name is replaced.

Examples:
  cloud-analytics backup /backups/monday.zst
  cloud-analytics backup verify /backups/monday.zst`,
    )
    .action(
      action(async (context, { withSecretKey }: { withSecretKey?: true }, [file]) => {
        const { backup } = await import('./backup.ts')
        await backup(context, file, withSecretKey === true)
      }),
    )
  backup
    .command('verify <file>')
    .description('restore a backup into a scratch database and check that as doctor does')
    .action(
      action(async (context, _options, [file]) => {
        const { verify } = await import('./restore.ts')
        await verify(context, file)
      }),
    )
  program
    .command('restore <file>')
    .description('take a backup into an empty database, or a data directory without one')
    .option('--trust', 'also one that is not signed by the secret.key or SECRET_KEY here; lists its API keys')
    .addHelpText(
      'after',
      '\nExample:\n  cloud-analytics restore /backups/monday.zst --data-dir /var/lib/cloud-analytics',
    )
    .action(
      action(async (context, { trust }: { trust?: true }, [file]) => {
        const { restore } = await import('./restore.ts')
        await restore(context, file, trust === true)
      }),
    )
}
