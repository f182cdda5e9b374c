// Renames a project in all tables, joining one of the new name, in one transaction. Throws OperatorError when nothing has
// the old one.

import { type Actor, recordEntry } from '../../accounts/audit-log/append.ts'
import { OperatorError } from '../../base/errors.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { lockHistory, lockOrganization } from '../../database/org-lock.ts'
import { moveRows, type Renaming, WITHOUT_PROJECT } from '../../database/rollups.ts'
import { renameInRules } from '../../features/alerts/rule-queries.ts'
import { renameInBudgets } from '../../features/budgets/write.ts'
import { renameInCommits } from '../../features/commits/write.ts'
import { renameInEffects } from '../../features/effects/effect-queries.ts'
import { updateFileRisks } from '../../features/security/file-risks.ts'
import { FINDING_ROLLUPS } from '../../features/security/finding-rollups.ts'
import { DIRECTORIES, SESSION_ROLLUPS } from '../../features/sessions/rollup.ts'
import { findCounted, recountPullRequests } from '../../features/usage/outcome-rollup.ts'
import { type PullRequestId, updateSharesOfProject } from '../../features/usage/pull-request-write.ts'
import { USAGE_ROLLUPS } from '../../features/usage/rollup.ts'

/** The rollups of sessions and their findings that have a row of each project. */
const ROLLUPS = [
  ...SESSION_ROLLUPS.filter(({ key }) => key.includes('project')),
  ...[DIRECTORIES, ...USAGE_ROLLUPS.filter(({ key }) => key.includes('project'))],
  ...FINDING_ROLLUPS,
]

export interface Renamed {
  sessions: number
  commits: number
  pull_requests: number
}

export async function renameProject(sql: Sql, orgId: string, actor: Actor, renaming: Renaming) {
  const noProject = () => new OperatorError(`there is no project ${JSON.stringify(renaming.from)}`)
  // in the sums these are not names
  if (renaming.from === '' || renaming.from === WITHOUT_PROJECT) throw noProject()
  return await sql.begin(async (tx) => {
    await lockHistory(tx, orgId)
    const commits = await renameInCommits(tx, orgId, renaming)
    await lockOrganization(tx, orgId)
    const pull_requests = await renameInPullRequests(tx, orgId, renaming)
    const sessions = await renameInSessions(tx, orgId, renaming)
    await renameInBudgets(tx, orgId, renaming)
    await renameInRules(tx, orgId, renaming)
    await renameInTable(tx, orgId, 'notes', renaming)
    await renameInEffects(tx, orgId, renaming)
    await updateSharesOfProject(tx, orgId, renaming.to)
    const renamed = { sessions, commits, pull_requests }
    if (sessions + commits + pull_requests === 0) throw noProject()
    await recordEntry(tx, orgId, actor, 'project.renamed', { ...renaming, ...renamed })
    return renamed
  })
}

/** Renames the project of pull requests; of those that name none it is their repository's name, with or without its owner. */
async function renameInPullRequests(tx: ISql, orgId: string, { from, to }: Renaming): Promise<number> {
  const renamed = await tx<PullRequestId[]>`
    select k.repo, k.pr_number
    from pr_risks k
    where k.org_id = ${orgId}
      and ${from} = any (k.projects)`
  const before = await findCounted(tx, orgId, renamed)
  await tx`
    update pr_risks
    -- Citus refuses json_build_object of columns in an update
    set origin = (
      '{"branch": null, "commits": []}'::jsonb || coalesce(origin::jsonb, '{}') || jsonb_build_object('project', ${to}::text)
    )::json
    where org_id = ${orgId}
      and ${from} = any (projects)`
  await recountPullRequests(tx, orgId, before, await findCounted(tx, orgId, renamed))
  return renamed.length
}

async function renameInTable(tx: ISql, orgId: string, table: string, { from, to }: Renaming): Promise<void> {
  await tx`
    update ${tx(table)}
    set project = ${to}
    where org_id = ${orgId}
      and project = ${from}`
}

/** Renames the project of sessions with what they used and their findings, and moves their sums. */
async function renameInSessions(tx: ISql, orgId: string, renaming: Renaming): Promise<number> {
  const { from, to } = renaming
  // the hash includes the project: without one the session is stored again the next time that it is sent
  const { count } = await tx`
    update sessions
    set project = ${to}, content_hash = ''
    where org_id = ${orgId}
      and project = ${from}`
  if (count === 0) return 0
  for (const table of ['session_usage', 'session_facets', 'findings'])
    await renameInTable(tx, orgId, table, renaming)
  for (const each of ROLLUPS) await moveRows(tx, orgId, each, 'project', [renaming])
  const files = await tx<{ file: string; file_key: string }[]>`
    select r.file, encode(r.file_key, 'hex') as file_key
    from file_risks r
    where r.org_id = ${orgId}
      and r.project = ${from}`
  const moved = files.flatMap((file) => [from, to].map((project) => ({ ...file, project })))
  await updateFileRisks(tx, orgId, moved)
  return count
}
