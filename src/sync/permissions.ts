import { ApiError, type FieldProblem } from '../errors.ts'
import { grants, type Scope } from '../keys/model.ts'
import type { SyncRecord } from '../records/records.ts'

// What a key may send. Plain functions of the records and of what is known of the key.

/** The rights of the key that sends records. */
export interface KeyRights {
  scopes: readonly Scope[]
  /** The address, in lower case, of the member whose sessions it sends; null: anybody's. */
  memberEmail: string | null
}

/** Problems in one response. */
const MAX_PROBLEMS = 20

const SCOPE_OF_TYPE: Readonly<Record<SyncRecord['type'], Scope>> = {
  session: 'sessions:write',
  member: 'members:write',
  commit: 'commits:write',
  pr_risk: 'risk:write',
  audit: 'audit:write',
  budget: 'budgets:write',
  report: 'reports:write',
}

/** Throws FORBIDDEN, naming the first records of a kind that the scopes do not cover. Kinds that do not exist pass. */
export function checkScopes(records: readonly unknown[], scopes: readonly Scope[]): void {
  const missing = new Map(
    Object.entries(SCOPE_OF_TYPE).filter(([, scope]) => !grants(scopes, scope)),
  ) as ReadonlyMap<unknown, Scope>
  if (missing.size === 0) return
  const problems: FieldProblem[] = []
  for (const [index, record] of records.entries()) {
    const type = typeof record === 'object' && record !== null && 'type' in record ? record.type : undefined
    const scope = missing.get(type)
    if (scope === undefined) continue
    problems.push({ field: `records[${index}]`, message: `needs an API key with the scope ${scope}` })
    if (problems.length === MAX_PROBLEMS) break
  }
  if (problems.length > 0) throw forbidden(problems)
}

/**
 * The records as a member's key sends them: sessions without a user are the member's. `memberId` is undefined while no
 * member has the address. Throws FORBIDDEN, naming the first sessions of another user.
 */
export function bindSessions(
  records: readonly SyncRecord[],
  email: string,
  memberId: string | undefined,
): readonly SyncRecord[] {
  const problems: FieldProblem[] = []
  const refuse = (index: number, field: string) =>
    problems.push({
      field: `records[${index}].${field}`,
      message: `this API key is for sessions of ${email}`,
    })
  const bound = records.map((record, index) => {
    if (record.type !== 'session') return record
    const { user_id, user_email } = record
    if (user_email != null && user_email.toLowerCase() !== email) refuse(index, 'user_email')
    else if (user_id != null && user_id !== memberId) refuse(index, 'user_id')
    return user_id == null && user_email == null ? { ...record, user_email: email } : record
  })
  if (problems.length > 0) throw forbidden(problems.slice(0, MAX_PROBLEMS))
  return bound
}

function forbidden(details: FieldProblem[]): ApiError {
  const message = details.map(({ field, message }) => `${field}: ${message}`).join('; ')
  return new ApiError('FORBIDDEN', message, { details })
}
