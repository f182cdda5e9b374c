import { type Actor, recordEntries, SYSTEM } from '../../accounts/audit-log/append.ts'
import { AUDIT_ROLLUP } from '../../accounts/audit-log/rollup.ts'
import type { Pricer } from '../../analysis/scoring/prices.ts'
import { codeOf, OperatorError } from '../../base/errors.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { rebuildTables } from '../../database/derived-tables.ts'
import { lockOrganization } from '../../database/org-lock.ts'
import { FINDING_TABLES } from '../../features/security/check.ts'
import { SESSION_TABLES } from '../../features/sessions/check.ts'
import { prepareSession } from '../../features/sessions/prepare.ts'
import { type Touching, updateDirectories } from '../../features/sessions/rollup.ts'
import { copySessions } from '../../features/sessions/store-write.ts'
import { PULL_REQUEST_PARTS } from '../../features/usage/check.ts'
import { OUTCOME_ROLLUP } from '../../features/usage/outcome-rollup.ts'
import { BRANCH_ROLLUP, USAGE_ROLLUP } from '../../features/usage/rollup.ts'
import { TICKETS } from '../../features/usage/ticket-check.ts'
import { copyUsage } from '../../features/usage/write.ts'
import { batchesOf, generateSessions, type SeedPlan } from './generate.ts'
import { analyzeSessions, insertSeedEntries, refreshStatistics } from './queries.ts'

/** Sessions in one COPY. */
const BATCH = 5_000
/** Sessions in one update of the team's activity: the dead rows of each update slow the next one. */
const ACTIVITY_BATCH = 100_000

interface SeedDeps {
  sql: Sql
  /** Named in the audit log. */
  actor?: Actor
  now: () => Date
  pricer: () => Promise<Pricer>
}

/**
 * Writes the sessions of `plan` for the organization in one transaction. `onProgress` gets the number written
 * so far. Throws OperatorError when sessions of the same seed exist.
 */
export async function seedSessions(
  deps: SeedDeps,
  orgId: string,
  plan: SeedPlan,
  onProgress: (done: number) => void = () => {},
): Promise<void> {
  const now = deps.now()
  const pricer = await deps.pricer()
  const write = async (tx: ISql) => {
    await lockOrganization(tx, orgId)
    let done = 0
    let activity: Touching[] = []
    const countActivity = async () => {
      await updateDirectories(tx, orgId, [], activity)
      activity = []
    }
    for (const records of batchesOf(generateSessions(plan), BATCH)) {
      const batch = records.map((record) =>
        prepareSession(record, record.id, { pricer, storeContent: false }),
      )
      await copySessions(tx, orgId, batch, now)
      await copyUsage(tx, orgId, batch)
      for (const { project, userId, userEmail, detail } of batch)
        activity.push({ project, userId, userEmail, detail: { files_touched: detail.files_touched } })
      if (activity.length >= ACTIVITY_BATCH) await countActivity()
      done += batch.length
      onProgress(done)
    }
    await countActivity()
    await analyzeSessions(tx)
    await rebuildTables(tx, orgId, [
      ...SESSION_TABLES,
      USAGE_ROLLUP,
      BRANCH_ROLLUP,
      PULL_REQUEST_PARTS,
      OUTCOME_ROLLUP,
      TICKETS,
      ...FINDING_TABLES,
    ])
    const details = { created: plan.sessions, updated: 0, ids: [] }
    await recordEntries(tx, orgId, deps.actor ?? SYSTEM, [{ action: 'session.synced', details }])
  }
  await refuseRepeated('sessions', plan, () => deps.sql.begin(write))
  await refreshStatistics(deps.sql, 'sessions')
}

/** The ids of a seed are always the same. */
async function refuseRepeated(
  what: string,
  { seed }: { seed: number },
  write: () => Promise<unknown>,
): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (codeOf(error) !== '23505') throw error
    throw new OperatorError(`${what} of seed ${seed} are there already: choose another with --seed`)
  }
}

/** Audit entries in one statement. */
const AUDIT_BATCH = 50_000

/**
 * Writes `plan.audit` audit entries in order of time, spread evenly over `plan.days`, in one transaction.
 * Throws OperatorError when entries of the same seed exist.
 */
export async function seedAudit(
  { sql }: { sql: Sql },
  orgId: string,
  plan: Pick<SeedPlan, 'days' | 'seed' | 'today'> & { audit: number },
): Promise<void> {
  await refuseRepeated('entries', plan, () =>
    sql.begin(async (tx) => {
      await lockOrganization(tx, orgId)
      for (let start = 0; start < plan.audit; start += AUDIT_BATCH) {
        await insertSeedEntries(tx, orgId, plan, { start, end: Math.min(plan.audit, start + AUDIT_BATCH) })
      }
      await rebuildTables(tx, orgId, [AUDIT_ROLLUP])
    }),
  )
  await refreshStatistics(sql, 'audit')
}
