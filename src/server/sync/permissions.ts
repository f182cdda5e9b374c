// Decides what a key may send.

import { grants, type Rights } from '../../accounts/keys/rights.ts'
import type { Scope } from '../../accounts/keys/scopes.ts'
import type { SyncRecord } from '../../analysis/records/records.ts'
import type { FieldProblem } from '../../base/errors.ts'
import { asciiLower } from '../../base/text.ts'

export interface KeyRights extends Rights {
  /** The address, in lower case, of the member whose sessions it sends; null: anybody's. */
  memberEmail: string | null
}

interface SendingMember {
  email: string
  aliases: readonly string[]
  id: string | undefined
}

type SessionRecord = SyncRecord & { type: 'session' }

const SCOPE_OF_TYPE: Readonly<Record<SyncRecord['type'], Scope>> = {
  session: 'sessions:write',
  member: 'members:write',
  commit: 'commits:write',
  pr_risk: 'risk:write',
  audit: 'audit:write',
  budget: 'budgets:write',
  report: 'reports:write',
  note: 'admin',
  plan: 'admin',
  limit: 'sessions:write',
  effect: 'admin',
}

/** The scope that a record needs and the key lacks; undefined when it lacks none. Kinds that do not exist need none. */
export function missingScopes(
  scopes: readonly Scope[],
): ((record: unknown) => Scope | undefined) | undefined {
  const missing = new Map(
    Object.entries(SCOPE_OF_TYPE).filter(([, scope]) => !grants(scopes, scope)),
  ) as ReadonlyMap<unknown, Scope>
  if (missing.size === 0) return undefined
  return (record) =>
    missing.get(typeof record === 'object' && record !== null && 'type' in record ? record.type : undefined)
}

/** The record without decisions on findings, unless its sender has the scope admin: they are in the audit log. */
export function withoutDecisions(record: SyncRecord, key: KeyRights | undefined): SyncRecord {
  if (record.type !== 'session' || key === undefined || grants(key.scopes, 'admin')) return record
  const { security_metadata: security } = record
  if (!security?.findings) return record
  const findings = security.findings.map(
    ({ status: _status, assignee: _assignee, note: _note, ...finding }) => finding,
  )
  return { ...record, security_metadata: { ...security, findings } }
}

/** The record as the member's key sends it, or what the key may not send of it. */
export function bindRecord(record: SyncRecord, name: string, member: SendingMember) {
  if (record.type === 'session') return bindSession(record, name, member)
  if (record.type === 'limit') {
    const foreign = foreignEmail(record, name, member)
    return foreign ?? { ...record, user_email: member.email }
  }
  // an alias gives its member the sessions and commits of that address
  return record.type === 'member' && record.aliases != null
    ? { field: `${name}.aliases`, message: 'an API key of a member makes no aliases' }
    : record
}

/** The session, the member's where it has no user. */
function bindSession(session: SessionRecord, name: string, member: SendingMember) {
  const { user_id, user_email } = session
  const foreign = foreignEmail(session, name, member)
  if (foreign !== undefined) return foreign
  if (user_id != null && user_id !== member.id) return foreignField(`${name}.user_id`, member)
  return user_id == null && user_email == null ? { ...session, user_email: member.email } : session
}

const foreignField = (field: string, { email }: SendingMember): FieldProblem => ({
  field,
  message: `this API key is for sessions of ${email}`,
})

/** The problem of an address that is none of the member's. */
const foreignEmail = (
  { user_email }: { user_email?: string | null | undefined },
  name: string,
  member: SendingMember,
): FieldProblem | undefined =>
  user_email != null && ![member.email, ...member.aliases].includes(asciiLower(user_email))
    ? foreignField(`${name}.user_email`, member)
    : undefined
