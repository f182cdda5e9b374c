import type { Command } from 'commander'
import type { Actions } from '../command/context.ts'
import { secret } from '../command/option-parsers.ts'
import type { ServerOptions } from './server.ts'

export const SERVER_HELP = 'address of the server (CLOUD_ANALYTICS_SERVER, else that of login)'
export const KEY_HELP = 'API key (CLOUD_ANALYTICS_KEY, else that of login); or @FILE'
export const USER_HELP =
  "whose sessions they are (CLOUD_ANALYTICS_USER, else the key's member, else git's user.email)"

/** `login`, `logout` and `whoami`. */
export function addClient(program: Command, action: Actions): void {
  program
    .command('login')
    .description('sign in to a server: check an API key and keep it for the other commands')
    .option('--server <url>', 'address of the server (CLOUD_ANALYTICS_SERVER, else that of the login before)')
    .option('--key <key>', 'API key; or @FILE', secret)
    .addHelpText(
      'after',
      `
The key is asked for without showing it, or read from standard input; CLOUD_ANALYTICS_KEY comes before both. It is kept in the
user's configuration folder, in a file that only the user may read.

Examples:
  cloud-analytics login --server https://analytics.example.com
  cloud-analytics login --server https://analytics.example.com < key.txt`,
    )
    .action(
      action(async (context, options: ServerOptions) => {
        const { login } = await import('./login.ts')
        await login(context, options)
      }),
    )
  program
    .command('logout')
    .description('forget the key that login kept; the key stays valid')
    .action(
      action(async (context) => {
        const { logout } = await import('./login.ts')
        await logout(context)
      }),
    )
  program
    .command('whoami')
    .description('show the organization, plan, scopes, member and limits of the key')
    .option('--server <url>', SERVER_HELP)
    .option('--key <key>', KEY_HELP, secret)
    .action(
      action(async (context, options: ServerOptions) => {
        const { whoAmI } = await import('./login.ts')
        await whoAmI(context, options)
      }),
    )
}
