import { deleteOldAuditEntries } from '../audit/log/retention.ts'
import type { Sql } from '../db/client.ts'
import { deleteStaleRateWindows } from '../http/rate-windows.ts'
import type { Log } from '../log.ts'
import { deleteOldIdempotencyKeys } from '../webhooks/idempotency-queries.ts'
import { cancelOfDeletedEndpoints } from '../webhooks/outbox/cancel-of-deleted.ts'
import { deleteOldDeliveries } from '../webhooks/outbox/delete-old.ts'
import { failAbandoned } from '../webhooks/outbox/fail-abandoned.ts'
import type { WorkerSettings } from './messages.ts'

const DAY_MS = 86_400_000

type Settings = Pick<WorkerSettings, 'retentionDeliveriesDays' | 'retentionAuditDays'>

/** One round of deleting and ending what has served its time. Never rejects: what fails is tried again by the next round. */
export async function runHousekeeping(sql: Sql, settings: Settings, log: Log): Promise<void> {
  const { retentionDeliveriesDays, retentionAuditDays } = settings
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)
  const chores: Record<string, () => Promise<number>> = {
    rate_windows: () => deleteStaleRateWindows(sql),
    abandoned: () => failAbandoned(sql),
    orphans: () => cancelOfDeletedEndpoints(sql),
    idempotency_keys: () => deleteOldIdempotencyKeys(sql),
    deliveries: () => deleteOldDeliveries(sql, daysAgo(retentionDeliveriesDays)),
  }
  if (retentionAuditDays > 0) {
    chores.audit_entries = () => deleteOldAuditEntries(sql, daysAgo(retentionAuditDays))
  }
  for (const [name, chore] of Object.entries(chores)) {
    try {
      log.debug('housekeeping done', { chore: name, count: await chore() })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      log.warn('housekeeping failed, it is tried again in a minute', { chore: name, error: reason })
    }
  }
}
