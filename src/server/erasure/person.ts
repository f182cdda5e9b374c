// Erases a person: replaces their addresses (a member's aliases too; any of them may be given), member id and names in every
// table of the organization by a pseudonym, which is the same in all of them, so that counts hold. Ends the keys that are
// bound to the address. The member is deleted last: an erasure that was interrupted can be repeated. In batches; writers of
// the organization wait for one of them at most. Throws OperatorError when there is nothing of the person. Returns the
// numbers of changed rows and the pseudonym.

import { type Actor, recordEntry } from '../../accounts/audit-log/append.ts'
import { removeAccount } from '../../accounts/people/account-queries.ts'
import { loadPricer, type Pricer } from '../../analysis/scoring/prices.ts'
import { OperatorError } from '../../base/errors.ts'
import { randomLowerAlnum } from '../../base/ids.ts'
import { asciiLower } from '../../base/text.ts'
import type { Sql } from '../../database/client.ts'
import { findOwnAddress } from '../../database/member-addresses.ts'
import { inOrganization, lockHistory, lockOrganization } from '../../database/org-lock.ts'
import { deleteBudgetsOf } from '../../features/budgets/write.ts'
import { removeAliases } from '../../features/members/alias-write.ts'
import { findMember, removeMember } from '../../features/members/member-queries.ts'
import { deletePlansOf } from '../../features/seats/plan-write.ts'
import { updatePersons } from '../../features/usage/person-write.ts'
import { deleteWindowsOf } from '../../features/usage/windows-write.ts'
import { eraseAuthor, findAuthorNames } from './person-commits.ts'
import { eraseInSessions } from './person-sessions.ts'
import { type Erasure, eraseInTables } from './person-tables.ts'
import { pseudonymOf, tracesOf } from './traces.ts'

const TOKEN_LENGTH = 12
/** Each pass changes what was written while the one before ran. */
const MAX_PASSES = 10

export async function erasePerson(
  sql: Sql,
  orgId: string,
  actor: Actor,
  address: string,
  pricer: () => Promise<Pricer> = () => loadPricer(),
) {
  const text = asciiLower(address.trim()).replaceAll('\0', '')
  if (!/^[^\s@]+@[^\s@]+$/.test(text)) throw new OperatorError('give the e-mail address of a person', 2)
  const email = (await findOwnAddress(sql, orgId, text)) ?? text
  const member = await findMember(sql, orgId, email)
  const aliases = member?.aliases ?? []
  const names = await findAuthorNames(sql, orgId, [email, ...aliases])
  const person = {
    email,
    aliases,
    memberId: member?.id ?? null,
    names: member === undefined ? names : [...names, member.display_name],
  }
  const pseudonym = pseudonymOf(randomLowerAlnum(TOKEN_LENGTH))
  const erasure = { sql, orgId, person, pseudonym, traces: tracesOf(person, pseudonym), pricer }
  /** Numbers of changed rows. */
  const counts = { sessions: 0, commits: 0, audit_entries: 0, keys: await endKeys(erasure), others: 0 }
  for (let pass = 1; ; pass += 1) {
    const commits = await eraseAuthor(erasure)
    const tables = await eraseInTables(erasure)
    // after the tables: telemetry moves from its inbox, which is one of them, to sessions
    const sessions = await eraseInSessions(erasure)
    const changed = { sessions, commits, ...tables.changed }
    counts.sessions += changed.sessions
    counts.commits += changed.commits
    counts.audit_entries += changed.audit_entries
    counts.others += changed.others
    if (tables.moved === 0 && Object.values(changed).every((count) => count === 0)) break
    if (pass === MAX_PASSES)
      throw new OperatorError('data of the person keeps coming in: stop what sends it, and run this again')
  }
  if (member === undefined && Object.values(counts).every((count) => count === 0))
    throw new OperatorError('the organization has nothing of this address')
  await sql.begin(async (tx) => {
    await lockHistory(tx, orgId)
    await removeAliases(tx, orgId, email)
    await lockOrganization(tx, orgId)
    await removeMember(tx, orgId, email)
    await deleteWindowsOf(tx, orgId, [email, ...aliases])
    if (member !== undefined) {
      await updatePersons(tx, orgId, [member.id])
      await deleteBudgetsOf(tx, orgId, { scope: 'member', scope_key: member.id })
      await deletePlansOf(tx, orgId, member.id)
      await removeAccount(tx, orgId, member.id)
    }
    await recordEntry(tx, orgId, actor, 'member.erased', { ids: [pseudonym.memberId], ...counts })
  })
  return { pseudonym: pseudonym.email, ...counts }
}

/** Revokes the keys that are bound to the person, and takes their names away. Returns how many. */
const endKeys = ({ sql, orgId, person, pseudonym }: Erasure): Promise<number> =>
  inOrganization(sql, orgId, async (tx) => {
    const { count } = await tx`
      update api_keys
      set revoked_at = coalesce(revoked_at, ${new Date()}), member_email = ${pseudonym.email}, name = ${pseudonym.name}
      where org_id = ${orgId}
        and member_email = any(${[person.email, ...person.aliases]}::text[])`
    return count
  })
