import { messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { repeat } from '../../base/timeout.ts'
import type { Sql } from '../../database/client.ts'
import { findLeft } from '../sync/inbox-write.ts'
import type { Intake } from './messages.ts'

/** Rows are left over after 3 s: with these and the drain they are written within 5 s of the answer. */
const WATCH_MS = 1_000

/** Looks every second for telemetry that an instance left in the inbox when it ended, and has it written. */
export const watchInbox = (sql: Sql, intake: Pick<Intake, 'drain'>, log: Log) =>
  repeat(async () => {
    try {
      const orgIds = await findLeft(sql)
      if (orgIds.length > 0) intake.drain(orgIds)
    } catch (error) {
      log.debug('the inbox of telemetry cannot be read', { error: messageOf(error) })
    }
  }, WATCH_MS)
