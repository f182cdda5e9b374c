// Writes a batch of records in one transaction, with audit entries and events: for syncs, telemetry and commands.

import { type Actor, recordEntries, recordEntriesOf, SYSTEM } from '../../accounts/audit-log/append.ts'
import { findZone } from '../../accounts/organizations/zone-queries.ts'
import { changedIds, type RecordCounts } from '../../analysis/records/changes.ts'
import type { Pricer } from '../../analysis/scoring/prices.ts'
import { createPause } from '../../base/timing.ts'
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
import { writeAliases } from '../../features/members/alias-write.ts'
import { noteMachine } from '../../features/members/machine-write.ts'
import { findKeysOf } from '../../features/members/member-queries.ts'
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
import { emit } from '../../webhooks/outbox/events.ts'
import { buildAuditEntries } from './audit-entries.ts'
import { buildEvents, changedMonths, type Results } from './events.ts'
import { type InboxRows, takeFromInbox } from './inbox-write.ts'
import type { KeyRights } from './permissions.ts'
import { createPreparer, type PreparedBatch, refuseTooMany } from './prepare.ts'

type Pause = () => Promise<void> | undefined

export interface SyncDeps {
  sql: Sql
  now: () => Date
  storeContent: boolean
  pricer: () => Promise<Pricer>
  /** Called with the sessions of each batch that is written, and those of them that are new or have changed. */
  onSessions?: (sent: readonly PreparedSession[], changed: readonly WrittenSession[]) => void
  /** Told of telemetry that is not written, or dropped. */
  onDrainFailed?: (orgId: string, error: unknown) => void
}

/** Tells of telemetry that a session cannot take. It is dropped, since it would be tried for ever. */
export const noteBeyond =
  ({ onDrainFailed }: Pick<SyncDeps, 'onDrainFailed'>, orgId: string) =>
  (id: string) =>
    onDrainFailed?.(orgId, new Error(`telemetry of ${id} is dropped: it is beyond the limits of a session`))

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
  const preparer = await createPreparer(deps, orgId, {
    key: options.key,
    isChecked: before !== undefined,
    pause,
  })
  for (const [index, record] of sent.entries()) if (!(await preparer.add(record, `records[${index}]`))) break
  const batch = await computeBatch(deps.sql, orgId, await preparer.finish(), pause)
  await before
  return await storeBatch(deps, orgId, batch, actor, options, { pause })
}

interface ComputedBatch extends PreparedBatch {
  /** Undefined where the batch has no pull requests, or commits, from which they are computed. */
  risks?: ComputedRisks
}

/** Computes what needs neither a lock nor the batch's other records. `pause` is called between two records. */
export async function computeBatch(
  sql: Sql,
  orgId: string,
  batch: PreparedBatch,
  pause: Pause,
): Promise<ComputedBatch> {
  const { commit, pr_risk } = batch.sent
  if (commit || !pr_risk) return batch
  // one snapshot: a commit that is written meanwhile would be in some of the counts only
  const risks = await sql.begin('isolation level repeatable read read only', (tx) =>
    computeRisks(tx, orgId, pr_risk, pause),
  )
  return { ...batch, risks }
}

/** Whether the batch's writer needs the lock of the history. */
export const hasHistory = ({ sent: { commit, pr_risk, member = [] } }: PreparedBatch): boolean =>
  Boolean(commit ?? pr_risk) || member.some(({ record }) => record.aliases != null)

/**
 * Writes a prepared batch: see `writeRecords`. `beforeLock` is called before the organization is locked, and may throw, as `pause`,
 * to give the batch up.
 */
