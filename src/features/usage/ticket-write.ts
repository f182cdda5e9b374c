// Finds and stores tickets of sessions: writers search texts for a short time, the rest waits for the worker
// (ticket-steps.ts).

import { createPause } from '../../base/timing.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { type ProgramTable, rebuildTables } from '../../database/derived-tables.ts'
import { deleteFrom, insert, pagesOf } from '../../database/rows.ts'
import { TICKET_ROLLUP } from './rollup.ts'
import { SEARCHED_LENGTH, ticketFinder } from './tickets.ts'

type Ticket = [ticket: string, nth: number, parts: number]

export interface Texts {
  session_id: string
  branch: string
  /** Branches and titles of its pull requests. */
  texts: string[] | null
  /** The form of the organization's tickets, and what is none. */
  pattern: string | null
  ignored: string[] | null
  /** Its tickets as they are stored, each with `nth` and `parts`. */
  stored: Ticket[] | null
}

/** `only`: conditions on `u`. */
export const readTicketTexts = (sql: ISql, orgId: string, only: Fragment) => sql<Texts[]>`
  select
    u.session_id, left(u.branch, ${SEARCHED_LENGTH}) as branch, o.ticket_pattern as pattern, o.ticket_ignore as ignored,
    (
      select array_agg(distinct left(t.text, ${SEARCHED_LENGTH}))
      from pr_sessions s
      join pr_risks k
        on k.org_id = ${orgId}
        and k.repo = s.repo
        and k.pr_number = s.pr_number
      cross join lateral unnest(array[k.origin->>'branch', k.pr_title]) as t (text)
      where s.org_id = ${orgId}
        and s.session_id = u.session_id
        and t.text is not null
    ) as texts,
    (
      select json_agg(json_build_array(t.ticket, t.nth, t.parts) order by t.nth)
      from session_tickets t
      where t.org_id = ${orgId}
        and t.session_id = u.session_id
    ) as stored
  from session_usage u
  join organizations o on o.org_id = ${orgId}
  where u.org_id = ${orgId}
    and u.is_main
    ${only}`

const BATCH = 5_000

/** Reads all sessions whose tickets do not wait, some at a time. */
const readAllTexts = (sql: ISql, orgId: string): AsyncGenerator<Texts[]> =>
  pagesOf(BATCH, { session_id: '' }, async (after): Promise<Texts[]> => {
    const page = sql`
      and u.session_id > ${after.session_id}
      and not exists (
        select
        from ticket_waiting w
        where w.org_id = ${orgId}
          and w.session_id = u.session_id
      )
      order by u.session_id
      limit ${BATCH}`
    return await readTicketTexts(sql, orgId, page)
  })

/** Time that is left for searching. */
interface Budget {
  leftMs: number
}

/** The tickets of these sessions, of the first ones where the budget is spent. Others work meanwhile. */
export async function findTickets(sessions: readonly Texts[], budget: Budget = { leftMs: Infinity }) {
  const { pattern = null, ignored = null } = sessions[0] ?? {}
  const { matchesIn, ticketsOf } = ticketFinder(pattern, ignored)
  const pause = createPause()
  const tickets: Ticket[][] = []
  for (const { branch, texts } of sessions) {
    const matches: string[] = []
    for (const text of [branch, ...(texts ?? [])]) {
      if (budget.leftMs <= 0) return tickets
      await pause()
      const startedAt = performance.now()
      matches.push(...matchesIn(text))
      budget.leftMs -= performance.now() - startedAt
    }
    tickets.push(ticketsOf(matches).map((ticket, index, all) => [ticket, index + 1, all.length]))
  }
  return tickets
}

/** Time for searching in a transaction: 30,000 sessions take the default so long, and requests beside it are slower meanwhile. */
const TRANSACTION_MS = 500
const budgets = new WeakMap<ISql, Budget>()

/** Finds the tickets of these sessions, which have none. Needs the organization's lock, and pr_sessions to be up to date. */
export async function writeTickets(tx: ISql, orgId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await writeFound(
    tx,
    orgId,
    await readTicketTexts(tx, orgId, tx`and u.session_id = any(${[...ids]}::text[])`),
  )
}

async function writeFound(tx: ISql, orgId: string, sessions: readonly Texts[]): Promise<void> {
  const budget = budgets.get(tx) ?? { leftMs: TRANSACTION_MS }
  budgets.set(tx, budget)
  const tickets = await findTickets(sessions, budget)
  await insertTickets(tx, orgId, sessions, tickets)
  const left = sessions.slice(tickets.length)
  await insert(tx, orgId, 'ticket_waiting', left, { session_id: 'text' }, tx`on conflict do nothing`)
}

/** Stores what was found for the first of these sessions, which have no tickets. */
export async function insertTickets(
  tx: ISql,
  orgId: string,
  sessions: readonly Texts[],
  tickets: readonly Ticket[][],
): Promise<void> {
  const rows = sessions.flatMap(({ session_id }, index) =>
    (tickets[index] ?? []).map(([ticket, nth, parts]) => ({ session_id, ticket, nth, parts })),
  )
  const columns = { session_id: 'text', ticket: 'text', nth: 'integer', parts: 'integer' } as const
  await insert(tx, orgId, 'session_tickets', rows, columns)
}

/** Has the tickets of all sessions found again in the background: the pattern has changed. Needs the organization's lock. */
export async function letAllWait(tx: ISql, orgId: string): Promise<void> {
  await tx`
    insert into ticket_waiting (org_id, session_id)
    select u.org_id, u.session_id
    from session_usage u
    where u.org_id = ${orgId}
      and u.is_main
    on conflict do nothing`
}

/** Finds the tickets of all sessions again. */
async function writeAllTickets(tx: ISql, orgId: string): Promise<void> {
  await deleteFrom(tx, orgId, 'session_tickets')
  await deleteFrom(tx, orgId, 'ticket_waiting')
  for await (const sessions of readAllTexts(tx, orgId)) await writeFound(tx, orgId, sessions)
  await rebuildTables(tx, orgId, [TICKET_ROLLUP])
}

/** The first session whose tickets are not those of its texts, or which is gone. */
const findDiffering: ProgramTable['findDiffering'] = async (sql, orgId, onRead) => {
  const [orphan] = await sql<{ session_id: string }[]>`
    select t.session_id
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
  if (orphan !== undefined) return orphan
  for await (const sessions of readAllTexts(sql, orgId)) {
    onRead?.(sessions.length)
    const tickets = await findTickets(sessions)
    const wrong = sessions.find(({ stored }, index) => !Bun.deepEquals(stored ?? [], tickets[index]))
    if (wrong !== undefined) return { session_id: wrong.session_id }
  }
  return undefined
}

/** The tickets of sessions, but of those that wait for it: JavaScript finds them, whose regular expressions PostgreSQL reads in another way. */
export const TICKETS: ProgramTable = {
  name: 'session_tickets',
  findDiffering,
  rebuild: writeAllTickets,
  describe: ({ session_id }) => `tickets of ${session_id}`,
}
