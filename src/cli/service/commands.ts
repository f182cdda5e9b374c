import type { CliCommand } from '../command/cli-command.ts'
import { pathsOf } from '../command/context.ts'
import type { ServiceOptions } from './user-service.ts'

const SERVER_OPTION = [
  '--server',
  'the system service of serve instead (Linux with systemd, as root)',
] as const

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
      await (await serviceOf(options)).install(context, options, pathsOf(args))
    })
  service
    .add('status', 'whether the service is installed and runs; exit code 1 when it does not run')
    .option(...SERVER_OPTION)
    .run(async (context, options: ServiceOptions) => await (await serviceOf(options)).status(context))
  service
    .add('uninstall', 'stop the service and delete its file')
    .option(...SERVER_OPTION)
    .run(async (context, options: ServiceOptions) => await (await serviceOf(options)).uninstall(context))
}

/** The code of the server's service, or of that of `watch`, is loaded when it is needed. */
const serviceOf = ({ server }: ServiceOptions) =>
  server ? import('./server-service.ts') : import('./watch-service.ts')
