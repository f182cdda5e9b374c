// The commands `key`: create, list, rotate and revoke API keys.

import { Option } from 'commander'
import { createKey, listKeys, revokeKey, rotateKey } from '../../accounts/keys/queries.ts'
import { SCOPE_TABLE } from '../../accounts/keys/scopes.ts'
import { settingsOf, TELEMETRY_AGENTS, type TelemetryAgent } from '../../analysis/telemetry/agent-settings.ts'
import { DAY_MS } from '../../base/dates.ts'
import { OperatorError } from '../../base/errors.ts'
import type { Config } from '../../config.ts'
import { localUrl } from '../../http/listen.ts'
import { commandLineActor } from '../command/actor.ts'
import type { CliCommand } from '../command/cli-command.ts'
import { type Args, type Context, withDatabase, withOrganization } from '../command/context.ts'
import { duration } from '../command/option-parsers.ts'
import { printMessage, printResult } from '../command/output.ts'
import { listed } from './list-command.ts'

const COLUMNS = [
  'id',
  'name',
  'scopes',
  'member',
  'created_at',
  'expires_at',
  'last_used_at',
  'revoked_at',
] as const

const helpOf = (name: string, says: string) => `  ${name.padEnd(18)}${says}`
const SCOPES_HELP = [
  'Scopes; those further in are part of the one above:',
  ...SCOPE_TABLE.filter(({ within }) => within === undefined).flatMap(({ name, says }) => [
    helpOf(name, says),
    ...SCOPE_TABLE.filter(({ within }) => within === name).map((part) => helpOf(`  ${part.name}`, part.says)),
  ]),
].join('\n')

/** A grace that is forgotten is a key that never ends. */
const MAX_GRACE_MS = 365 * DAY_MS

export function addKey(program: CliCommand): void {
  const key = program.add('key', 'API keys').alias('keys')
  key
    .add('create', 'make an API key; it is shown once')
    .org()
    .requiredOption('--name <name>', 'what it is for')
    .option('--scopes <scopes>', 'comma-separated: read, write, webhooks, sessions:write, …')
    .option('--ingest', 'scope ingest, with the settings by which coding agents send telemetry')
    .choice('--agent <agent>', 'with --ingest: the settings of this agent only', TELEMETRY_AGENTS)
    .option(
      '--expires <date>',
      'day (its beginning, UTC), or date and time (UTC without an offset), in the future',
    )
    .option('--member <email>', "only for this member's sessions: those sent without a user are the member's")
    .notes(SCOPES_HELP)
    .examples(
      'key create --org acme --name ci --scopes read,write --expires 2027-01-31',
      'key create --org acme --name telemetry --ingest --agent claude-code',
      'key create --org acme --name laptop --scopes sessions:write,commits:write --member ada@example.com',
    )
    .run(create)
  key
    .add('list', "list an organization's keys")
    .org()
    .examples('key list --org acme')
    .run(listed(listKeys, COLUMNS, 'no keys'))
  key
    .add('rotate <id>', 'make a key with the same rights; the old one ends after the grace')
    .addOption(
      new Option('--grace <duration>', 'as 90s, 30m, 24h or 7d; 0s: at once')
        .argParser(duration(MAX_GRACE_MS))
        .default(DAY_MS, '24h'),
    )
    .examples('key rotate k3y1d001 --grace 24h')
    .run(rotate)
  key
    .add('revoke <id>', 'revoke a key; every instance refuses it within a second')
    .examples('key revoke 4f1c2a9b')
    .run(revoke)
}

type CreateOptions = Record<'org' | 'name', string> &
  Partial<Record<'scopes' | 'expires' | 'member', string>> & { ingest?: true; agent?: TelemetryAgent }

async function create(context: Context, options: CreateOptions): Promise<void> {
  const { org, name, scopes, expires, member, ingest, agent } = options
  if ((scopes === undefined) === (ingest === undefined))
    throw new OperatorError('give either --scopes or --ingest', 2)
  if (agent !== undefined && ingest === undefined) throw new OperatorError('--agent goes with --ingest', 2)
  const scopeNames = (scopes ?? 'ingest').split(',').map((scope) => scope.trim())
  const fields = { name, scopes: scopeNames.filter((scope) => scope !== ''), expires, member }
  const created = await withOrganization(context, org, (sql, orgId) =>
    createKey(sql, orgId, fields, commandLineActor()),
  )
  const settings = ingest ? settingsToPaste(context.config, created.key, agent) : undefined
  // the key alone, for KEY=$(cloud-analytics key create …)
  await printResult(context.json, { ...created, ...(settings && { settings }) }, created.key)
  if (context.json) return
  printMessage(`shown once; id ${created.id}, scopes ${created.scopes.join(',')}`)
  for (const [name, parts] of Object.entries(settings ?? {}))
    for (const { place, text } of parts) printMessage(`\n${name}, ${place}:\n${text}`)
}

function settingsToPaste({ publicUrl, host, port }: Config, key: string, agent: TelemetryAgent | undefined) {
  const url = (publicUrl ?? localUrl({ host, port })).replace(/\/+$/, '')
  const agents = agent === undefined ? TELEMETRY_AGENTS : [agent]
  return Object.fromEntries(agents.map((name) => [name, settingsOf(name, url, key)]))
}

async function rotate(context: Context, { grace }: { grace: number }, [id]: Args): Promise<void> {
  const created = await withDatabase(context, (sql) => rotateKey(sql, id, grace, commandLineActor()))
  await printResult(context.json, created, created.key)
  if (context.json) return
  printMessage(`shown once; id ${created.id}, scopes ${created.scopes.join(',')}`)
  printMessage(`key ${created.previous.id} ends at ${created.previous.expires_at}`)
}

async function revoke(context: Context, _options: object, [id]: Args): Promise<void> {
  const revoked = await withDatabase(context, (sql) => revokeKey(sql, id, commandLineActor()))
  await printResult(context.json, revoked, `key ${revoked.id} is revoked since ${revoked.revoked_at}`)
}
