// Divides by day, in the background, the sessions that were stored before usage was by day. After each step the sums are
// those of the usage. No alert is looked at before an organization's last step, which tells nothing of what has moved.

import type { Pricer } from '../../analysis/scoring/prices.ts'
import { messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { inOrganization } from '../../database/org-lock.ts'
import { storeStates } from '../../features/alerts/look-at-organization.ts'
import { noteExceededBudgets } from '../../features/budgets/alert-write.ts'
import { divideNext, endWalk, listWaitingOrganizations } from '../../features/usage/walk.ts'

/** Sessions of a step, for which writers of the organization wait. */
const STEP = 100
/** Steps begin for so long at each call, which the worker repeats every second: deliveries have the rest. */
const BEGIN_MS = 600

/** Does steps for a while. Never rejects: the next call repeats what failed. */
export async function walkUsage(
  sql: Sql,
  pricer: () => Promise<Pricer>,
  log: Log,
  now: Date,
  beginMs = BEGIN_MS,
): Promise<void> {
  const until = performance.now() + beginMs
  try {
    for (const orgId of await listWaitingOrganizations(sql, 'usage_walks')) {
      let isAll = false
      do isAll = await step(sql, orgId, await pricer(), now)
      while (!isAll && performance.now() < until)
      if (performance.now() >= until) return
    }
  } catch (error) {
    log.rarely('warn', 'sessions are not divided by day yet; trying again', { error: messageOf(error) })
  }
}

/** Divides the next sessions of the organization; returns whether that was all. */
const step = (sql: Sql, orgId: string, pricer: Pricer, now: Date): Promise<boolean> =>
  inOrganization(sql, orgId, async (tx: ISql) => {
    if ((await divideNext(tx, orgId, pricer, STEP)) > 0) return false
    await endWalk(tx, orgId)
    await noteExceededBudgets(tx, orgId)
    await storeStates(tx, orgId, now)
    return true
  })
