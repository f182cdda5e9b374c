import { type Actor, recordEntries } from '../../accounts/audit-log/append.ts'
import { removeAccount } from '../../accounts/people/member-queries.ts'
import { OperatorError } from '../../base/errors.ts'
import { randomLowerAlnum } from '../../base/ids.ts'
import { asciiLower } from '../../base/text.ts'
import type { Sql } from '../../database/client.ts'
import { lockHistory, lockOrganization } from '../../database/org-lock.ts'
import { deleteBudgetsOf } from '../../features/cost/write.ts'
import { removeAliases } from '../../features/team/alias-write.ts'
import { findMember, findOwnAddress, removeMember } from '../../features/team/queries.ts'
import { eraseAuthor, findAuthorNames } from './person-commits.ts'
import { endKeys } from './person-keys.ts'
import { eraseInSessions } from './person-sessions.ts'
import { eraseInTables } from './person-tables.ts'
import { pseudonymOf, tracesOf } from './traces.ts'

/** Numbers of changed rows. */
interface Erased {
  /** The pseudonym that replaces the person from now on. */
  pseudonym: string
  sessions: number
  commits: number
  audit_entries: number
  keys: number
  /** Rows of other tables. */
  others: number
}

const TOKEN_LENGTH = 12
/** Each pass changes what was written while the one before ran. */
const MAX_PASSES = 10

/**
 * Replaces a person's addresses (a member's aliases too; any of them may be given), member id and names in every table of the organization by a pseudonym, which is the same in
 * all of them, so that counts hold. Ends the keys that are bound to the address. The member is deleted last: an erasure
 * that was interrupted can be repeated. In batches; writers of the organization wait for one of them at most. Throws
 * OperatorError when there is nothing of the person.
 */
export async function erasePerson(sql: Sql, orgId: string, actor: Actor, address: string): Promise<Erased> {
  const given = asciiLower(address.trim()).replaceAll('\0', '')
  if (!/^[^\s@]+@[^\s@]+$/.test(given)) throw new OperatorError('give the e-mail address of a person', 2)
  const email = (await findOwnAddress(sql, orgId, given)) ?? given
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
  const erasure = { sql, orgId, person, pseudonym, traces: tracesOf(person, pseudonym) }
  const keys = await endKeys(erasure)
  const erased: Erased = {
    pseudonym: pseudonym.email,
    sessions: 0,
    commits: 0,
    audit_entries: 0,
    keys,
    others: 0,
  }
  for (let pass = 1; ; pass += 1) {
    const sessions = await eraseInSessions(erasure)
    const commits = await eraseAuthor(erasure)
    const { audit_entries, others } = await eraseInTables(erasure)
    erased.sessions += sessions
    erased.commits += commits
    erased.audit_entries += audit_entries
    erased.others += others
    if (sessions + commits + audit_entries + others === 0) break
    if (pass === MAX_PASSES) {
      throw new OperatorError('data of the person keeps coming in: stop what sends it, and run this again')
    }
  }
  const { pseudonym: _pseudonym, ...counts } = erased
  if (member === undefined && Object.values(counts).every((count) => count === 0)) {
    throw new OperatorError('the organization has nothing of this address')
  }
  await sql.begin(async (tx) => {
    await lockHistory(tx, orgId)
    await removeAliases(tx, orgId, email)
    await lockOrganization(tx, orgId)
    await removeMember(tx, orgId, email)
    if (member !== undefined) {
      await deleteBudgetsOf(tx, orgId, { scope: 'member', scope_key: member.id })
      await removeAccount(tx, orgId, member.id)
    }
    await recordEntries(tx, orgId, actor, [
      { action: 'member.erased', details: { ids: [pseudonym.memberId], ...counts } },
    ])
  })
  return erased
}
