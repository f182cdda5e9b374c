import type { ISql, Sql } from '../db/client.ts'
import type { Pricer } from '../scoring/prices.ts'
import { cleanRecords } from '../scoring/record-secrets.ts'
import { createPause } from './pause.ts'
import { type PreparedSession, prepareSession } from './prepare.ts'
import type { SyncRecord } from './records.ts'
import { checkRecords } from './validate.ts'
import { writeBudgets } from './write-budgets.ts'
import { writeMembers } from './write-members.ts'
import { type Tally, writeSessions } from './write-sessions.ts'

export interface SyncDeps {
  sql: Sql
  now: () => Date
  storeContent: boolean
  pricer: () => Promise<Pricer>
}

export interface SyncResult extends Tally {
  received: number
}

/**
 * Writes a batch of records for one organization, all or nothing, in one transaction. The same batch again changes
 * nothing. Throws VALIDATION_ERROR naming `records[<index>].<field>`.
 */
export async function writeRecords(
  deps: SyncDeps,
  orgId: string,
  sent: readonly unknown[],
): Promise<SyncResult> {
  const records = await checkRecords(sent)
  const sessions = await prepareSessions(deps, records)
  const now = deps.now()
  const tallies = await deps.sql.begin(async (tx) => {
    await lockOrganization(tx, orgId)
    return [
      await writeMembers(tx, orgId, records),
      await writeBudgets(tx, orgId, records),
      await writeSessions(tx, orgId, sessions, now),
    ]
  })
  const sum = (pick: (tally: Tally) => number) => tallies.reduce((total, tally) => total + pick(tally), 0)
  return {
    received: records.length,
    created: sum((tally) => tally.created),
    updated: sum((tally) => tally.updated),
    unchanged: sum((tally) => tally.unchanged),
  }
}

async function prepareSessions(deps: SyncDeps, records: readonly SyncRecord[]): Promise<PreparedSession[]> {
  const pricer = await deps.pricer()
  const pause = createPause()
  const placed = [...records.entries()].flatMap(([index, record]) =>
    record.type === 'session' ? [{ index, record }] : [],
  )
  const clean = await cleanRecords(
    placed.map(({ record }) => record),
    pause,
  )
  const prepared: PreparedSession[] = []
  for (const [position, { record, findings }] of clean.entries()) {
    const options = { pricer, storeContent: deps.storeContent, findings }
    prepared.push(prepareSession(record, `records[${placed[position]?.index}]`, options))
    await pause()
  }
  return prepared
}

/**
 * Waits for and holds, to the end of the transaction, the right to write the organization's data: writers of one
 * organization queue here, so that every later statement sees all that was committed before it.
 */
export async function lockOrganization(tx: ISql, orgId: string): Promise<void> {
  const rows = await tx`
    select l.org_id
    from org_locks l
    where l.org_id = ${orgId}
    for update`
  if (rows.length === 0) throw new Error(`organization ${orgId} has no lock`)
}
