import type { CliCommand } from '../command/cli-command.ts'

/** `backup`, `restore`, `migrate`, `doctor`, `reprice`, `retention`, `health` and `version`. */
export function addOperations(program: CliCommand): void {
  addBackup(program)
  program
    .add('migrate', 'bring the database to the schema of this program (serve and all commands do it too)')
    .option(
      '--citus',
      'distribute the tables by organization over the nodes of a Citus cluster; stop the servers first',
    )
    .load(async () => (await import('./migrate.ts')).migrateDatabase)
  program
    .add('doctor', 'check settings, database, rollups, prices, webhooks, worker, server, backups and disk')
    .option('--repair', 'first write the rollups anew from the sessions')
    .load(async () => (await import('./doctor.ts')).doctor)
  program
    .add('reprice', 'price what had no known price when it was written, by the prices of now')
    .option('--org <slug>', 'slug of the organization (all)')
    .notes(
      `What has a cost keeps it. Prices are those of this program and of MODEL_PRICES; doctor names the models without one.`,
    )
    .examples('reprice --org acme --model-prices prices.json')
    .load(async () => (await import('./reprice.ts')).reprice)
  program
    .add('retention', 'RETENTION_* that are shorter than before')
    .add('confirm', 'have them hold at once, and not a day after they were set')
    .option('--yes', 'really; without it, only say what would be deleted')
    .examples('retention confirm --yes')
    .load(async () => (await import('./confirm-retention.ts')).confirmRetention)
  program
    .add('health', 'ask a running server whether it is well; for container probes')
    .option('--url <url>', "the server's address (that on DATA_DIR, or http://HOST:PORT)")
    .examples('health --url http://127.0.0.1:8080')
    .load(async () => (await import('./health.ts')).health)
  const version = program.add('version', 'print version, commit, schema and PostgreSQL of this build')
  version.action(async () => {
    const { printVersion } = await import('./version.ts')
    await printVersion(version.optsWithGlobals<{ json?: true }>().json === true)
  })
}

function addBackup(program: CliCommand): void {
  const backup = program
    .add('backup <file>', 'write everything into one file, also while serve runs')
    .usage('[options] <file> | verify <file>')
    .option(
      '--with-secret-key',
      'have the key of webhook secrets inside; the file is then as secret as the key',
    )
    .notes(
      `The file has the state of one instant, and its name only when it is complete; an older file of that name is replaced.`,
    )
    .examples('backup /backups/monday.zst', 'backup verify /backups/monday.zst')
    .load(async () => (await import('./backup.ts')).backup)
  backup
    .add('verify <file>', 'restore a backup into a scratch database and check that as doctor does')
    .examples('backup verify /backups/monday.zst')
    .load(async () => (await import('./restore.ts')).verify)
  program
    .add('restore <file>', 'take a backup into an empty database, or a data directory without one')
    .option(
      '--trust',
      'also one that is not signed by the secret.key or SECRET_KEY here; lists what lets somebody in by it',
    )
    .option('--with-secret-key', 'take the secret.key in the backup, where there is none here')
    .examples('restore /backups/monday.zst --data-dir /var/lib/cloud-analytics')
    .load(async () => (await import('./restore.ts')).restore)
}
