// Keeps pr_sessions, which part of each session's cost belongs to which pull request: called by whoever changes sessions, pull
// requests, commits or members. All of these functions need the organization's lock.

import type { ISql } from '../../database/client.ts'
import { personOf } from '../../database/member-addresses.ts'
import { addDifference, counting } from '../../database/rollups.ts'
import { deleteOfSessions, unnest } from '../../database/rows.ts'
import { analyzeGrownTables } from '../../database/statistics.ts'
import { countsOfParts, OUTCOME_ROLLUP } from './outcome-rollup.ts'
import { updatePersons } from './person-write.ts'
import { days, pullRequestShares, RUNNING_DAYS } from './pull-request-queries.ts'
import { TICKET_ROLLUP } from './rollup.ts'
import { writeTickets } from './ticket-write.ts'

/** Sessions of one statement: some seconds at most. */
const BATCH = 5_000

/** Removes what the sessions belong to, and their tickets. The caller counts the tickets. */
export async function detachSessions(tx: ISql, orgId: string, ids: readonly string[]): Promise<void> {
  const before = countsOfParts(tx, orgId, ids)
  await addDifference(tx, orgId, OUTCOME_ROLLUP, { before, after: undefined })
  await deleteOfSessions(tx, orgId, ids, 'pr_sessions', 'session_tickets', 'ticket_waiting')
}

/** Adds what the sessions belong to, and their tickets; they must belong to nothing. The caller counts the tickets. */
export async function attachSessions(tx: ISql, orgId: string, ids: readonly string[]): Promise<void> {
  const [row] = await tx`
    select 1
    from pr_risks k
    where k.org_id = ${orgId}
    limit 1`
  if (row === undefined) return await writeTickets(tx, orgId, ids)
  const { count } = await tx`
    insert into pr_sessions (org_id, session_id, repo, pr_number, part, project, member, agent, day)
    select ${orgId}, p.*
    from (${pullRequestShares(tx, orgId, tx`and u.session_id = any(${[...ids]}::text[])`)}) p`
  if (count > 0) {
    await analyzeGrownTables(tx, ['pr_sessions'])
    const after = countsOfParts(tx, orgId, ids)
    await addDifference(tx, orgId, OUTCOME_ROLLUP, { before: undefined, after })
  }
  await writeTickets(tx, orgId, ids)
}

async function attachAgain(tx: ISql, orgId: string, sessions: readonly { session_id: string }[]) {
  for (let start = 0; start < sessions.length; start += BATCH) {
    const some = sessions.slice(start, start + BATCH).map(({ session_id }) => session_id)
    const of = tx`s.session_id = any(${some}::text[])`
    await counting(tx, orgId, [TICKET_ROLLUP], { before: of, after: of }, async () => {
      await detachSessions(tx, orgId, some)
      await attachSessions(tx, orgId, some)
    })
  }
}

/** A branch of a project, from which a pull request came. */
export interface Branch {
  head: string
  project: string
}

/** Identifies a pull request. */
export interface PullRequestId {
  repo: string
  pr_number: number
}

/** Changes besides those of sessions. */
interface OtherChanges {
  pullRequests?: readonly PullRequestId[]
  /** The former branches of the pull requests. */
  formerBranches?: readonly Branch[]
  /** Hashes of commits that were written. */
  commits?: readonly string[]
  /** Ids and addresses of members, also former ones. */
  members?: readonly string[]
}

/** The branches that these pull requests come from. */
export async function findBranches(sql: ISql, orgId: string, pullRequests: readonly PullRequestId[]) {
  if (pullRequests.length === 0) return []
  return await sql<Branch[]>`
    select distinct k.head, p.project
    from ${idRows(sql, pullRequests)}
    join pr_risks k
      on k.org_id = ${orgId}
      and k.repo = n.repo
      and k.pr_number = n.pr_number
    cross join lateral unnest(k.projects) as p (project)
    where k.head is not null`
}

const idRows = (sql: ISql, pullRequests: readonly PullRequestId[]) =>
  unnest(sql, pullRequests, { repo: 'text', pr_number: 'integer' })

/** Decides again who has the sessions, and what they belong to, that may be concerned by the changes. */
export async function updateShares(tx: ISql, orgId: string, changed: OtherChanges): Promise<void> {
  const { pullRequests = [], formerBranches = [], commits = [], members = [] } = changed
  if (pullRequests.length + commits.length + members.length === 0) return
  if (members.length > 0) await updatePersons(tx, orgId, members)
  const ids = await tx<PullRequestId[]>`
    select distinct g.repo, g.pr_number
    from pr_commits g
    where g.org_id = ${orgId}
      and g.sha = any(${[...commits]}::text[])`
  const all = [...pullRequests, ...ids]
  const branches = [...formerBranches, ...(await findBranches(tx, orgId, pullRequests))]
  const rows = await tx<{ session_id: string }[]>`
    with own_commits as materialized (
      select distinct m.project, m.author_email, m.committed_at
      from ${idRows(tx, all)}
      join pr_commits g
        on g.org_id = ${orgId}
        and g.repo = n.repo
        and g.pr_number = n.pr_number
      join pr_risks k
        on k.org_id = ${orgId}
        and k.repo = n.repo
        and k.pr_number = n.pr_number
      cross join lateral unnest(k.projects) as p (project)
      join commits m
        on m.org_id = ${orgId}
        and m.project = p.project
        and m.sha = g.sha
    ),
    authors as materialized (
      select m.author_email as address, ${personOf(tx, orgId, tx`m.author_email`)} as member
      from (select distinct m.author_email from own_commits m) m
    )
    select s.session_id
    from ${idRows(tx, all)}
    join pr_sessions s
      on s.org_id = ${orgId}
      and s.repo = n.repo
      and s.pr_number = n.pr_number
    union
    select l.session_id
    from ${idRows(tx, pullRequests)}
    join session_links l
      on l.org_id = ${orgId}
      and l.repo = n.repo
      and l.pr_number = n.pr_number
    union
    select u.session_id
    from ${unnest(tx, branches, { head: 'text', project: 'text' })}
    join session_usage u
      on u.org_id = ${orgId}
      and u.branch = n.head
      and u.project = n.project
      and u.is_main
    union
    select u.session_id
    from own_commits m
    join authors a on a.address = m.author_email
    join session_usage u
      on u.org_id = ${orgId}
      and u.member = a.member
      and u.project = m.project
      -- a day of any time zone, for the index
      and u.day >= (m.committed_at at time zone 'UTC')::date - ${RUNNING_DAYS + 1}::integer
      and u.day <= (m.committed_at at time zone 'UTC')::date + 1
      and u.created_at >= m.committed_at - ${days(tx, RUNNING_DAYS)}
      and u.created_at <= m.committed_at
      and u.ended_at >= m.committed_at
      and u.is_main
    union
    select u.session_id
    from session_usage u
    where u.org_id = ${orgId}
      and u.member = any(${[...members]}::text[])
      and u.is_main
      and exists (select from pr_risks k where k.org_id = ${orgId})`
  await attachAgain(tx, orgId, rows)
}

/** Decides again what all sessions of the project belong to. */
export async function updateSharesOfProject(tx: ISql, orgId: string, project: string): Promise<void> {
  const rows = await tx<{ session_id: string }[]>`
    select u.session_id
    from session_usage u
    where u.org_id = ${orgId}
      and u.project = ${project}
      and u.is_main`
  await attachAgain(tx, orgId, rows)
}
