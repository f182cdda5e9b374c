// The commands `member`: add, list, remove, invite and erase members of an organization.

import { OperatorError } from '../../base/errors.ts'
import { asciiLower, plural } from '../../base/text.ts'
import { removeWholeMember } from '../../features/members/member-changes.ts'
import { findMember, listMembersWithAliases } from '../../features/members/member-queries.ts'
import { commandLineActor } from '../command/actor.ts'
import type { CliCommand } from '../command/cli-command.ts'
import { type Args, type Context, withOrganization } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { pricerOf } from '../command/sync-deps.ts'
import { table } from '../command/table.ts'

const COLUMNS = ['id', 'email', 'display_name', 'role', 'team', 'joined_at', 'aliases'] as const

const collect = (value: string, values: string[] = []): string[] => [...values, value]

export function addMember(program: CliCommand): void {
  const member = program.add('member', 'members of an organization').alias('members')
  member
    .add('add', 'add a member, or change the one with this address')
    .org()
    .requiredOption('--email <email>', 'address, in any case')
    .requiredOption('--name <name>', 'display name')
    .requiredOption('--role <role>', 'owner, admin, developer or auditor')
    .option('--team <team>', 'team of the member; an empty text: none (unless given it stays)')
    .option('--alias <email>', 'another address of the same person (may be repeated)', collect)
    .option('--remove-alias <email>', 'one that is no longer theirs (may be repeated)', collect)
    .option('--id <id>', 'id of a new member: user_…, as that of one who was removed')
    .examples('member add --org acme --email ada@example.com --name Ada --role developer')
    .run(add)
  member.add('list', 'list the members').org().examples('member list --org acme').run(list)
  member
    .add('remove', 'remove a member; the sessions keep the address or id that they were sent with')
    .org()
    .requiredOption('--email <email>', 'address, in any case')
    .notes(`Those with the address belong to a member who is added with it later, those with the id to one who is added with
it: member add --id.`)
    .examples('member remove --org acme --email ada@example.com')
    .run(remove)
  member
    .add(
      'invite [email]',
      'make a link by which a member sets a password and signs in, or one for each of a file',
    )
    .org()
    .option('--file <file>', 'CSV with the header email,display_name,role,team: who is no member becomes one')
    .notes(
      'A link is valid for 7 days and once; a new one replaces the old. Of a file all are invited, or nobody.',
    )
    .examples('member invite ada@example.com --org acme', 'member invite --file people.csv --org acme')
    .run(invite)
  member
    .add('erase <email>', 'delete a person: address and name leave every table, a pseudonym stays')
    .org()
    .notes('The person need not be a member. It can be repeated when it was interrupted.')
    .examples('member erase ada@example.com --org acme')
    .run(erase)
}

type AddOptions = Record<'org' | 'email' | 'name' | 'role', string> &
  Partial<Record<'team' | 'id', string>> &
  Partial<Record<'alias' | 'removeAlias', string[]>>

async function add(
  context: Context,
  { org, email, name, role, team, id, alias = [], removeAlias = [] }: AddOptions,
): Promise<void> {
  const { checkUsage, writeRecord } = await import('./write-record.ts')
  const fields = {
    type: 'member',
    email,
    display_name: name,
    role,
    ...(team === undefined ? {} : { team: team === '' ? null : team }),
    ...(id === undefined ? {} : { id }),
    ...(alias.length > 0 ? { aliases: alias } : {}),
  }
  checkUsage({ ...fields, joined_at: new Date().toISOString() })
  const member = await withOrganization(context, org, async (sql, orgId) => {
    const before = await findMember(sql, orgId, email)
    const aliases = changedAliases(before?.aliases ?? [], alias, removeAlias)
    const joined_at = before?.joined_at ?? new Date().toISOString()
    const record = { ...fields, joined_at, ...(aliases === undefined ? {} : { aliases }) }
    await writeRecord(context, sql, orgId, record)
    return await findMember(sql, orgId, email)
  })
  await printResult(context.json, member, `member ${member?.email} (${member?.id}), ${member?.role}`)
}

/** Undefined: they stay as they are. Throws OperatorError for one to remove that the member does not have. */
function changedAliases(aliases: readonly string[], add: readonly string[], remove: readonly string[]) {
  if (add.length === 0 && remove.length === 0) return undefined
  const removed = remove.map(asciiLower)
  for (const email of removed)
    if (!aliases.includes(email)) throw new OperatorError(`the member has no alias ${JSON.stringify(email)}`)
  const added = add.map(asciiLower)
  return [...new Set([...aliases.filter((email) => !removed.includes(email)), ...added])]
}

async function list(context: Context, { org }: { org: string }): Promise<void> {
  const members = [...(await withOrganization(context, org, listMembersWithAliases))]
  const rows = members.map((member) => ({
    ...member,
    team: member.team ?? '',
    aliases: member.aliases.join(' '),
  }))
  await printResult(context.json, members, table(rows, COLUMNS, 'no members'))
}

async function remove(context: Context, { org, email }: { org: string; email: string }): Promise<void> {
  const by = { actor: commandLineActor() }
  const removed = await withOrganization(context, org, async (sql, orgId) => {
    const member = await findMember(sql, orgId, email)
    if (member === undefined) throw noMember(email)
    return await sql.begin((tx) => removeWholeMember(tx, orgId, by, member.id))
  })
  await printResult(context.json, removed, `member ${removed.email} (${removed.id}) is removed`)
}

async function invite(context: Context, { org, file }: { org: string; file?: string }, [email]: Args) {
  if ((email === '') === (file === undefined))
    throw new OperatorError('give the address of a member, or --file', 2)
  if (file !== undefined) {
    const { inviteFile } = await import('./invite-file.ts')
    const data = await withOrganization(context, org, (sql, orgId) => inviteFile(context, sql, orgId, file))
    await printResult(context.json, { data }, table(data, ['email', 'url'], 'nobody'))
    if (!context.json) printMessage(`each valid once and until ${data[0]?.expires_at}`)
    return
  }
  const { inviteMember } = await import('./owner.ts')
  const invited = await withOrganization(context, org, (sql, orgId) =>
    inviteMember(context, sql, orgId, email),
  )
  if (invited === undefined) throw noMember(email)
  await printResult(context.json, invited, invited.url)
  if (!context.json) printMessage(`valid once and until ${invited.expires_at}`)
}

async function erase(context: Context, { org }: { org: string }, [email]: Args): Promise<void> {
  const { erasePerson } = await import('../../server/erasure/person.ts')
  const erased = await withOrganization(context, org, (sql, orgId) =>
    erasePerson(sql, orgId, commandLineActor(), email, pricerOf(context.config)),
  )
  const { pseudonym, sessions, commits, audit_entries, others } = erased
  await printResult(
    context.json,
    erased,
    `the person is now ${pseudonym}: changed are ${plural(sessions, 'session')}, ${plural(commits, 'commit')}, ${plural(audit_entries, 'audit entry', 'audit entries')} and ${plural(others, 'other row')}`,
  )
}

const noMember = (email: string) =>
  new OperatorError(
    `there is no member ${JSON.stringify(email)}; those there are: cloud-analytics member list --org SLUG`,
  )
