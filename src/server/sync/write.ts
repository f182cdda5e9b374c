// Writes a batch of records in one transaction.

import { type Actor, recordEntries, recordEntriesOf, SYSTEM } from '../../accounts/audit-log/append.ts'
import { findZone } from '../../accounts/organizations/zone-queries.ts'
import type { RecordCounts } from '../../analysis/records/changes.ts'
import type { Pricer } from '../../analysis/scoring/prices.ts'
import { createPause } from '../../base/timeout.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { lockHistory, lockOrganization } from '../../database/org-lock.ts'
import { writeAudit } from '../../features/audit/write.ts'
import { writeReports } from '../../features/audit/write-reports.ts'
import { writeBudgetAlerts } from '../../features/budgets/alert-write.ts'
import { writeBudgets } from '../../features/budgets/write.ts'
import { updateExpertiseOf } from '../../features/commits/expertise.ts'
import { writeCommits } from '../../features/commits/write.ts'
import { writeEffects } from '../../features/effects/effect-queries.ts'
import { reopenFixed } from '../../features/findings/finding-changes.ts'
import { hasAliases, writeAliases } from '../../features/members/alias-write.ts'
import { noteMachine } from '../../features/members/machine-write.ts'
import { findKeysOf } from '../../features/members/team-queries.ts'
import { writeMembers } from '../../features/members/write.ts'
import { writeNotes } from '../../features/notes/queries.ts'
import { type ComputedRisks, computeRisks, writeRisks } from '../../features/risk/write.ts'
import { writeLimits } from '../../features/seats/limit-write.ts'
import { writePlans } from '../../features/seats/plan-write.ts'
import { writeFindings } from '../../features/security/write.ts'
import type { SkippedSession } from '../../features/sessions/deleted-queries.ts'
import type { PreparedSession } from '../../features/sessions/prepare.ts'
import {
  type MovedSessions,
  type SessionsWritten,
  type WriteOptions,
  type WrittenSession,
  writeSessions,
} from '../../features/sessions/writing/write.ts'
import { updateShares } from '../../features/usage/pull-request-write.ts'
import { emit, findSubscribers } from '../../webhooks/outbox/events.ts'
import { buildAuditEntries } from './audit-entries.ts'
import { buildEvents, changedMonths } from './events.ts'
import { type InboxRows, takeFromInbox } from './inbox-write.ts'
import { findUser } from './machine.ts'
import type { KeyRights } from './permissions.ts'
import { createPreparer, findSender, type PreparedBatch, refuseTooMany } from './prepare.ts'

export interface SyncDeps {
  sql: Sql
  now: () => Date
  storeContent: boolean
  pricer: () => Promise<Pricer>
  /** Called with the sessions of each batch that is written, and those of them that are new or have changed. */
  onSessions?: (sent: readonly PreparedSession[], changed: readonly WrittenSession[]) => void
}

/** The options of a request to write records; plain data. */
export interface SendOptions {
  /** The rights of the key or person that sends them; without them everything may be sent. */
  key?: KeyRights
  /** Whether a session may get another user than the one it has. */
  reassign?: boolean
  /** The name of the machine that sends them. */
  machine?: string | undefined
  /** Whether sessions that were deleted are stored again. */
  restore?: boolean
  /** Whether the result says how many sessions had another project. */
  moved?: boolean
  /** The rows of the inbox that the sessions were made of, which are deleted. */
  inbox?: InboxRows
}

export interface SyncResult extends RecordCounts {
  /** Telemetry that was refused: its number of records, and the reason for the first one. */
  rejected?: { records: number; reason: string }
  received: number
  /** Sessions that were left out; they count as unchanged. Absent where there are none. */
  skipped?: SkippedSession[]
  /** Numbers of sessions that had another project, where they were asked for. Absent where there are none. */
  moved?: MovedSessions[]
}

/**
 * Writes a batch of records for one organization, all or nothing, in one transaction, with what `actor` did in the audit
 * log and the events for its endpoints. The same batch again changes nothing. Throws VALIDATION_ERROR naming
 * `records[<index>].<field>`, and FORBIDDEN naming the records that the key may not send. With `before` they are records that
 * `problemsOf` has checked, and are written when it has ended, so that a batch is prepared while the one before it is written;
 * if `before` rejects, nothing is written.
 */
export async function writeRecords(
  deps: SyncDeps,
  orgId: string,
  sent: readonly unknown[],
  actor: Actor = SYSTEM,
  options: SendOptions = {},
  before?: Promise<unknown>,
): Promise<SyncResult> {
  refuseTooMany(sent.length)
  const pause = createPause()
  const preparer = createPreparer({
    pricer: await deps.pricer(),
    storeContent: deps.storeContent,
    sender: await findSender(deps.sql, orgId, options.key),
    isChecked: before !== undefined,
    pause,
  })
  for (const [index, record] of sent.entries()) if (!(await preparer.add(record, `records[${index}]`))) break
  const batch = await preparer.finish()
  await before
  return await storeBatch(deps, orgId, await computeBatch(deps.sql, orgId, batch, pause), actor, options)
}

export interface ComputedBatch extends PreparedBatch {
  /** Undefined where the batch has commits, which its pull requests are computed from. */
  computed: ComputedRisks | undefined
  pause: () => Promise<void> | undefined
  /** Called before the organization is locked; may throw, as `pause`, to give the batch up. */
  beforeLock?: () => void
  onBeyond?: WriteOptions['onBeyond']
}

