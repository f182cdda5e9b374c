import type { CliCommand } from '../command/cli-command.ts'
import { secret } from '../command/option-parsers.ts'

export const USER_HELP =
  "whose sessions they are (CLOUD_ANALYTICS_USER, else the key's member, else git's user.email)"

/** `login`, `logout` and `whoami`. */
export function addClient(program: CliCommand): void {
  program
    .add(
      'login',
      'sign in to a server, by a browser or with an API key, and keep the key for the other commands',
    )
    .option('--server <url>', 'address of the server (CLOUD_ANALYTICS_SERVER, else that of the login before)')
    .option('--key <key>', 'API key; or @FILE', secret)
    .option('--no-browser', 'do not open a browser: open the address that is printed, on any machine')
    .notes(`At a terminal a browser is opened, where you sign in and approve this machine. A key that is given, in CLOUD_ANALYTICS_KEY or on
standard input, comes before that. It is kept in the user's configuration folder, in a file that only the user may read.`)
    .examples(
      'login --server https://analytics.example.com',
      'login --server https://analytics.example.com < key.txt',
    )
    .load(async () => (await import('./login.ts')).login)
  program
    .add('logout', 'forget the key that login kept; the key stays valid')
    .load(async () => (await import('./login.ts')).logout)
  program
    .add('whoami', 'show the organization, plan, scopes, member and limits of the key')
    .server()
    .load(async () => (await import('./login.ts')).whoAmI)
}