export async function storeBatch(
  deps: SyncDeps,
  orgId: string,
  batch: ComputedBatch,
  actor: Actor,
  { key, reassign = false, restore = false, moved: withMoved = false, machine }: SendOptions,
  { pause, beforeLock }: { pause: Pause; beforeLock?: () => void },
): Promise<SyncResult> {
  const { received, sent, sessions } = batch
  const now = deps.now()
  const isMembersKey = key !== undefined && key.memberEmail !== null
  const pricer = await deps.pricer()
  const results = await deps.sql.begin(async (tx) => {
    // commits and risks take seconds: only writers of the history wait for them
    if (hasHistory(batch)) await lockHistory(tx, orgId)
    const commit =
      sent.commit && (await writeCommits(tx, orgId, sent.commit, { pause, mayReplace: !isMembersKey }))
    const aliases = sent.member && (await writeAliases(tx, orgId, sent.member, key))
    if (aliases) await updateExpertiseOf(tx, orgId, aliases.addresses)
    const risks = batch.risks ?? (sent.pr_risk && (await computeRisks(tx, orgId, sent.pr_risk, pause)))
    // their security follows from findings: with sessions in the batch they wait for these
    const early = risks && sessions.length === 0 && (await writeRisks(tx, orgId, risks))
    beforeLock?.()
    await lockOrganization(tx, orgId, 'note')
    // budgets and plans name members, limits look for the calls of sessions, reports count the entries of the batch
    const member = sent.member && (await writeMembers(tx, orgId, sent.member, aliases?.members, key))
    const results = {
      member,
      budget: sent.budget && (await writeBudgets(tx, orgId, sent.budget)),
      session: await writeSessionsAndCounts(tx, orgId, sessions, {
        ...{ now, reassignment: { isAsked: reassign, isMembersKey }, restore },
        ...{ pricer, storeContent: deps.storeContent, pause, onBeyond: noteBeyond(deps, orgId) },
      }),
      plan: sent.plan && (await writePlans(tx, orgId, sent.plan)),
      limit: sent.limit && (await writeLimits(tx, orgId, sent.limit, now)),
      commit,
      pr_risk: early || (risks && (await writeRisks(tx, orgId, risks))),
      audit: sent.audit && (await writeAudit(tx, orgId, sent.audit)),
      report: sent.report && (await writeReports(tx, orgId, sent.report)),
      note: sent.note && (await writeNotes(tx, orgId, sent.note)),
      effect: sent.effect && (await writeEffects(tx, orgId, sent.effect)),
    }
    await results.pr_risk?.updateRollups()
    await updateShares(tx, orgId, {
      ...results.pr_risk,
      commits: changedIds(commit),
      members: aliases ? await findKeysOf(tx, orgId, changedIds(member), aliases.addresses) : [],
    })
    await recordEntries(tx, orgId, actor, buildAuditEntries(results))
    const { created } = results.session
    const memberEmail = key?.memberEmail ?? null
    if (machine !== undefined) await noteMachine(tx, orgId, { machine, sessions, memberEmail, created, now })
    await announce(tx, orgId, now, results)
    return results
  })
  deps.onSessions?.(sessions, results.session.changed)
  const { skipped, moved } = results.session
  return {
    received,
    created: countSum(results, 'created'),
    updated: countSum(results, 'updated'),
    unchanged: countSum(results, 'unchanged'),
    ...(skipped.length > 0 ? { skipped: [...skipped] } : {}),
    ...(withMoved && moved.length > 0 ? { moved: [...moved] } : {}),
  }
}

/** Writes sessions of telemetry, whose rows leave the inbox. Throws InboxChanged when some are gone. */
export async function storeInbox(
  deps: SyncDeps,
  orgId: string,
  sessions: readonly PreparedSession[],
  rows: InboxRows,
  pause: Pause,
): Promise<void> {
  const now = deps.now()
  const { storeContent } = deps
  const options = { now, reassignment: 'kept', restore: false, storeContent, pause } as const
  const merging = { ...options, pricer: await deps.pricer(), onBeyond: noteBeyond(deps, orgId) }
  const session = await deps.sql.begin(async (tx) => {
    await lockOrganization(tx, orgId, 'note')
    await takeFromInbox(tx, orgId, rows.ids)
    const session = await writeSessionsAndCounts(tx, orgId, sessions, merging)
    await recordEntriesOf(tx, orgId, rows.entries)
    await announce(tx, orgId, now, { session })
    return session
  })
  deps.onSessions?.(sessions, session.changed)
}

/** Tells endpoints and pages what has changed. */
export async function announce(tx: ISql, orgId: string, now: Date, results: Results): Promise<void> {
  if (countSum(results, 'created') + countSum(results, 'updated') === 0) return
  const months = changedMonths(results, now, await findZone(tx, orgId))
  await emit(tx, orgId, now, buildEvents(results, await writeBudgetAlerts(tx, orgId, months)))
  await lockOrganization(tx, orgId)
}

const countSum = (results: Results, count: keyof RecordCounts): number =>
  Object.values(results).reduce((total, result) => total + (result?.[count] ?? 0), 0)

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
  const ids = withFindings.map(({ session }) => session.id)
  if (ids.length > 0) await reopenFixed(tx, orgId, await writeFindings(tx, orgId, ids))
  return written
}
