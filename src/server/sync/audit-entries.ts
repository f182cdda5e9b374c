// The audit entries of a sync request: one for each kind of record (members, budgets and plans: one for those created and one for
// those updated), and none where nothing changed. Records of the type `audit` are entries themselves.

import type { NewEntry } from '../../accounts/audit-log/append.ts'
import { changedIds } from '../../analysis/records/changes.ts'
import type { Results } from './events.ts'

const ACTIONS: Record<string, readonly [created: string, updated?: string]> = {
  session: ['session.synced'],
  member: ['member.created', 'member.updated'],
  commit: ['commit.synced'],
  pr_risk: ['pr_risk.synced'],
  budget: ['budget.created', 'budget.updated'],
  note: ['note.created', 'note.updated'],
  plan: ['plan.created', 'plan.updated'],
  limit: ['limit.synced'],
  effect: ['effect.created', 'effect.updated'],
  report: ['report.generated'],
}

/** Ids listed in one entry; its counts include all. */
const MAX_IDS = 100

export function buildAuditEntries(results: Results): NewEntry[] {
  return Object.entries(results).flatMap(([kind, result]): NewEntry[] => {
    const [ofCreated, ofUpdated] = ACTIONS[kind] ?? []
    if (ofCreated === undefined || result === undefined) return []
    const { created, updated, createdIds, updatedIds } = result
    if (ofUpdated === undefined)
      return created + updated > 0
        ? [{ action: ofCreated, details: { created, updated, ids: firstIds(changedIds(result)) } }]
        : []
    return [
      ...(created > 0 ? [{ action: ofCreated, details: { created, ids: firstIds(createdIds) } }] : []),
      ...(updated > 0 ? [{ action: ofUpdated, details: { updated, ids: firstIds(updatedIds) } }] : []),
    ]
  })
}

export const telemetryEntry = (
  signal: string,
  records: number,
  rejected: number,
  ids: readonly string[],
): NewEntry => ({ action: 'telemetry.received', details: { signal, records, rejected, ids: firstIds(ids) } })

/** The ids that an entry lists. */
export const firstIds = (ids: readonly string[]): string[] => [...new Set(ids)].slice(0, MAX_IDS)
