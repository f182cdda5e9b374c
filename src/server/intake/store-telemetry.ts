import type { Signal } from '../../analysis/telemetry/model.ts'
import { asciiLower } from '../../base/text.ts'
import type { Sql } from '../../database/client.ts'
import { telemetryEntry } from '../sync/audit-entries.ts'
import { findForeign, storeInInbox } from '../sync/inbox-write.ts'
import type { SyncResult } from '../sync/write.ts'
import type { IntakeRequest } from './messages.ts'
import type { ReadTelemetry } from './read-telemetry.ts'

/**
 * Stores a request of telemetry in the inbox, but what it says of sessions of others where its key is a member's. Throws
 * UNAUTHORIZED when the organization was deleted.
 */
export async function storeTelemetry(
  sql: Sql,
  { orgId, actor, options: { key } }: IntakeRequest,
  signal: Signal,
  { sessions: sent, received, rejected, reason }: ReadTelemetry,
): Promise<SyncResult> {
  const member = key?.memberEmail ?? null
  const sessions = sent.map((session) => ({
    ...session,
    email: member ?? (session.email === null ? null : asciiLower(session.email)),
  }))
  const ids = [...new Set(sessions.map(({ id }) => id))]
  const foreign = member === null ? new Set<string>() : await findForeign(sql, orgId, ids, member)
  const own = sessions.filter(({ id }) => !foreign.has(id))
  const refused = sessions.reduce((sum, { id, records }) => (foreign.has(id) ? sum + records : sum), rejected)
  const entry = telemetryEntry(
    signal,
    received,
    refused,
    own.map(({ id }) => id),
  )
  await storeInInbox(sql, orgId, own, { bound: member !== null, actor, entry })
  return {
    ...{ received, created: 0, updated: 0, unchanged: 0 },
    rejected: {
      records: refused,
      reason:
        reason || (foreign.size > 0 ? 'the session is another user’s, and this API key is a member’s' : ''),
    },
  }
}
