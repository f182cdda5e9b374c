// Compares the tickets of sessions with their texts, for `doctor`.

import type { ISql } from '../../database/client.ts'
import type { ProgramTable } from '../../database/derived-tables.ts'
import { findTickets, readAllTexts, writeAllTickets } from './ticket-write.ts'

/** The first session whose tickets are not those of its texts, or which is gone. */
async function findDiffering(
  sql: ISql,
  orgId: string,
  onRead?: (sessions: number) => void,
): Promise<{ session_id: string } | undefined> {
  const session_id = (await findOrphan(sql, orgId)) ?? (await findWrong(sql, orgId, onRead))
  return session_id === undefined ? undefined : { session_id }
}

async function findWrong(
  sql: ISql,
  orgId: string,
  onRead?: (sessions: number) => void,
): Promise<string | undefined> {
  for await (const sessions of readAllTexts(sql, orgId)) {
    onRead?.(sessions.length)
    const tickets = await findTickets(sessions)
    const wrong = sessions.find(({ stored }, index) => !Bun.deepEquals(stored ?? [], tickets[index]))
    if (wrong !== undefined) return wrong.session_id
  }
  return undefined
}

async function findOrphan(sql: ISql, orgId: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select t.session_id as id
    from session_tickets t
    where t.org_id = ${orgId}
      and not exists (
        select
        from session_usage u
        where u.org_id = ${orgId}
          and u.session_id = t.session_id
          and u.is_main
      )
    order by t.session_id
    limit 1`
  return row?.id
}

/** The tickets of sessions, but of those that wait for it: JavaScript finds them, whose regular expressions PostgreSQL reads in another way. */
export const TICKETS: ProgramTable = {
  name: 'session_tickets',
  findDiffering,
  rebuild: writeAllTickets,
  describe: ({ session_id }) => `tickets of ${session_id}`,
}
