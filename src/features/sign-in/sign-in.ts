// Signs people in by password or invitation, starts their sessions, and signs them out.

import { recordEntries } from '../../accounts/audit-log/append.ts'
import {
  type Account,
  endSessionsOf,
  findAccounts,
  saveAccount,
} from '../../accounts/people/account-queries.ts'
import { findInvitation, useInvitation } from '../../accounts/people/invitation-queries.ts'
import { hashPassword, isPassword } from '../../accounts/people/passwords.ts'
import { endSession, startSession } from '../../accounts/people/sign-in-queries.ts'
import { ApiError } from '../../base/errors.ts'
import { asciiLower } from '../../base/text.ts'
import type { ISql } from '../../database/client.ts'
import { getMember } from '../members/member-changes.ts'
import type { AuthDeps } from './deps.ts'

export interface Client {
  /** The address in the form in which tries are counted. */
  counted: string
  /** The address in the audit log. */
  exact: string | null
  /** Tests only: when the request was made. */
  at: Date | undefined
}

/** The cookie's token of a new session, or the organizations among which the person has to choose. */
type SignedIn = { token: string } | { organizations: { slug: string; name: string }[] }

type SignInDeps = Pick<AuthDeps, 'people' | 'inTurn' | 'countTry' | 'log'>

/** Counts a try of this address and account; throws RATE_LIMITED. */
const countTries = ({ countTry }: SignInDeps, { counted, at }: Client, ...accounts: string[]) =>
  countTry([`address ${counted}`, ...accounts.map((account) => `account ${asciiLower(account)}`)], { at })

/** Writes what a member has done by this client into the audit log. Needs the organization's lock. */
const record = (tx: ISql, orgId: string, memberId: string, { exact }: Client, ...actions: string[]) =>
  recordEntries(
    tx,
    orgId,
    { userId: memberId, ipAddress: exact },
    actions.map((action) => ({ action, details: { ids: [memberId] } })),
  )

/** Starts a session with a new token, and ends the browser's session before (`former`). Needs the organization's lock. */
export async function beginSession(
  tx: ISql,
  { orgId, memberId }: Pick<Account, 'orgId' | 'memberId'>,
  client: Client,
  former: string | undefined,
  ...actions: string[]
): Promise<string> {
  if (former !== undefined) await endSession(tx, former)
  const token = await startSession(tx, orgId, memberId)
  await record(tx, orgId, memberId, client, ...actions, 'member.signed_in')
  return token
}

/** A refusal is answered so long after its request: a comparison takes 20 to 40 ms, and one follows the other. */
const REFUSED_AFTER_MS = 1_000

/**
 * Signs in by a password. `former`: the token of the browser's session before, which ends. Throws UNAUTHORIZED, whatever is
 * wrong, and RATE_LIMITED. The time of a refusal does not tell how many accounts there are, nor whether an organization is
 * writing: the audit log is written meanwhile.
 */
export async function signInByPassword(
  deps: SignInDeps,
  credentials: { email: string; password: string; organization?: string },
  client: Client,
  former: string | undefined,
): Promise<SignedIn> {
  const startedMs = performance.now()
  await countTries(deps, client, credentials.email)
  const accounts = await findAccounts(deps.people, credentials.email, credentials.organization)
  // one comparison at least: an address without an account takes a place, too
  if (accounts.length === 0) await isPassword(credentials.password, null)
  const matching: Account[] = []
  // one after the other: a sign-in has one of the places at a time
  for (const account of accounts)
    if (await isPassword(credentials.password, account.passwordHash)) matching.push(account)
  const [account] = matching
  if (account === undefined) {
    for (const { orgId, memberId } of accounts)
      deps
        .inTurn(orgId, (tx) => record(tx, orgId, memberId, client, 'member.sign_in_failed'), 'note')
        .catch((error: unknown) => deps.log.warn('a refused sign-in is not in the audit log', { error }))
    // after a longer time, as on a busy machine, the next multiple
    await Bun.sleep(REFUSED_AFTER_MS - ((performance.now() - startedMs) % REFUSED_AFTER_MS))
    throw new ApiError('UNAUTHORIZED', 'The address or the password is wrong')
  }
  if (matching.length > 1) return { organizations: matching.map(({ slug, name }) => ({ slug, name })) }
  return {
    token: await deps.inTurn(account.orgId, (tx) => beginSession(tx, account, client, former), 'note'),
  }
}

/** Accepts an invitation: sets the password, ends other sessions, starts one. Throws UNAUTHORIZED, RATE_LIMITED. */
export async function acceptInvitation(
  deps: SignInDeps,
  { token, password }: { token: string; password: string },
  client: Client,
  former: string | undefined,
): Promise<string> {
  const invitation = await findInvitation(deps.people, token)
  const accounts = invitation === undefined ? [] : [`${invitation.orgId} ${invitation.memberId}`]
  await countTries(deps, client, ...accounts)
  const refused = () =>
    new ApiError('UNAUTHORIZED', 'The invitation is not valid, or was used: ask for a new one')
  if (invitation === undefined) throw refused()
  const { orgId, memberId } = invitation
  const hash = await hashPassword(password)
  return await deps.inTurn(orgId, async (tx) => {
    if (!(await useInvitation(tx, token))) throw refused()
    await saveAccount(tx, orgId, await getMember(tx, orgId, memberId), { passwordHash: hash })
    await endSessionsOf(tx, orgId, memberId)
    return await beginSession(tx, invitation, client, former, 'invitation.accepted')
  })
}

/** Ends the session, on every instance: answered when what was being written by it is done. */
export async function signOut(
  { people, inTurn }: Pick<AuthDeps, 'people' | 'inTurn'>,
  token: string,
  client: Client,
): Promise<void> {
  const ended = await endSession(people, token)
  if (ended === undefined) return
  const { orgId, memberId } = ended
  await inTurn(orgId, (tx) => record(tx, orgId, memberId, client, 'member.signed_out'), 'note')
}
