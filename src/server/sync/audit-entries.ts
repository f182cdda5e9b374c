import type { NewEntry } from '../../accounts/audit-log/append.ts'
import type { Results } from './events.ts'

// The audit entries of a sync request: one for each kind of record (members, budgets and plans: one for those created and one for
// those updated), and none where nothing changed. Records of the type `audit` are entries themselves.

const ACTIONS: Record<string, { created: string; updated: string }> = {
  session: { created: 'session.synced', updated: 'session.synced' },
  member: { created: 'member.created', updated: 'member.updated' },
  commit: { created: 'commit.synced', updated: 'commit.synced' },
  pr_risk: { created: 'pr_risk.synced', updated: 'pr_risk.synced' },
  budget: { created: 'budget.created', updated: 'budget.updated' },
  note: { created: 'note.created', updated: 'note.updated' },
  plan: { created: 'plan.created', updated: 'plan.updated' },
  limit: { created: 'limit.synced', updated: 'limit.synced' },
  effect: { created: 'effect.created', updated: 'effect.updated' },
  report: { created: 'report.generated', updated: 'report.generated' },
}

/** Ids listed in one entry; its counts include all. */
const MAX_IDS = 100

export function buildAuditEntries(results: Results): NewEntry[] {
  return Object.entries(results).flatMap(([kind, result]): NewEntry[] => {
    const actions = ACTIONS[kind]
    if (actions === undefined || result === undefined) return []
    const { created, updated, createdIds, updatedIds } = result
    if (actions.created === actions.updated) {
      const details = { created, updated, ids: firstIds([...createdIds, ...updatedIds]) }
      return created + updated > 0 ? [{ action: actions.created, details }] : []
    }
    return [
      ...(created > 0 ? [{ action: actions.created, details: { created, ids: firstIds(createdIds) } }] : []),
      ...(updated > 0 ? [{ action: actions.updated, details: { updated, ids: firstIds(updatedIds) } }] : []),
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
