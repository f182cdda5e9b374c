import type { ISql, Sql } from '../db/client.ts'
import { OperatorError } from '../errors.ts'
import type { Pricer } from '../scoring/prices.ts'
import { type PreparedSession, prepareSession } from '../sync/prepare.ts'
import { rebuildRollups } from '../sync/rollup-check.ts'
import { lockOrganization } from '../sync/write.ts'
import { generateSessions, type SeedPlan } from './generate.ts'
import { copySessions, hasSession, refreshStatistics } from './queries.ts'

/** Sessions held in memory at a time; one COPY each. */
const BATCH = 5_000

export interface SeedDeps {
  sql: Sql
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
    let done = 0
    let batch: PreparedSession[] = []
    const flush = async () => {
      if (batch.length > 0) await copySessions(tx, orgId, batch, scoredAt)
      done += batch.length
      batch = []
      onProgress(done)
    }
    for (const record of generateSessions(plan)) {
      if (done + batch.length === 0) await refuseSecondTime(tx, orgId, record.id)
      batch.push(prepareSession(record, record.id, { pricer, storeContent: false }))
      if (batch.length === BATCH) await flush()
    }
    await flush()
    await rebuildRollups(tx, orgId)
  })
  await refreshStatistics(deps.sql)
}

/** The ids of a seed are always the same; COPY would fail at the first. */
async function refuseSecondTime(tx: ISql, orgId: string, firstId: string): Promise<void> {
  if (await hasSession(tx, orgId, firstId)) {
    throw new OperatorError('sessions of this seed are there already: choose another with --seed')
  }
}
