import { type Actor, recordEntry } from '../../accounts/audit-log/append.ts'
import { withEstimates } from '../../analysis/fragments/turn-prices.ts'
import { packFragments, unpackFragments } from '../../analysis/records/fragments.ts'
import type { SessionRecord } from '../../analysis/records/session.ts'
import type { Pricer } from '../../analysis/scoring/prices.ts'
import { inOrganization } from '../../database/org-lock.ts'
import { type PreparedSession, prepareSession } from '../../features/sessions/prepare.ts'
import {
  findUnchanged,
  findUnpriced,
  type UnpricedSession,
} from '../../features/sessions/unpriced-queries.ts'
import { firstIds } from './audit-entries.ts'
import { announce, type SyncDeps, writeSessionsAndCounts } from './write.ts'

/**
 * Prices tokens of the organization's sessions whose price was not known when they were written, by the prices of now; what
 * has a price keeps it. Returns how many sessions changed. Sessions are read and priced some at a time before the
 * organization is locked for their writing; one that is written meanwhile is left as it then is.
 */
export async function repriceSessions(
  deps: Pick<SyncDeps, 'sql' | 'now' | 'pricer'>,
  orgId: string,
  actor: Actor,
): Promise<number> {
  const pricer = await deps.pricer()
  let repriced = 0
  let last = ''
  for (;;) {
    const unpriced = await findUnpriced(deps.sql, orgId, last)
    const end = unpriced.at(-1)
    if (end === undefined) return repriced
    last = end.id
    // content is stored here already, whatever the settings of this command
    const options = { pricer, storeContent: true }
    const priced = unpriced.flatMap(({ line, id }) => {
      const record = JSON.parse(line) as SessionRecord
      const session = prepareSession(record, id, options)
      return session.unpriced_tokens === record.unpriced_tokens
        ? []
        : [prepareSession(withPricedFragments(record, pricer), id, options)]
    })
    if (priced.length > 0) repriced += await writeRepriced(deps, orgId, unpriced, priced, { actor, pricer })
  }
}

/** The record with the prices in its parts too: what comes later is composed from these, by whoever knows no price. */
function withPricedFragments(record: SessionRecord, pricer: Pricer): SessionRecord {
  const parts = unpackFragments(record.parts ?? '')
  const packed = parts && packFragments(withEstimates(parts, pricer))
  return packed === undefined ? record : { ...record, parts: packed }
}

async function writeRepriced(
  { sql, now }: Pick<SyncDeps, 'sql' | 'now'>,
  orgId: string,
  unpriced: readonly UnpricedSession[],
  priced: readonly PreparedSession[],
  { actor, pricer }: { actor: Actor; pricer: Pricer },
): Promise<number> {
  return await inOrganization(sql, orgId, async (tx) => {
    const unchanged = await findUnchanged(tx, orgId, unpriced)
    const sessions = priced.filter(({ id }) => unchanged.has(id))
    const written = await writeSessionsAndCounts(tx, orgId, sessions, {
      now: now(),
      reassignment: { isAsked: false, isMembersKey: false },
      restore: false,
      pricer,
      storeContent: true,
    })
    if (written.updated === 0) return 0
    const details = { updated: written.updated, ids: firstIds(written.updatedIds) }
    await recordEntry(tx, orgId, actor, 'session.repriced', details)
    await announce(tx, orgId, now(), { session: written })
    return written.updated
  })
}
