// Finds in the background the tickets of sessions that wait for it (ticket_waiting). A step that is killed has changed nothing;
// of two instances at the same sessions the second one changes nothing.

import { messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { inOrganization, lockOrganization } from '../../database/org-lock.ts'
import { counting } from '../../database/rollups.ts'
import { deleteOfSessions } from '../../database/rows.ts'
import { TICKET_ROLLUP } from './rollup.ts'
import { findTickets, insertTickets, readTicketTexts } from './ticket-write.ts'
import { listWaitingOrganizations } from './walk.ts'

/** Sessions of a step, and the time after which it searches no more of them. */
const STEP = { sessions: 500, ms: 200 }
/** Steps begin for so long at each call, which the worker repeats every second: deliveries have the rest. */
const BEGIN_MS = 600

/** Does steps for a while, each for one of the organizations that have sessions waiting. Never rejects: the next call repeats what failed. */
export async function findWaitingTickets(sql: Sql, log: Log): Promise<void> {
  const until = performance.now() + BEGIN_MS
  try {
    while (performance.now() < until) {
      const orgIds = await listWaitingOrganizations(sql, 'ticket_waiting')
      const orgId = orgIds[Math.floor(Math.random() * orgIds.length)]
      if (orgId === undefined) return
      await step(sql, orgId)
    }
  } catch (error) {
    log.rarely('warn', 'tickets wait; trying again', { error: messageOf(error) })
  }
}

/** The texts are searched without the organization's lock, so that syncs do not wait. */
async function step(sql: Sql, orgId: string): Promise<void> {
  const rows = await sql<{ session_id: string }[]>`
    select w.session_id
    from ticket_waiting w
    where w.org_id = ${orgId}
    order by w.session_id
    limit ${STEP.sessions}`
  const ids = rows.map(({ session_id }) => session_id)
  const texts = await readTicketTexts(sql, orgId, sql`and u.session_id = any(${ids}::text[])`)
  const inTime = await findTickets(texts, { leftMs: STEP.ms })
  // a session may have more texts than a step has time for
  const tickets = inTime.length > 0 ? inTime : await findTickets(texts.slice(0, 1))
  const before = new Map(texts.map((each, index) => [each.session_id, { each, tickets: tickets[index] }]))
  const store = async (tx: ISql) => {
    const waiting = tx`
      and u.session_id in (
        select w.session_id
        from ticket_waiting w
        where w.org_id = ${orgId}
          and w.session_id = any(${ids}::text[])
      )`
    const now = await readTicketTexts(tx, orgId, waiting)
    // one whose texts, pattern or tickets are others now is left to the next step
    const done = now.flatMap((each) => {
      const { each: read, tickets } = before.get(each.session_id) ?? {}
      return tickets !== undefined && Bun.deepEquals(read, each) ? [{ each, tickets }] : []
    })
    const changed = done.filter(({ each, tickets }) => !Bun.deepEquals(each.stored ?? [], tickets))
    const idsOf = (some: typeof done) => some.map(({ each }) => each.session_id)
    if (changed.length > 0) await lockOrganization(tx, orgId)
    const of = tx`s.session_id = any(${idsOf(changed)}::text[])`
    if (changed.length > 0)
      await counting(tx, orgId, [TICKET_ROLLUP], { before: of, after: of, isLarge: true }, async () => {
        await deleteOfSessions(tx, orgId, idsOf(changed), 'session_tickets')
        const sessions = changed.map(({ each }) => each)
        const tickets = changed.map(({ tickets }) => tickets)
        await insertTickets(tx, orgId, sessions, tickets)
      })
    await deleteOfSessions(tx, orgId, idsOf(done), 'ticket_waiting')
  }
  // open pages are told only where tickets change
  await inOrganization(sql, orgId, store, 'note')
}
