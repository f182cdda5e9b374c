import { type Actor, recordEntries, SYSTEM } from '../audit-log/append.ts'
import { AUDIT_ROLLUP } from '../audit-log/rollup.ts'
import type { ISql, Sql } from '../db/client.ts'
import { rebuildTables } from '../db/derived-tables.ts'
import { lockOrganization } from '../db/org-lock.ts'
import { codeOf, OperatorError } from '../errors.ts'
import type { SessionRecord } from '../records/session.ts'
import type { Pricer } from '../scoring/prices.ts'
import { FINDING_TABLES } from '../security/check.ts'
import { SESSION_TABLES } from '../sessions/check.ts'
import { type PreparedSession, prepareSession } from '../sessions/prepare.ts'
import { type Touching, updateDirectories } from '../sessions/rollup.ts'
import { copySessions } from '../sessions/store-write.ts'
import { PULL_REQUEST_PARTS } from '../usage/check.ts'
import { USAGE_ROLLUP } from '../usage/rollup.ts'
import { copyUsage } from '../usage/write.ts'
import { generateSessions, type SeedPlan } from './generate.ts'
import { analyzeSessions, hasSession, insertSeedEntries, refreshStatistics } from './queries.ts'

/** Sessions in one COPY. */
const BATCH = 5_000
/** Some 5 ms of work, as long as PostgreSQL needs for the data in the socket's buffer. */
const SESSIONS_PER_PAUSE = 100
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
  const prepare = preparer(await deps.pricer())
  await deps.sql.begin(async (tx) => {
    await lockOrganization(tx, orgId)
    const [first] = generateSessions(plan)
    if (first !== undefined) await refuseRepeatedSeed(tx, orgId, first.id)
    let done = 0
    let activity: Touching[] = []
    const countActivity = async () => {
      await updateDirectories(tx, orgId, [], activity)
      activity = []
    }
    const records = generateSessions(plan)
    let batch = await nextBatch(records, prepare)
    while (batch.length > 0) {
      const [next] = await Promise.all([nextBatch(records, prepare), copyBatch(tx, orgId, batch, now)])
      for (const { project, userId, userEmail, detail } of batch)
        activity.push({ project, userId, userEmail, detail: { files_touched: detail.files_touched } })
      if (activity.length >= ACTIVITY_BATCH) await countActivity()
      done += batch.length
      batch = next
      onProgress(done)
    }
    await countActivity()
    await analyzeSessions(tx)
    await rebuildTables(tx, orgId, [...SESSION_TABLES, USAGE_ROLLUP, PULL_REQUEST_PARTS, ...FINDING_TABLES])
    const details = { created: plan.sessions, updated: 0, ids: [] }
    await recordEntries(tx, orgId, deps.actor ?? SYSTEM, [{ action: 'session.synced', details }])
  })
  await refreshStatistics(deps.sql, 'sessions')
}

async function copyBatch(tx: ISql, orgId: string, batch: PreparedSession[], now: Date): Promise<void> {
  await copySessions(tx, orgId, batch, now)
  await copyUsage(tx, orgId, batch)
}

type Prepare = (record: SessionRecord) => PreparedSession
const preparer =
  (pricer: Pricer): Prepare =>
  (record) =>
    prepareSession(record, record.id, { pricer, storeContent: false })

/** The next BATCH sessions. Meanwhile PostgreSQL copies the previous batch, sent in the pauses. */
async function nextBatch(records: Iterator<SessionRecord>, prepare: Prepare): Promise<PreparedSession[]> {
  const batch: PreparedSession[] = []
  while (batch.length < BATCH) {
    const { value, done } = records.next()
    if (done === true) break
    batch.push(prepare(value))
    if (batch.length % SESSIONS_PER_PAUSE === 0) await Bun.sleep(0)
  }
  return batch
}

/** The ids of a seed are always the same: COPY would fail at the first. */
async function refuseRepeatedSeed(tx: ISql, orgId: string, firstId: string): Promise<void> {
  if (await hasSession(tx, orgId, firstId)) {
    throw new OperatorError('sessions of this seed are there already: choose another with --seed')
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
  try {
    await sql.begin(async (tx) => {
      await lockOrganization(tx, orgId)
      for (let start = 0; start < plan.audit; start += AUDIT_BATCH) {
        await insertSeedEntries(tx, orgId, plan, { start, end: Math.min(plan.audit, start + AUDIT_BATCH) })
      }
      await rebuildTables(tx, orgId, [AUDIT_ROLLUP])
    })
  } catch (error) {
    if (codeOf(error) === '23505') {
      throw new OperatorError(`entries of seed ${plan.seed} are there already: choose another with --seed`)
    }
    throw error
  }
  await refreshStatistics(sql, 'audit')
}
