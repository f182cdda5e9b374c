import { createPause } from '../../accounts/organizations/pause.ts'
import { ticketFinder } from '../../accounts/organizations/tickets.ts'
import { validationError } from '../../base/errors.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { rebuildTables } from '../../database/derived-tables.ts'
import { pagesOf, unnest } from '../../database/rows.ts'
import { TICKET_ROLLUP } from './rollup.ts'

/** A session, and what its tickets are found in. */
interface Texts {
  session_id: string
  branch: string
  /** Branches and titles of its pull requests. */
  texts: (string | null)[] | null
  /** The form of the organization's tickets, and what is none. */
  pattern: string | null
  ignored: string[] | null
}

type Ticket = [ticket: string, nth: number, parts: number]

/** `only`: conditions on `u`; `more`: columns. */
const readTexts = <More = object>(sql: ISql, orgId: string, only: Fragment, more = sql``) => sql<
  (Texts & More)[]
>`
  select
    u.session_id, u.branch, o.ticket_pattern as pattern, o.ticket_ignore as ignored,
    (
      select array_agg(t.text)
      from pr_sessions s
      join pr_risks k
        on k.org_id = ${orgId}
        and k.repo = s.repo
        and k.pr_number = s.pr_number
      cross join lateral unnest(array[k.origin->>'branch', k.pr_title]) as t (text)
      where s.org_id = ${orgId}
        and s.session_id = u.session_id
    ) as texts
    ${more}
  from session_usage u
  join organizations o on o.org_id = ${orgId}
  where u.org_id = ${orgId}
    and u.is_main
    ${only}`

const BATCH = 5_000

interface TextsAndTickets extends Texts {
  /** Its tickets as they are stored, each with `nth` and `parts`. */
  stored: Ticket[] | null
}

/** Reads all sessions, some at a time. */
export function readAllTexts(sql: ISql, orgId: string): AsyncGenerator<TextsAndTickets[]> {
  const stored = sql`,
    (
      select json_agg(json_build_array(t.ticket, t.nth, t.parts) order by t.nth)
      from session_tickets t
      where t.org_id = ${orgId}
        and t.session_id = u.session_id
    ) as stored`
  return pagesOf(BATCH, { session_id: '' }, async (after): Promise<TextsAndTickets[]> => {
    const page = sql`
      and u.session_id > ${after.session_id}
      order by u.session_id
      limit ${BATCH}`
    return await readTexts<TextsAndTickets>(sql, orgId, page, stored)
  })
}

/** The tickets of each of these sessions, which one statement has read. Others work meanwhile. `onSpent` is told its time. */
export async function findTickets(
  sessions: readonly Texts[],
  onSpent: (ms: number) => void = () => {},
): Promise<Ticket[][]> {
  const { pattern = null, ignored = null } = sessions[0] ?? {}
  const ticketsIn = ticketFinder(pattern, ignored)
  const pause = createPause()
  const found: Ticket[][] = []
  for (const { branch, texts } of sessions) {
    await pause()
    const startedAt = performance.now()
    const tickets = ticketsIn([branch, ...(texts ?? [])])
    onSpent(performance.now() - startedAt)
    found.push(tickets.map((ticket, index, all) => [ticket, index + 1, all.length]))
  }
  return found
}

/** Finds the tickets of these sessions, which have none. Needs the organization's lock, and pr_sessions to be up to date. */
export async function writeTickets(tx: ISql, orgId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const only = tx`and u.session_id = any(${[...ids]}::text[])`
  await insertTickets(tx, orgId, await readTexts(tx, orgId, only))
}

async function insertTickets(
  tx: ISql,
  orgId: string,
  sessions: readonly Texts[],
  onSpent?: (ms: number) => void,
): Promise<void> {
  const found = await findTickets(sessions, onSpent)
  const rows = sessions.flatMap(({ session_id }, index) =>
    (found[index] ?? []).map(([ticket, nth, parts]) => ({ session_id, ticket, nth, parts })),
  )
  if (rows.length === 0) return
  await tx`
    insert into session_tickets (org_id, session_id, ticket, nth, parts)
    select ${orgId}, n.*
    from ${unnest(tx, rows, { session_id: 'text', ticket: 'text', nth: 'integer', parts: 'integer' })}`
}

/**
 * Finds the tickets of all sessions again: after the pattern has changed. Throws VALIDATION_ERROR for one that takes longer
 * than `mostMs`.
 */
export async function writeAllTickets(tx: ISql, orgId: string, mostMs = Infinity): Promise<void> {
  let spentMs = 0
  const spend = (ms: number) => {
    spentMs += ms
    if (spentMs > mostMs)
      throw validationError({
        field: 'ticket_pattern',
        message: 'takes too long for the texts that are stored',
      })
  }
  await tx`
    delete from session_tickets t
    where t.org_id = ${orgId}`
  for await (const sessions of readAllTexts(tx, orgId)) await insertTickets(tx, orgId, sessions, spend)
  await rebuildTables(tx, orgId, [TICKET_ROLLUP])
}
