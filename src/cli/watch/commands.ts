import type { Command } from 'commander'
import { KEY_HELP, SERVER_HELP, USER_HELP } from '../client/commands.ts'
import { type Actions, lazy } from '../command/context.ts'
import { example } from '../command/help.ts'
import { secret } from '../command/option-parsers.ts'
import { PROJECT_HELP, projectFromOption } from '../command/project-options.ts'

/** `watch` and `status`. */
export function addWatch(program: Command, action: Actions): void {
  program
    .command('watch [path...]')
    .description('send sessions to a server as they end or grow, until it is stopped')
    .option('--server <url>', SERVER_HELP)
    .option('--key <key>', KEY_HELP, secret)
    .option('--user <email>', USER_HELP)
    .option('--project <name>', PROJECT_HELP)
    .addOption(projectFromOption())
    .option('--content', 'send prompts and answers too')
    .addHelpText(
      'after',
      `
A session is sent when nothing was written to it for 30 s, and every 5 min while it grows. Without a path the agents' usual
folders are watched. One instance for each user; \`sync\` works beside it. Without a connection it goes on trying.

Examples:
  cloud-analytics watch                                  (after login)
  cloud-analytics watch --server https://analytics.example.com --key @key.txt`,
    )
    .action(action(lazy(async () => (await import('./watch.ts')).watch)))
  program
    .command('status')
    .description('what this machine sent when to which server, and what agents will soon delete unsent')
    .addHelpText(...example('status --json'))
    .action(action(lazy(async () => (await import('./status.ts')).status)))
}
