import { OperatorError } from '../../base/errors.ts'
import type { CliCommand } from '../command/cli-command.ts'

interface ServiceOptions {
  server?: true
  print?: true
  databaseUrlFile?: string
}

const SERVER_OPTION = [
  '--server',
  'the system service of serve instead (Linux with systemd, as root)',
] as const

/** `service` */
export function addService(program: CliCommand): void {
  const service = program.add('service', 'run watch, or serve, without a terminal')
  service
    .add('install [paths...]', 'make watch run now and at each login, and send with the login')
    .option(...SERVER_OPTION)
    .option(
      '--database-url-file <file>',
      'with --server: file that has DATABASE_URL, handed over as a credential',
    )
    .option(
      '--backup-dir <dir>',
      "with --server: BACKUP_DIR, which becomes the service user's and writable to it",
    )
    .option('--print', 'show the file and write nothing')
    .notes(`A launch agent on macOS, a user unit of systemd on Linux, a task of the Task Scheduler on Windows. Without paths the folders of
the coding agents are watched, also of one that is installed later.`)
    .examples(
      'service install',
      'service install ~/.claude/projects --print',
      'sudo cloud-analytics service install --server --database-url-file /etc/cloud-analytics/database-url',
    )
    .run(async (context, options: ServiceOptions, args) => {
      const paths = args.filter((path) => path !== '')
      const print = options.print === true
      const { databaseUrlFile } = options
      if (options.server) {
        if (paths.length > 0) throw new OperatorError('--server takes no paths', 2)
        const { installServer } = await import('./server-service.ts')
        // commander gives --backup-dir to the program's setting
        const backupDir = context.config.backupDir ?? undefined
        return await installServer(context, { print, databaseUrlFile, backupDir })
      }
      if (databaseUrlFile !== undefined) throw new OperatorError('--database-url-file needs --server', 2)
      const { installWatch } = await import('./watch-service.ts')
      await installWatch(context, paths, { print })
    })
  service
    .add('status', 'whether the service is installed and runs; exit code 1 when it does not run')
    .option(...SERVER_OPTION)
    .run(async (context, { server }: ServiceOptions) => {
      if (server) return await (await import('./server-service.ts')).serverStatus(context)
      await (await import('./watch-service.ts')).watchStatus(context)
    })
  service
    .add('uninstall', 'stop the service and delete its file')
    .option(...SERVER_OPTION)
    .run(async (context, { server }: ServiceOptions) => {
      if (server) return await (await import('./server-service.ts')).uninstallServer(context)
      await (await import('./watch-service.ts')).uninstallWatch(context)
    })
}
