import type { ISql } from '../../database/client.ts'
import { unnest } from '../../database/rows.ts'
import type { PullRequestId } from '../usage/pull-request-write.ts'
import type { Lifecycle } from './prepare.ts'

/** The state of a pull request, as its repository's host reported it. */
export interface PullRequestEvent extends PullRequestId {
  /** Time of the host's last change: an earlier event that comes later changes nothing. */
  updatedAt: string
  title: string
  branch: string | null
  lifecycle: Omit<Lifecycle, 'author_email'>
}

/** Keeps the event unless a later one, or the same, is known; returns whether it is kept. Needs the organization's lock. */
export async function keepEvent(tx: ISql, orgId: string, event: PullRequestEvent): Promise<boolean> {
  const { repo, pr_number, updatedAt, ...told } = event
  const { count } = await tx`
    insert into pr_events as e (org_id, repo, pr_number, updated_at, told)
    values (${orgId}, ${repo}, ${pr_number}, ${updatedAt}, ${JSON.stringify(told)}::text::json)
    on conflict (org_id, repo, pr_number) do update set
      updated_at = excluded.updated_at,
      told = excluded.told
    where e.updated_at < excluded.updated_at`
  return count > 0
}

export async function findEvents(
  sql: ISql,
  orgId: string,
  pullRequests: readonly PullRequestId[],
): Promise<PullRequestEvent[]> {
  if (pullRequests.length === 0) return []
  const rows = await sql<(PullRequestId & { updatedAt: Date; told: Omit<PullRequestEvent, 'updatedAt'> })[]>`
    select e.repo, e.pr_number, e.updated_at as "updatedAt", e.told
    from ${unnest(sql, pullRequests, { repo: 'text', pr_number: 'integer' })}
    join pr_events e
      on e.org_id = ${orgId}
      and e.repo = n.repo
      and e.pr_number = n.pr_number`
  return rows.map(({ told, updatedAt, ...row }) => ({ ...told, ...row, updatedAt: updatedAt.toISOString() }))
}
