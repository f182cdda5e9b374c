import type { ISql } from '../db/client.ts'
import { unnest } from '../db/rows.ts'
import { ticketFinder } from '../organizations/tickets.ts'

interface Texts {
  session_id: string
  branch: string
  /** Branches and titles of its pull requests. */
  texts: (string | null)[] | null
}

/** Finds the tickets of these sessions, which have none. Needs the organization's lock, and pr_sessions to be up to date. */
export async function writeTickets(tx: ISql, orgId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const [organization] = await tx<{ pattern: string | null; ignored: string[] | null }[]>`
    select o.ticket_pattern as pattern, o.ticket_ignore as ignored
    from organizations o
    where o.org_id = ${orgId}`
  const ticketsIn = ticketFinder(organization?.pattern ?? null, organization?.ignored ?? null)
  const sessions = await tx<Texts[]>`
    select
      u.session_id, u.branch,
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
    from session_usage u
    where u.org_id = ${orgId}
      and u.session_id = any(${[...ids]}::text[])
      and u.is_main`
  const rows = sessions.flatMap(({ session_id, branch, texts }) => {
    const tickets = ticketsIn([branch, ...(texts ?? [])])
    return tickets.map((ticket, index) => ({ session_id, ticket, nth: index + 1, parts: tickets.length }))
  })
  if (rows.length === 0) return
  await tx`
    insert into session_tickets (org_id, session_id, ticket, nth, parts)
    select ${orgId}, n.*
    from ${unnest(tx, rows, { session_id: 'text', ticket: 'text', nth: 'integer', parts: 'integer' })}`
}

const BATCH = 5_000

/** Finds the tickets of all sessions again: after the pattern has changed. */
export async function writeAllTickets(tx: ISql, orgId: string): Promise<void> {
  await tx`
    delete from session_tickets t
    where t.org_id = ${orgId}`
  let after = ''
  for (;;) {
    const rows = await tx<{ session_id: string }[]>`
      select u.session_id
      from session_usage u
      where u.org_id = ${orgId}
        and u.session_id > ${after}
        and u.is_main
      order by u.session_id
      limit ${BATCH}`
    await writeTickets(
      tx,
      orgId,
      rows.map(({ session_id }) => session_id),
    )
    const last = rows.at(-1)
    if (last === undefined || rows.length < BATCH) return
    after = last.session_id
  }
}
