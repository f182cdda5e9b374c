import type { AuditRecord, ReportRecord } from '../../analysis/records/audit.ts'
import { addDays, dateOf } from '../../base/dates.ts'
import { PEOPLE } from './demo-team.ts'
import { randomFrom } from './generate.ts'

const ENTRIES = 90
type Change = readonly [action: string, details: Record<string, unknown>]
const CHANGES: readonly [Change, ...Change[]] = [
  ['api_key.created', { name: 'laptop', scopes: ['sessions:write'] }],
  ['api_key.revoked', { name: 'laptop' }],
  ['budget.updated', { limit: 160 }],
  ['organization.updated', { badges: 'public' }],
  ['webhook.created', { events: ['session.completed'] }],
  ['webhook.updated', { enabled: true }],
  ['member.joined', { role: 'developer' }],
]
/** Documentation addresses (RFC 5737). */
const NETWORK = '198.51.100.'

/** Makes the changes of owners and admins in the last `days` days. */
export function demoAudit(now: Date, days: number, seed: number): AuditRecord[] {
  const { below, pick } = randomFrom(seed)
  const managers = PEOPLE.filter(({ role }) => role !== 'developer')
  const today = dateOf(now)
  return Array.from({ length: ENTRIES }, (_, nth) => {
    const [action, details] = pick(CHANGES)
    const clock = `${String(7 + below(11)).padStart(2, '0')}:${String(below(60)).padStart(2, '0')}:${String(below(60)).padStart(2, '0')}`
    return {
      type: 'audit',
      action,
      user_id: managers[below(managers.length)]?.email ?? 'system',
      created_at: `${addDays(today, Math.floor(((nth - ENTRIES) / ENTRIES) * days))}T${clock}.000Z`,
      details,
      ip_address: `${NETWORK}${1 + below(250)}`,
    } satisfies AuditRecord
  }).sort((a, b) => a.created_at.localeCompare(b.created_at))
}

/** A report of the last three whole months. */
export function demoReport(now: Date): ReportRecord {
  const firstOf = (months: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1)).toISOString().slice(0, 10)
  return { type: 'report', report_type: 'soc2', from: firstOf(-3), to: addDays(firstOf(0), -1) }
}
