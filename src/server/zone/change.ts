// Brings time zones that organizations asked for in force. One transaction computes all days and their sums again, beside reads,
// which see all of it or nothing. One that is killed has changed nothing, and the next call begins again.

import {
  askForZone,
  beginZone,
  CHANGE_AFTER_MS,
  findZone,
  listZoneChanges,
} from '../../accounts/organizations/zone-queries.ts'
import type { Pricer } from '../../analysis/scoring/prices.ts'
import { isTimeZone } from '../../base/dates.ts'
import { messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { rebuildTables } from '../../database/derived-tables.ts'
import { inOrganization, lockHistory, lockOrganization } from '../../database/org-lock.ts'
import { lookAtLast, storeStates } from '../../features/alerts/look-at-organization.ts'
import { noteExceededBudgets } from '../../features/budgets/alert-write.ts'
import { COMMIT_ROLLUP } from '../../features/commits/rollup.ts'
import { FINDING_ROLLUPS } from '../../features/security/finding-rollups.ts'
import { countSessions } from '../../features/sessions/export.ts'
import { FIGURES } from '../../features/sessions/rollup.ts'
import { moveParts, movePullRequests } from '../../features/usage/outcome-rollup.ts'
import { findWalked, moveUsage } from '../../features/usage/walk.ts'
import { LIMIT_DAYS } from '../../features/usage/windows-write.ts'
import { waitForEver, writeDays } from './days-queries.ts'

/** The sums that are computed again as a whole. */
const REBUILT = [FIGURES, COMMIT_ROLLUP, LIMIT_DAYS, ...FINDING_ROLLUPS]

interface Deps {
  sql: Sql
  pricer: () => Promise<Pricer>
  log: Log
  publicUrl: string | null
}

/** Brings into force what waits. Never rejects: the next call repeats what failed. */
export async function changeZones({ sql, log, ...deps }: Deps, now: Date): Promise<void> {
  try {
    for (const orgId of await listZoneChanges(sql, CHANGE_AFTER_MS)) {
      // the walk leaves sessions that are not divided yet
      if ((await findWalked(sql, orgId)) !== undefined) continue
      const startedAt = performance.now()
      const zone = await sql.begin((tx) => changeZone(tx, orgId, { ...deps, now }))
      const fields = { org_id: orgId, time_zone: zone, ms: Math.round(performance.now() - startedAt) }
      if (zone !== undefined) log.info('the time zone is changed', fields)
    }
  } catch (error) {
    log.rarely('warn', 'a time zone is not changed yet; trying again', { error: messageOf(error) })
  }
}

/** Changes the organization's time zone; undefined where another instance did. */
export async function changeZone(
  tx: ISql,
  orgId: string,
  { pricer, ...how }: Pick<Deps, 'pricer' | 'publicUrl'> & { now: Date },
): Promise<string | undefined> {
  await waitForEver(tx)
  await lockHistory(tx, orgId)
  await lockOrganization(tx, orgId)
  await lookAtLast(tx, orgId, how)
  const before = await findZone(tx, orgId)
  const zone = await beginZone(tx, orgId)
  if (zone === undefined) return undefined
  await movePullRequests(tx, orgId, () => writeDays(tx, orgId))
  await moveParts(tx, orgId)
  await moveUsage(tx, orgId, await pricer(), before)
  await rebuildTables(tx, orgId, REBUILT)
  await noteExceededBudgets(tx, orgId)
  await storeStates(tx, orgId, how.now, before)
  return zone
}

/** Gives an organization without sessions the time zone of the one whose records it imports. */
export async function importZone(
  { sql, ...deps }: Pick<Deps, 'sql' | 'pricer' | 'publicUrl'>,
  orgId: string,
  zone: string,
): Promise<void> {
  if (!isTimeZone(zone) || (await countSessions(sql, orgId)) > 0 || (await findZone(sql, orgId)) === zone)
    return
  await inOrganization(sql, orgId, (tx) => askForZone(tx, orgId, zone))
  // a server that runs remembers the one before
  await Bun.sleep(CHANGE_AFTER_MS)
  await sql.begin((tx) => changeZone(tx, orgId, { ...deps, now: new Date() }))
}
