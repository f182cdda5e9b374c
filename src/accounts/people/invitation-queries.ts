// Makes, finds, uses and ends invitations, by which members set their passwords.

import { TIME_PATTERN } from '../../base/dates.ts'
import type { ISql } from '../../database/client.ts'
import { deleteFrom } from '../../database/rows.ts'
import { type Actor, recordEntry } from '../audit-log/append.ts'
import { hashToken, makeToken } from './tokens.ts'

const VALID_DAYS = 7

/** An invitation as it is returned once: only the token's SHA-256 is stored. `expires_at` is UTC with milliseconds. */
export interface NewInvitation {
  token: string
  expires_at: string
}

/** Invites the member to set a password; the invitation and identity before end. Needs the organization's lock. */
export async function createInvitation(tx: ISql, orgId: string, memberId: string, actor: Actor) {
  const token = makeToken()
  await tx`
    insert into invitations (org_id, member_id, token_hash, expires_at)
    values (${orgId}, ${memberId}, ${hashToken(token)}, clock_timestamp() + ${VALID_DAYS} * interval '1 day')
    on conflict (org_id, member_id) do update set
      token_hash = excluded.token_hash,
      expires_at = excluded.expires_at`
  await tx`
    update accounts
    set issuer = null, subject = null
    where org_id = ${orgId}
      and member_id = ${memberId}`
  const [row] = await tx<{ expires_at: string }[]>`
    select to_char(i.expires_at at time zone 'UTC', ${TIME_PATTERN}) as expires_at
    from invitations i
    where i.org_id = ${orgId}
      and i.member_id = ${memberId}`
  await recordEntry(tx, orgId, actor, 'member.invited', { ids: [memberId] })
  return { token, expires_at: row?.expires_at ?? '' }
}

/** Ends the invitations of these members. Needs the organization's lock. */
export async function endInvitations(tx: ISql, orgId: string, memberIds: readonly string[]): Promise<void> {
  if (memberIds.length > 0)
    await deleteFrom(tx, orgId, 'invitations', tx`and t.member_id = any(${[...memberIds]}::text[])`)
}

export async function findInvitation(sql: ISql, token: string) {
  const [row] = await sql<{ orgId: string; memberId: string }[]>`
    select i.org_id as "orgId", i.member_id as "memberId"
    from invitations i
    where i.token_hash = ${hashToken(token)}
      and i.expires_at > clock_timestamp()`
  return row
}

/** Ends the invitation; false when it was used or replaced meanwhile. Needs the organization's lock. */
export async function useInvitation(tx: ISql, token: string): Promise<boolean> {
  const { count } = await tx`
    delete from invitations
    where token_hash = ${hashToken(token)}
      and expires_at > statement_timestamp()`
  return count > 0
}

/** The link by which the member accepts: the token is in the fragment, so that no log has it. */
export const invitationUrl = (base: string, token: string): string =>
  `${base.replace(/\/+$/, '')}/accept#token=${token}`
