import { type Actor, recordEntries, SYSTEM } from '../audit/record.ts'
import type { Sql } from '../db/client.ts'
import { lockOrganization } from '../db/org-lock.ts'
import { OperatorError } from '../errors.ts'
import type { Pricer } from '../scoring/prices.ts'
import { rebuildFindings } from '../sync/findings-check.ts'
import { type PreparedSession, prepareSession } from '../sync/prepare.ts'
import { rebuildAuditRollups } from '../sync/rollup-audit.ts'
import { rebuildRollups } from '../sync/rollup-check.ts'
import { moveActivity } from '../sync/write-activity.ts'
import { activityOf } from '../sync/write-sessions.ts'
import { generateSessions, type SeedPlan } from './generate.ts'
import {
  copySessions,
  hasSession,
  insertSeedEntries,
  refreshAuditStatistics,
  refreshStatistics,
} from './queries.ts'

/** Sessions held in memory at a time; one COPY each. */
const BATCH = 5_000

export interface SeedDeps {
  sql: Sql
  /** For the audit log. */
  actor?: Actor
  now: () => Date
  pricer: () => Promise<Pricer>
}

/**
 * Makes the sessions of `plan` for the organization in one transaction: all or none. `onProgress` hears how many are in.
 * Throws OperatorError when sessions of the same seed are there.
 */
export async function seedSessions(
  deps: SeedDeps,
  orgId: string,
  plan: SeedPlan,
  onProgress: (done: number) => void = () => {},
): Promise<void> {
  const pricer = await deps.pricer()
  const scoredAt = deps.now().toISOString()
  await deps.sql.begin(async (tx) => {
    await lockOrganization(tx, orgId)
    if (await hasSession(tx, orgId, `sess_seed${plan.seed}_0`)) {
      throw new OperatorError(`sessions of seed ${plan.seed} are there already: choose another with --seed`)
    }
    let done = 0
    let batch: PreparedSession[] = []
    const flush = async () => {
      if (batch.length > 0) await copySessions(tx, orgId, batch, scoredAt)
      await moveActivity(tx, orgId, [], batch.map(activityOf))
      done += batch.length
      batch = []
      onProgress(done)
    }
    for (const record of generateSessions(plan)) {
      batch.push(await prepareSession(record, record.id, { pricer, storeContent: false }))
      if (batch.length === BATCH) await flush()
    }
    await flush()
    await rebuildRollups(tx, orgId)
    await rebuildFindings(tx, orgId)
    const details = { created: plan.sessions, updated: 0, ids: [] }
    await recordEntries(tx, orgId, deps.actor ?? SYSTEM, [{ action: 'session.synced', details }])
  })
  await refreshStatistics(deps.sql)
}

/** Audit entries made by one statement. */
const AUDIT_BATCH = 50_000

/**
 * Makes `plan.audit` audit entries of `plan.days`, evenly and in order of time, in one transaction. Throws OperatorError
 * when entries of the same seed are there.
 */
export async function seedAudit(
  { sql }: { sql: Sql },
  orgId: string,
  plan: Pick<SeedPlan, 'days' | 'seed' | 'today'> & { audit: number },
): Promise<void> {
  try {
    await sql.begin(async (tx) => {
      await lockOrganization(tx, orgId)
      for (let start = 0; start < plan.audit; start += AUDIT_BATCH) {
        await insertSeedEntries(tx, orgId, plan, { start, end: Math.min(plan.audit, start + AUDIT_BATCH) })
      }
      await rebuildAuditRollups(tx, orgId)
    })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '23505') {
      throw new OperatorError(`entries of seed ${plan.seed} are there already: choose another with --seed`)
    }
    throw error
  }
  await refreshAuditStatistics(sql)
}
