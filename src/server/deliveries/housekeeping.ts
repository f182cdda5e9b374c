// Deletes old rows, ends abandoned deliveries and announces shorter retentions. Never rejects: the next call repeats what
// failed.

import { deleteOldAuditEntries } from '../../accounts/audit-log/append.ts'
import {
  announcementOf,
  daysInForce,
  listPendingRetentions,
} from '../../accounts/organizations/retention-queries.ts'
import { deleteEnded } from '../../accounts/people/sign-in-queries.ts'
import { deleteOldTries } from '../../accounts/people/try-queries.ts'
import { DAY_MS } from '../../base/dates.ts'
import { messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Config } from '../../config.ts'
import type { Sql } from '../../database/client.ts'
import { isConnectionError } from '../../database/connection-errors.ts'
import { deleteStaleRateWindows } from '../../http/rate-windows.ts'
import { deleteOldIdempotencyKeys } from '../../webhooks/idempotency-queries.ts'
import { deleteOldDeliveries } from '../../webhooks/outbox/delete-old.ts'
import { cancelOfDeletedEndpoints, failAbandoned } from '../../webhooks/outbox/end.ts'
import { finishDeletions } from '../erasure/organization.ts'
import { deleteExpiredSessions } from '../erasure/retention.ts'

type Settings = Pick<Config, 'retentionDeliveriesDays' | 'retentionAuditDays'>

/** Retentions that this process has announced. */
const announced = new Set<string>()

async function announce(sql: Sql, log: Log): Promise<number> {
  const fresh = (await listPendingRetentions(sql)).filter(({ place, at }) => !announced.has(`${place} ${at}`))
  for (const waiting of fresh) {
    log.warn(await announcementOf(sql, waiting))
    announced.add(`${waiting.place} ${waiting.at}`)
  }
  return fresh.length
}

export async function runHousekeeping(sql: Sql, settings: Settings, log: Log): Promise<void> {
  const { retentionDeliveriesDays, retentionAuditDays } = settings
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)
  const tasks: Record<string, () => Promise<number>> = {
    rate_windows: () => deleteStaleRateWindows(sql),
    sign_in_tries: () => deleteOldTries(sql),
    ended_sign_ins: () => deleteEnded(sql),
    abandoned: () => failAbandoned(sql, log),
    deleted_endpoints: () => cancelOfDeletedEndpoints(sql),
    idempotency_keys: () => deleteOldIdempotencyKeys(sql),
    deliveries: async () =>
      await deleteOldDeliveries(
        sql,
        daysAgo(await daysInForce(sql, 'RETENTION_DELIVERIES_DAYS', retentionDeliveriesDays)),
      ),
    expired_sessions: () => deleteExpiredSessions(sql, new Date()),
    deleted_organizations: () => finishDeletions(sql),
    async audit_entries() {
      const days = await daysInForce(sql, 'RETENTION_AUDIT_DAYS', retentionAuditDays)
      return days === 0 ? 0 : await deleteOldAuditEntries(sql, daysAgo(days))
    },
    retentions: () => announce(sql, log),
  }
  for (const [name, task] of Object.entries(tasks)) {
    try {
      log.debug('housekeeping done', { task: name, count: await task() })
    } catch (error) {
      const fields = { task: name, error: messageOf(error) }
      const message = 'housekeeping failed, it is tried again in a minute'
      if (isConnectionError(error)) log.rarely('warn', message, fields)
      else log.warn(message, fields)
    }
  }
}
