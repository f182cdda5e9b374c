import { messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Sql } from '../../database/client.ts'
import { findLeft } from '../sync/inbox-write.ts'
import type { Intake } from './messages.ts'

/** Rows are left over after 3 s: with these and the drain they are written within 5 s of the answer. */
const WATCH_MS = 1_000

/** Looks every second for telemetry that an instance left in the inbox when it ended, and has it written. */
export function watchInbox(sql: Sql, intake: Pick<Intake, 'drain'>, log: Log): { stop(): void } {
  let isLooking = false
  const look = async () => {
    if (isLooking) return
    isLooking = true
    try {
      const orgIds = await findLeft(sql)
      if (orgIds.length > 0) intake.drain(orgIds)
    } catch (error) {
      log.debug('the inbox of telemetry cannot be read', { error: messageOf(error) })
    } finally {
      isLooking = false
    }
  }
  const timer = setInterval(() => void look(), WATCH_MS)
  return { stop: () => clearInterval(timer) }
}
