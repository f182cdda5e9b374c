import type { Command } from 'commander'
import { createKey, listKeys, revokeKey } from '../../keys/queries.ts'
import { commandLineActor } from '../command/actor.ts'
import { type Actions, type Context, withDatabase, withOrganization } from '../command/context.ts'
import { printMessage, printResult, table } from '../command/output.ts'

const COLUMNS = ['id', 'name', 'scopes', 'created_at', 'expires_at', 'last_used_at', 'revoked_at'] as const

/** `key` */
export function addKey(program: Command, action: Actions): void {
  const key = program.command('key').alias('keys').description('API keys')
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
    .action(action(create))
  key
    .command('list')
    .description("list an organization's keys")
    .requiredOption('--org <slug>', 'slug of the organization')
    .action(action(list))
  key
    .command('revoke <id>')
    .description('revoke a key; every instance refuses it within a second')
    .action(action(revoke))
}

async function create(
  context: Context,
  { org, name, scopes, expires }: { org: string; name: string; scopes: string; expires?: string },
): Promise<void> {
  const named = scopes.split(',').map((scope) => scope.trim())
  const wanted = { name, scopes: named.filter((scope) => scope !== ''), expires }
  const created = await withOrganization(context, org, (sql, orgId) =>
    createKey(sql, orgId, wanted, commandLineActor()),
  )
  // the key alone, for KEY=$(cloud-analytics key create …)
  await printResult(context.json, created, created.key)
  if (!context.json) printMessage(`shown once; id ${created.id}, scopes ${created.scopes.join(',')}`)
}

async function list(context: Context, { org }: { org: string }): Promise<void> {
  const keys = [...(await withOrganization(context, org, listKeys))]
  await printResult(context.json, keys, table(keys, COLUMNS, 'no keys'))
}

async function revoke(context: Context, _options: object, [id]: [string, ...string[]]): Promise<void> {
  const revoked = await withDatabase(context, (sql) => revokeKey(sql, id, commandLineActor()))
  await printResult(context.json, revoked, `key ${revoked.id} is revoked since ${revoked.revoked_at}`)
}
