// Sums of pull requests and of the parts of sessions in them, for GET /v1/outcomes. All writers need the organization's lock.

import type { Fragment, ISql } from '../../database/client.ts'
import type { OrgId } from '../../database/derived-tables.ts'
import { addDifference } from '../../database/rollups.ts'
import { unnest } from '../../database/rows.ts'
import { countsOf, factRollup, measures } from './fact-rollup.ts'

const SUMS = ['open', 'merged', 'closed', 'linked_cost', 'linked_of_cost']

const STATES = {
  open: "(k.state = 'open')::integer",
  merged: "(k.state = 'merged')::integer",
  closed: "(k.state = 'closed')::integer",
}

export interface CountedPullRequest {
  repo: string
  pr_number: number
  state: string
  project: string
  member: string
  /** When it was merged or closed, else opened. */
  day: string
}

const storedPullRequests = (sql: ISql, orgId: OrgId, only: Fragment) => sql`
  select
    k.repo, k.pr_number, k.state, coalesce(k.origin->>'project', '') as project, coalesce(k.author_email, '') as member, k.day
  from pr_risks k
  where k.org_id = ${orgId}
    ${only}`

/** Parts `s` of sessions in pull requests `k`: their cost under these, and each pull request under its agents. */
const partFacts = (sql: ISql, parts: Fragment, pullRequests: Fragment, onlyFirst: Fragment) => sql`
  select
    k.day, k.project, k.repo, k.member, s.agent, null::boolean as by_agent,
    ${measures(sql, SUMS, { linked_cost: 's.part' })}
  from (${parts}) s
  join (${pullRequests}) k on k.repo = s.repo and k.pr_number = s.pr_number
  union all
  select k.day, k.project, k.repo, k.member, k.agent, true, ${measures(sql, SUMS, STATES)}
  from (
    select distinct k.day, k.project, k.repo, k.pr_number, k.member, k.state, s.agent
    from (${parts}) s
    join (${pullRequests}) k on k.repo = s.repo and k.pr_number = s.pr_number
    where true ${onlyFirst}
  ) k`

const pullRequestFacts = (sql: ISql, pullRequests: Fragment) => sql`
  select k.day, k.project, k.repo, k.member, '' as agent, false as by_agent, ${measures(sql, SUMS, STATES)}
  from (${pullRequests}) k`

const sessionFacts = (sql: ISql, parts: Fragment) => sql`
  select
    s.day, s.project, '' as repo, s.member, s.agent, null::boolean as by_agent,
    ${measures(sql, SUMS, { linked_of_cost: 's.part' })}
  from (${parts}) s`

const storedParts = (sql: ISql, orgId: OrgId, only: Fragment) => sql`
  select s.repo, s.pr_number, s.part, s.project, s.member, s.agent, s.day
  from pr_sessions s
  where s.org_id = ${orgId}
    ${only}`

export const OUTCOME_ROLLUP = factRollup({
  name: 'outcome_rollups',
  // a row of sessions has the repository ''; a pull request's project is '' where its record names none
  keys: ['project', 'repo', 'member', 'agent'],
  sums: SUMS,
  facts: (sql, orgId) => {
    const [parts, pullRequests] = [storedParts(sql, orgId, sql``), storedPullRequests(sql, orgId, sql``)]
    return sql`
      ${pullRequestFacts(sql, pullRequests)}
      union all
      ${sessionFacts(sql, parts)}
      union all
      ${partFacts(sql, parts, pullRequests, sql``)}`
  },
})

/** The counts of what is stored of the sessions in pull requests: subtracted before they are detached, added when attached. */
export const countsOfParts = (sql: ISql, orgId: string, ids: readonly string[]): Fragment => {
  const parts = storedParts(sql, orgId, sql`and s.session_id = any(${[...ids]}::text[])`)
  const isFirst = sql`
    and not exists (
      select
      from pr_sessions o
      where o.org_id = ${orgId}
        and o.repo = k.repo
        and o.pr_number = k.pr_number
        and o.agent = s.agent
        and o.session_id <> all(${[...ids]}::text[])
    )`
  const facts = sql`
    ${sessionFacts(sql, parts)}
    union all
    ${partFacts(sql, parts, storedPullRequests(sql, orgId, sql``), isFirst)}`
  return countsOf(sql, OUTCOME_ROLLUP, facts)
}

/** These pull requests as they are counted now, for `recountPullRequests` after a change. */
export async function findCounted(
  sql: ISql,
  orgId: string,
  pullRequests: readonly { repo: string; pr_number: number }[],
): Promise<CountedPullRequest[]> {
  if (pullRequests.length === 0) return []
  return await sql<CountedPullRequest[]>`
    select k.repo, k.pr_number, k.state, k.project, k.member, k.day::text as day
    from ${unnest(sql, pullRequests, { repo: 'text', pr_number: 'integer' })}
    join (${storedPullRequests(sql, orgId, sql``)}) k on k.repo = n.repo and k.pr_number = n.pr_number`
}

/** Replaces pull requests in the sums, with the stored parts of sessions in them. */
export async function recountPullRequests(
  tx: ISql,
  orgId: string,
  before: readonly CountedPullRequest[],
  after: readonly CountedPullRequest[],
): Promise<void> {
  const parts = storedParts(tx, orgId, tx``)
  const counts = (rows: readonly CountedPullRequest[]) => {
    const ids = tx`
      select n.*
      from ${unnest(tx, rows, {
        ...({ repo: 'text', pr_number: 'integer', state: 'text', project: 'text', member: 'text' } as const),
        day: 'date',
      })}`
    const facts = tx`${pullRequestFacts(tx, ids)} union all ${partFacts(tx, parts, ids, tx``)}`
    return rows.length === 0 ? undefined : countsOf(tx, OUTCOME_ROLLUP, facts)
  }
  await addDifference(tx, orgId, OUTCOME_ROLLUP, { before: counts(before), after: counts(after) })
}

/** Does `move`, which gives pull requests other days, and counts those that it moves on these. Needs the organization's lock. */
export async function movePullRequests(tx: ISql, orgId: string, move: () => Promise<void>): Promise<void> {
  const list = () => tx<CountedPullRequest[]>`
    select k.repo, k.pr_number, k.state, k.project, k.member, k.day::text as day
    from (${storedPullRequests(tx, orgId, tx``)}) k
    order by k.repo, k.pr_number`
  const before = await list()
  await move()
  const after = await list()
  const isMoved = (_: CountedPullRequest, index: number) => before[index]?.day !== after[index]?.day
  await recountPullRequests(tx, orgId, before.filter(isMoved), after.filter(isMoved))
}

/** Moves the parts of sessions in pull requests, with their sums, to the days of their sessions. Needs the organization's lock. */
export async function moveParts(tx: ISql, orgId: string): Promise<void> {
  const counts = (day: 'p' | 's') => {
    const parts = tx`
      select p.part, p.project, p.member, p.agent, ${tx(day)}.day
      from pr_sessions p
      join sessions s
        on s.org_id = ${orgId}
        and s.id = p.session_id
      where p.org_id = ${orgId}
        and p.day <> s.day`
    return countsOf(tx, OUTCOME_ROLLUP, sessionFacts(tx, parts))
  }
  await addDifference(tx, orgId, OUTCOME_ROLLUP, { before: counts('p'), after: counts('s') })
  await tx`
    update pr_sessions p
    set day = s.day
    from sessions s
    where p.org_id = ${orgId}
      and s.org_id = ${orgId}
      and s.id = p.session_id
      and p.day <> s.day`
}
