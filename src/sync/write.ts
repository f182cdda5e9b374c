import { writeAudit } from '../audit/write.ts'
import { writeReports } from '../audit/write-reports.ts'
import { type Actor, recordEntries, SYSTEM } from '../audit-log/append.ts'
import { analyzeGrownTables } from '../commits/statistics.ts'
import { writeCommits } from '../commits/write.ts'
import { writeBudgetAlerts } from '../cost/budget-alerts.ts'
import { writeBudgets } from '../cost/write.ts'
import type { ISql, Sql } from '../db/client.ts'
import { lockOrganization } from '../db/org-lock.ts'
import { type CleanRecord, cleanRecords } from '../detection/record-secrets.ts'
import { createPause } from '../pause.ts'
import type { RecordCounts } from '../records/changes.ts'
import type { SyncRecord } from '../records/records.ts'
import { writeRisks } from '../risk/write.ts'
import type { Pricer } from '../scoring/prices.ts'
import { writeFindings } from '../security/write.ts'
import { type PreparedSession, prepareSession } from '../sessions/prepare.ts'
import type { Reassignment } from '../sessions/user-queries.ts'
import { activityOf, type SessionsWritten, writeSessions } from '../sessions/write.ts'
import { findMember } from '../team/queries.ts'
import { updateActivity } from '../team/rollup.ts'
import { writeMembers } from '../team/write.ts'
import { emit, findSubscribers } from '../webhooks/outbox/events.ts'
import { buildAuditEntries } from './audit-entries.ts'
import { buildEvents, monthsToCheck } from './events.ts'
import { bindSessions, checkScopes, type KeyRights } from './permissions.ts'
import { checkRecords } from './validate.ts'

export interface SyncDeps {
  sql: Sql
  now: () => Date
  storeContent: boolean
  pricer: () => Promise<Pricer>
}

/** How the records are sent; plain data. */
export interface SendOptions {
  /** The rights of the key that sends them; without one, everything may be sent. */
  key?: KeyRights
  /** Whether a session may get another user than the one it has. */
  reassign?: boolean
}

interface SyncResult extends RecordCounts {
  received: number
}

/**
 * Writes a batch of records for one organization, all or nothing, in one transaction, with what `actor` did in the audit
 * log and the events for its endpoints. The same batch again changes nothing. Throws VALIDATION_ERROR naming
 * `records[<index>].<field>`, and FORBIDDEN naming the records that the key may not send.
 */
export async function writeRecords(
  deps: SyncDeps,
  orgId: string,
  sent: readonly unknown[],
  actor: Actor = SYSTEM,
  options: SendOptions = {},
): Promise<SyncResult> {
  if (options.key !== undefined) checkScopes(sent, options.key.scopes)
  return await writeChecked(deps, orgId, await checkRecords(sent), actor, options)
}

/**
 * As `writeRecords`, for records that `problemOf` has checked, at most MAX_RECORDS, of kinds that the key may send. The
 * transaction begins when `before` has ended, so that a batch is prepared while the one before it is written; if `before`
 * rejects, nothing is written.
 */
export async function writeChecked(
  deps: SyncDeps,
  orgId: string,
  checked: readonly SyncRecord[],
  actor: Actor,
  { key, reassign = false }: SendOptions,
  before?: Promise<unknown>,
): Promise<SyncResult> {
  const clean = await cleanRecords(await boundTo(deps, orgId, checked, key), createPause())
  const records = clean.map(({ record }) => record)
  const sessions = await prepareSessions(deps, clean)
  await before
  const now = deps.now()
  const results = await deps.sql.begin(async (tx) => {
    await lockOrganization(tx, orgId)
    const subscribers = await findSubscribers(tx, orgId)
    const withAlerts = subscribers('security.alert').length > 0
    const reassignment = !reassign ? 'refused' : key?.memberEmail == null ? 'allowed' : 'forbidden'
    const results = {
      member: await writeMembers(tx, orgId, records),
      budget: await writeBudgets(tx, orgId, records),
      session: await writeSessionsAndCounts(tx, orgId, sessions, now, withAlerts, reassignment),
      commit: await writeCommits(tx, orgId, records),
      // after sessions and commits: computed from their findings and history
      pr_risk: await writeRisks(tx, orgId, records),
      audit: await writeAudit(tx, orgId, records),
      // after all entries that they may count
      report: await writeReports(tx, orgId, records),
    }
    const exceeded = await writeBudgetAlerts(tx, orgId, monthsToCheck(results, now))
    await recordEntries(tx, orgId, actor, buildAuditEntries(results))
    await emit(tx, orgId, now, buildEvents(results, exceeded), subscribers)
    return results
  })
  if (results.commit.created > 0) await analyzeGrownTables(deps.sql)
  const sum = (count: keyof RecordCounts) =>
    Object.values(results).reduce((total, result) => total + result[count], 0)
  return {
    received: records.length,
    created: sum('created'),
    updated: sum('updated'),
    unchanged: sum('unchanged'),
  }
}

/** The records as the key sends them: sessions without a user are its member's. */
async function boundTo(
  { sql }: SyncDeps,
  orgId: string,
  records: readonly SyncRecord[],
  key: KeyRights | undefined,
): Promise<readonly SyncRecord[]> {
  const email = key?.memberEmail
  if (email == null || !records.some(({ type }) => type === 'session')) return records
  return bindSessions(records, email, (await findMember(sql, orgId, email))?.id)
}

/** Writes the sessions, and the counts of the team's activity and the findings of the heatmap that follow from them. */
async function writeSessionsAndCounts(
  tx: ISql,
  orgId: string,
  sessions: readonly PreparedSession[],
  now: Date,
  withAlerts: boolean,
  reassignment: Reassignment,
): Promise<SessionsWritten> {
  const written = await writeSessions(tx, orgId, sessions, now, withAlerts, reassignment)
  const changed = written.changed.map(({ session }) => session)
  const known = new Set(
    written.changed.flatMap(({ session, before }) => (before === undefined ? [] : [session.id])),
  )
  await updateActivity(tx, orgId, written.activityBefore, changed.map(activityOf))
  await writeFindings(tx, orgId, changed, known)
  return written
}

async function prepareSessions(deps: SyncDeps, clean: readonly CleanRecord[]): Promise<PreparedSession[]> {
  const pricer = await deps.pricer()
  const pause = createPause()
  const prepared: PreparedSession[] = []
  for (const [index, { record, findings }] of clean.entries()) {
    if (record.type !== 'session') continue
    const options = { pricer, storeContent: deps.storeContent, findings }
    prepared.push(prepareSession(record, `records[${index}]`, options))
    await pause()
  }
  return prepared
}
