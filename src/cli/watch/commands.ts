import { USER_HELP } from '../client/commands.ts'
import type { CliCommand } from '../command/cli-command.ts'

export function addWatch(program: CliCommand): void {
  program
    .add('watch [path...]', 'send sessions to a server as they end or grow, until it is stopped')
    .server()
    .option('--user <email>', USER_HELP)
    .project()
    .option('--content', 'send prompts and answers too')
    .notes(`A session is sent when nothing was written to it for 30 s, and every 5 min while it grows. Without a path the agents' usual
folders are watched. One instance for each user; \`sync\` works beside it. Without a connection it goes on trying.`)
    .examples(
      'watch                                  (after login)',
      'watch --server https://analytics.example.com --key @key.txt',
    )
    .load(async () => (await import('./watch.ts')).watch)
  program
    .add('status', 'what this machine sent when to which server, and what agents will soon delete unsent')
    .examples('status --json')
    .load(async () => (await import('./status.ts')).status)
}
