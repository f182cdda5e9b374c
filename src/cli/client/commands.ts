import type { Command } from 'commander'
import { type Actions, lazy } from '../command/context.ts'
import { secret } from '../command/option-parsers.ts'

export const SERVER_HELP = 'address of the server (CLOUD_ANALYTICS_SERVER, else that of login)'
export const KEY_HELP = 'API key (CLOUD_ANALYTICS_KEY, else that of login); or @FILE'
export const USER_HELP =
  "whose sessions they are (CLOUD_ANALYTICS_USER, else the key's member, else git's user.email)"

/** `login`, `logout` and `whoami`. */
export function addClient(program: Command, action: Actions): void {
  program
    .command('login')
    .description(
      'sign in to a server, by a browser or with an API key, and keep the key for the other commands',
    )
    .option('--server <url>', 'address of the server (CLOUD_ANALYTICS_SERVER, else that of the login before)')
    .option('--key <key>', 'API key; or @FILE', secret)
    .option('--no-browser', 'do not open a browser: open the address that is printed, on any machine')
    .addHelpText(
      'after',
      `
At a terminal a browser is opened, where you sign in and approve this machine. A key that is given, in CLOUD_ANALYTICS_KEY or on
standard input, comes before that. It is kept in the user's configuration folder, in a file that only the user may read.

Examples:
  cloud-analytics login --server https://analytics.example.com
  cloud-analytics login --server https://analytics.example.com < key.txt`,
    )
    .action(action(lazy(async () => (await import('./login.ts')).login)))
  program
    .command('logout')
    .description('forget the key that login kept; the key stays valid')
    .action(action(lazy(async () => (await import('./login.ts')).logout)))
  program
    .command('whoami')
    .description('show the organization, plan, scopes, member and limits of the key')
    .option('--server <url>', SERVER_HELP)
    .option('--key <key>', KEY_HELP, secret)
    .action(action(lazy(async () => (await import('./login.ts')).whoAmI)))
}
