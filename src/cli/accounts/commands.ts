import type { Command } from 'commander'
import { PLANS } from '../../config.ts'
import { type Context, contextOf, type Surroundings } from '../command/context.ts'

type Options = Record<string, string | undefined>
/** An action that loads the commands when it runs; `id` is the first argument. */
type Runs = (
  run: (
    commands: typeof import('./accounts.ts'),
    context: Context,
    options: Options,
    id: string,
  ) => Promise<void>,
) => (this: Command) => Promise<void>

/** `org`, `key`, `member`, `budget` and `report`: what the organization's owner sets up. */
export function addAccounts(program: Command, surroundings: Surroundings): void {
  const runs: Runs = (run) =>
    async function (this: Command) {
      const context = contextOf(this, surroundings)
      await run(await import('./accounts.ts'), context, this.opts<Options>(), this.args[0] ?? '')
    }
  addOrganizations(program, runs)
  addKeys(program, runs)
  addMembers(program, runs)
  program
    .command('budget')
    .description('the monthly limit of an organization')
    .command('set')
    .description('set the limit from a month on')
    .requiredOption('--org <slug>', 'slug of the organization')
    .requiredOption('--limit <usd>', 'US dollars a month')
    .option('--month <month>', 'first month it holds for, as 2026-11 (this month)')
    .addHelpText('after', '\nExample:\n  cloud-analytics budget set --org acme --limit 2500 --month 2026-11')
    .action(runs((commands, context, options) => commands.setBudget(context, options)))
  program
    .command('report')
    .description('compliance reports from the audit log')
    .command('generate')
    .description('make a report of a period; GET /v1/audit/report answers with the newest')
    .requiredOption('--org <slug>', 'slug of the organization')
    .requiredOption('--type <type>', 'audit, soc2, iso27001 or custom')
    .requiredOption('--from <date>', 'first UTC day')
    .requiredOption('--to <date>', 'last UTC day')
    .addHelpText(
      'after',
      '\nExample:\n  cloud-analytics report generate --org acme --type soc2 --from 2026-01-01 --to 2026-03-31',
    )
    .action(runs((commands, context, options) => commands.generateReport(context, options)))
}

function addOrganizations(program: Command, runs: Runs): void {
  const org = program.command('org').description('organizations')
  org
    .command('create')
    .description('make an organization')
    .requiredOption('--slug <slug>', 'its name in commands and badges: a-z, 0-9 and -')
    .requiredOption('--name <name>', 'its name for people')
    .requiredOption('--plan <plan>', PLANS.join(', '))
    .addHelpText(
      'after',
      '\nExample:\n  cloud-analytics org create --slug acme --name "Acme Inc" --plan cloud_team',
    )
    .action(runs((commands, context, options) => commands.createOrg(context, options)))
  org
    .command('list')
    .description('list the organizations')
    .action(runs((commands, context) => commands.listOrgs(context)))
  org
    .command('update <slug>')
    .description('change an organization')
    .option('--name <name>', 'its name for people')
    .option('--plan <plan>', PLANS.join(', '))
    .option('--badges <who>', 'who sees its badges: public, or private (with the token only)')
    .option('--badge-token <token>', 'new: make one, shown once, and end the one before; none: end it')
    .option('--badge-label-quality <text>', 'label of the quality badge')
    .option('--badge-label-security <text>', 'label of the security badge')
    .option('--badge-label-cost <text>', 'label of the cost badge')
    .option('--badge-thresholds <good,fair>', 'least good and least fair value (80,50)')
    .option('--badge-colors <good,fair,poor>', 'names or hexadecimal (brightgreen,yellow,red)')
    .addHelpText(
      'after',
      '\nAn empty text sets a label, the thresholds or the colors back.\n\nExample:\n  cloud-analytics org update acme --badges public --badge-thresholds 90,70',
    )
    .action(runs((commands, context, options, slug) => commands.updateOrg(context, options, slug)))
}

function addKeys(program: Command, runs: Runs): void {
  const key = program.command('key').description('API keys')
  key
    .command('create')
    .description('make an API key; it is shown once')
    .requiredOption('--org <slug>', 'slug of the organization')
    .requiredOption('--name <name>', 'what it is for')
    .requiredOption('--scopes <scopes>', 'comma-separated: read, write, webhooks, sessions:read, …')
    .option('--expires <date>', 'day (its beginning, UTC) or RFC 3339 timestamp')
    .addHelpText(
      'after',
      '\nExample:\n  cloud-analytics key create --org acme --name ci --scopes read,write --expires 2027-01-31',
    )
    .action(runs((commands, context, options) => commands.makeKey(context, options)))
  key
    .command('list')
    .description("list an organization's keys")
    .requiredOption('--org <slug>', 'slug of the organization')
    .action(runs((commands, context, options) => commands.showKeys(context, options)))
  key
    .command('revoke <id>')
    .description('revoke a key; every instance refuses it within a second')
    .action(runs((commands, context, _options, id) => commands.endKey(context, id)))
}

function addMembers(program: Command, runs: Runs): void {
  const member = program.command('member').description('members of an organization')
  member
    .command('add')
    .description('add a member, or change the one with this address')
    .requiredOption('--org <slug>', 'slug of the organization')
    .requiredOption('--email <email>', 'address, in any case')
    .requiredOption('--name <name>', 'display name')
    .requiredOption('--role <role>', 'owner, admin, developer or auditor')
    .addHelpText(
      'after',
      '\nExample:\n  cloud-analytics member add --org acme --email ada@example.com --name Ada --role developer',
    )
    .action(runs((commands, context, options) => commands.addMember(context, options)))
  member
    .command('list')
    .description('list the members')
    .requiredOption('--org <slug>', 'slug of the organization')
    .action(runs((commands, context, options) => commands.showMembers(context, options)))
  member
    .command('remove')
    .description('remove a member; the sessions keep the address')
    .requiredOption('--org <slug>', 'slug of the organization')
    .requiredOption('--email <email>', 'address, in any case')
    .action(runs((commands, context, options) => commands.dropMember(context, options)))
}
