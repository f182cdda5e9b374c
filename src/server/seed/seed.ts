// Writes made-up records as a sync does, for `seed`: the same again changes nothing. `onProgress` gets how many are written.

import { type Actor, SYSTEM } from '../../accounts/audit-log/append.ts'
import type { SyncRecord } from '../../analysis/records/records.ts'
import { MAX_RECORDS } from '../sync/prepare.ts'
import { type SyncDeps, writeRecords } from '../sync/write.ts'
import { generateCommits } from './commits.ts'
import { batchesOf, generateSessions, type SeedPlan } from './generate.ts'
import { refreshStatistics } from './queries.ts'
import { generateAudit, generateRisks } from './risks.ts'

/** Pull requests come after the sessions of their branches. */
function* recordsOf(plan: SeedPlan): Generator<SyncRecord> {
  yield* generateSessions(plan)
  yield* generateCommits(plan)
  yield* generateRisks(plan)
  yield* generateAudit(plan)
}

export async function seed(
  deps: SyncDeps,
  orgId: string,
  plan: SeedPlan,
  { actor = SYSTEM, onProgress = () => {} }: { actor?: Actor; onProgress?: (done: number) => void } = {},
): Promise<void> {
  let done = 0
  let last: Promise<unknown> = Promise.resolve()
  for (const records of batchesOf(recordsOf(plan), MAX_RECORDS)) {
    const before = last
    last = writeRecords(deps, orgId, records, actor, {}, before)
    // thrown when the next batch is written, or at the end
    last.catch(() => {})
    await before
    onProgress(done)
    done += records.length
  }
  await last
  await refreshStatistics(deps.sql)
}
