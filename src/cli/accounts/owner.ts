// The command `owner create`, and the links of invitations by which owners and members sign in.

import { createInvitation, invitationUrl } from '../../accounts/people/invitation-queries.ts'
import type { Sql } from '../../database/client.ts'
import { findOwnAddress } from '../../database/member-addresses.ts'
import { inOrganization } from '../../database/org-lock.ts'
import { addMember, changeMember } from '../../features/members/member-changes.ts'
import { findMember } from '../../features/members/member-queries.ts'
import { commandLineActor } from '../command/actor.ts'
import type { CliCommand } from '../command/cli-command.ts'
import { type Context, withOrganization } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { serverUrl } from '../operations/health.ts'

export function addOwner(program: CliCommand): void {
  const owner = program.add('owner', 'who may do everything in an organization')
  owner
    .add('create', 'make an owner, and the link by which the person sets a password and signs in')
    .org()
    .requiredOption('--email <email>', 'address, in any case; a member with it becomes an owner')
    .requiredOption('--name <name>', 'display name')
    .notes('The link is valid for 7 days and once. member invite makes one for any member.')
    .examples('owner create --org acme --email ada@example.com --name Ada')
    .run(create)
}

async function create(context: Context, { org, email, name }: { org: string; email: string; name: string }) {
  const { checkUsage } = await import('./write-record.ts')
  const joined_at = new Date().toISOString()
  checkUsage({ type: 'member', email, display_name: name, role: 'owner', joined_at })
  const by = { actor: commandLineActor() }
  const created = await withOrganization(context, org, (sql, orgId) =>
    sql.begin(async (tx) => {
      const member = await findMember(tx, orgId, (await findOwnAddress(tx, orgId, email)) ?? email)
      const owner =
        member === undefined
          ? await addMember(tx, orgId, by, { email, display_name: name, role: 'owner' }, new Date())
          : await changeMember(tx, orgId, by, member.id, { display_name: name, role: 'owner' }, new Date())
      const { token, expires_at } = await createInvitation(tx, orgId, owner.id, by.actor)
      return { id: owner.id, email: owner.email, url: linkOf(context, token), expires_at }
    }),
  )
  await printResult(context.json, created, created.url)
  if (!context.json) printMessage(`for ${created.email}, valid once and until ${created.expires_at}`)
}

/** `member invite`: a link for a member; undefined where no member has the address. */
export async function inviteMember(context: Context, sql: Sql, orgId: string, email: string) {
  const actor = commandLineActor()
  return await inOrganization(sql, orgId, async (tx) => {
    const member = await findMember(tx, orgId, email)
    if (member === undefined) return undefined
    const { token, expires_at } = await createInvitation(tx, orgId, member.id, actor)
    return { url: linkOf(context, token), expires_at }
  })
}

export const linkOf = (context: Context, token: string): string =>
  invitationUrl(context.config.publicUrl ?? serverUrl(context), token)