/** Computes what needs neither a lock nor the batch's other records. `pause` is called between two records. */
export async function computeBatch(
  sql: Sql,
  orgId: string,
  batch: PreparedBatch,
  pause: () => Promise<void> | undefined,
): Promise<ComputedBatch> {
  if (batch.records.some(({ type }) => type === 'commit')) return { ...batch, computed: undefined, pause }
  const compute = (from: ISql) => computeRisks(from, orgId, batch.records, pause)
  // one snapshot: a commit that is written meanwhile would be in some of the counts only
  const computed = hasHistory(batch)
    ? await sql.begin('isolation level repeatable read read only', compute)
    : await compute(sql)
  return { ...batch, computed, pause }
}

/** Whether the batch's writer needs the lock of the history. */
export const hasHistory = ({ records }: PreparedBatch): boolean =>
  records.some((record) => record.type === 'commit' || record.type === 'pr_risk' || hasAliases(record))

/** Writes a prepared batch: see `writeRecords`. */
export async function storeBatch(
  deps: SyncDeps,
  orgId: string,
  batch: ComputedBatch,
  actor: Actor,
  { key, reassign = false, restore = false, moved: withMoved = false, machine, inbox }: SendOptions,
): Promise<SyncResult> {
  const { records, sessions } = batch
  const now = deps.now()
  const pricer = await deps.pricer()
  const isMembersKey = key !== undefined && key.memberEmail !== null
  const results = await deps.sql.begin(async (tx) => {
    // the work that takes seconds comes before the organization's lock; nobody sees it before the end of the
    // transaction
    if (hasHistory(batch)) await lockHistory(tx, orgId)
    const commit = await writeCommits(tx, orgId, records, { pause: batch.pause, mayReplace: !isMembersKey })
    const aliases = await writeAliases(tx, orgId, records, key)
    await updateExpertiseOf(tx, orgId, aliases.addresses)
    const risks = batch.computed ?? (await computeRisks(tx, orgId, records, batch.pause))
    const early = sessions.length > 0 ? undefined : await writeRisks(tx, orgId, records, risks)
    batch.beforeLock?.()
    await lockOrganization(tx, orgId, 'note')
    if (inbox) await takeFromInbox(tx, orgId, inbox.ids)
    const subscribers = await findSubscribers(tx, orgId)
    const results = {
      member: await writeMembers(tx, orgId, records, aliases.members, key),
      budget: await writeBudgets(tx, orgId, records),
      session: await writeSessionsAndCounts(tx, orgId, sessions, {
        now,
        reassignment: inbox ? 'kept' : { isAsked: reassign, isMembersKey },
        restore,
        pricer,
        storeContent: deps.storeContent,
        pause: batch.pause,
        onBeyond: batch.onBeyond,
      }),
      plan: await writePlans(tx, orgId, records),
      // looks for the calls of the batch's sessions
      limit: await writeLimits(tx, orgId, records, now),
      commit,
      // computed from the findings of the batch's sessions
      pr_risk: early ?? (await writeRisks(tx, orgId, records, risks)),
      audit: await writeAudit(tx, orgId, records),
      // reports come after all entries that they may count
      report: await writeReports(tx, orgId, records),
      note: await writeNotes(tx, orgId, records),
      effect: await writeEffects(tx, orgId, records),
    }
    await results.pr_risk.updateRollups()
    await updateShares(tx, orgId, {
      ...results.pr_risk,
      commits: [...commit.createdIds, ...commit.updatedIds],
      members: await findKeysOf(
        tx,
        orgId,
        [...results.member.createdIds, ...results.member.updatedIds],
        aliases.addresses,
      ),
    })
    const exceeded = await writeBudgetAlerts(
      tx,
      orgId,
      changedMonths(results, now, await findZone(tx, orgId)),
    )
    if (inbox) await recordEntriesOf(tx, orgId, inbox.entries)
    else await recordEntries(tx, orgId, actor, buildAuditEntries(results))
    await emit(tx, orgId, now, buildEvents(results, exceeded), subscribers)
    if (machine !== undefined) {
      const user = await findUser(tx, orgId, sessions, key?.memberEmail ?? null)
      await noteMachine(tx, orgId, { machine, user, created: results.session.created, now })
    }
    if (sumOf(results, 'created') + sumOf(results, 'updated') > 0) await lockOrganization(tx, orgId)
    return results
  })
  deps.onSessions?.(sessions, results.session.changed)
  const { skipped, moved } = results.session
  return {
    received: records.length,
    created: sumOf(results, 'created'),
    updated: sumOf(results, 'updated'),
    unchanged: sumOf(results, 'unchanged'),
    ...(skipped.length > 0 ? { skipped: [...skipped] } : {}),
    ...(withMoved && moved.length > 0 ? { moved: [...moved] } : {}),
  }
}

const sumOf = (results: Record<string, RecordCounts>, count: keyof RecordCounts): number =>
  Object.values(results).reduce((total, result) => total + result[count], 0)

/** Writes the sessions, and the findings of the heatmap that follow from them. */
export async function writeSessionsAndCounts(
  tx: ISql,
  orgId: string,
  sessions: readonly PreparedSession[],
  options: WriteOptions,
): Promise<SessionsWritten> {
  const written = await writeSessions(tx, orgId, sessions, options)
  const withFindings = written.changed.filter(
    ({ session, before }) => before !== undefined || session.detail.security_metadata.findings.length > 0,
  )
  const shown = await writeFindings(
    tx,
    orgId,
    withFindings.map(({ session }) => session.id),
  )
  await reopenFixed(tx, orgId, shown)
  return written
}
