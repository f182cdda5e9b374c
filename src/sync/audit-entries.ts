import type { NewEntry } from '../audit/log/append.ts'
import type { Tally } from '../records/tally.ts'

// What a sync request leaves in the audit log: one entry a kind of record (members and budgets: one for those created
// and one for those changed), and none where nothing changed. Records of the type `audit` are entries themselves.

const ACTIONS: Record<string, { created: string; updated: string }> = {
  session: { created: 'session.synced', updated: 'session.synced' },
  member: { created: 'member.created', updated: 'member.updated' },
  commit: { created: 'commit.synced', updated: 'commit.synced' },
  pr_risk: { created: 'pr_risk.synced', updated: 'pr_risk.synced' },
  budget: { created: 'budget.created', updated: 'budget.updated' },
  report: { created: 'report.generated', updated: 'report.generated' },
}

/** Ids named in one entry; the counts are of all. */
const MAX_IDS = 100

/** The entries for what the writers of each kind did. */
export function entriesOf(written: Readonly<Record<string, Tally>>): NewEntry[] {
  return Object.entries(written).flatMap(([kind, tally]): NewEntry[] => {
    const actions = ACTIONS[kind]
    if (actions === undefined) return []
    const { created, updated, createdIds = [], updatedIds = [] } = tally
    if (actions.created === actions.updated) {
      const details = { created, updated, ids: firstOf([...createdIds, ...updatedIds]) }
      return created + updated > 0 ? [{ action: actions.created, details }] : []
    }
    return [
      ...(created > 0 ? [{ action: actions.created, details: { created, ids: firstOf(createdIds) } }] : []),
      ...(updated > 0 ? [{ action: actions.updated, details: { updated, ids: firstOf(updatedIds) } }] : []),
    ]
  })
}

const firstOf = (ids: readonly string[]): string[] => [...new Set(ids)].slice(0, MAX_IDS)
