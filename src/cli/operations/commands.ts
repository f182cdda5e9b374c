import type { Command } from 'commander'
import { type Actions, lazy } from '../command/context.ts'
import { example } from '../command/help.ts'

/** `backup`, `restore`, `migrate`, `doctor`, `reprice`, `retention`, `health` and `version`. */
export function addOperations(program: Command, action: Actions): void {
  addBackup(program, action)
  program
    .command('migrate')
    .description('bring the database to the schema of this program (serve and all commands do it too)')
    .option(
      '--citus',
      'distribute the tables by organization over the nodes of a Citus cluster; stop the servers first',
    )
    .action(action(lazy(async () => (await import('./migrate.ts')).migrateDatabase)))
  program
    .command('doctor')
    .description('check settings, database, rollups, prices, webhooks, worker, server, backups and disk')
    .option('--repair', 'first write the rollups anew from the sessions')
    .action(action(lazy(async () => (await import('./doctor.ts')).doctor)))
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
    .action(action(lazy(async () => (await import('./reprice.ts')).reprice)))
  program
    .command('retention')
    .description('RETENTION_* that are shorter than before')
    .command('confirm')
    .description('have them hold at once, and not a day after they were set')
    .option('--yes', 'really; without it, only say what would be deleted')
    .action(action(lazy(async () => (await import('./retention.ts')).confirmRetention)))
  program
    .command('health')
    .description('ask a running server whether it is well; for container probes')
    .option('--url <url>', "the server's address (that on DATA_DIR, or http://HOST:PORT)")
    .addHelpText(...example('health --url http://127.0.0.1:8080'))
    .action(action(lazy(async () => (await import('./health.ts')).health)))
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
    .action(action(lazy(async () => (await import('./backup.ts')).backup)))
  backup
    .command('verify <file>')
    .description('restore a backup into a scratch database and check that as doctor does')
    .action(action(lazy(async () => (await import('./restore.ts')).verify)))
  program
    .command('restore <file>')
    .description('take a backup into an empty database, or a data directory without one')
    .option('--trust', 'also one that is not signed by the secret.key or SECRET_KEY here; lists its API keys')
    .addHelpText(...example('restore /backups/monday.zst --data-dir /var/lib/cloud-analytics'))
    .action(action(lazy(async () => (await import('./restore.ts')).restore)))
}
