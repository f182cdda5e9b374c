// Stores which lines of commits agents wrote, how many are left and whether on the default branch; renames projects in it.

import {
  type CommitAi,
  type CommitRecord,
  PROVENANCES,
  survivalProblem,
} from '../../analysis/records/commit.ts'
import type { SentRecord } from '../../analysis/records/records.ts'
import { validationError } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import { deleteFrom, replaced, unnest } from '../../database/rows.ts'

type AiRow = Pick<CommitRecord, 'project' | 'sha'> & { [Field in keyof CommitAi]: CommitAi[Field] | null } & {
  survival_14: number | null
  survival_30: number | null
  on_default_branch: boolean | null
}

export const commitKeyOf = ({ project, sha }: Pick<AiRow, 'project' | 'sha'>): string => `${project}\0${sha}`
const rankOf = ({ provenance }: Pick<AiRow, 'provenance'>): number =>
  provenance === null ? -1 : PROVENANCES.indexOf(provenance)

/**
 * Returns what agents wrote of the commits of which that changes, what is left of it, and whether they are on the default branch,
 * of which the last record decides. What a record does not say stays; a weaker proof, and an equal one of fewer lines, replaces
 * nothing, and the count of its lines that are left is not that of the stored ones; what is left of lines that are replaced goes
 * with them. Throws VALIDATION_ERROR, by the place in the batch, for more lines left than there are.
 */
export async function findAiChanges(tx: ISql, orgId: string, sent: readonly SentRecord<'commit'>[]) {
  const given = sent.filter(
    ({ record }) => record.ai != null || record.survival != null || record.on_default_branch != null,
  )
  if (given.length === 0) return []
  const rows = await findRows(
    tx,
    orgId,
    given.map(({ record }) => record),
  )
  const stored = new Map(rows.map((row) => [commitKeyOf(row), row]))
  const changed = new Map<string, AiRow>()
  for (const { prefix, record } of given) {
    const key = commitKeyOf(record)
    const before = stored.get(key)
    const problem = record.ai == null && survivalProblem(record.survival, before?.lines ?? 0, prefix)
    if (problem) throw validationError(problem)
    const after = rowAfter(before, record)
    if (before !== undefined && Bun.deepEquals(before, after)) continue
    stored.set(key, after)
    changed.set(key, after)
  }
  return [...changed.values()]
}

function rowAfter(before: AiRow | undefined, record: CommitRecord): AiRow {
  const { project, sha, ai, survival } = record
  const stored = before ?? {
    ...{ project, sha, lines: null, effective_lines: null, by_agent: null, provenance: null },
    ...{ sessions: null, survival_14: null, survival_30: null, on_default_branch: null },
  }
  const current = { ...stored, on_default_branch: record.on_default_branch ?? stored.on_default_branch }
  const proof = ai == null ? 0 : compareProofs(ai, current)
  if (proof < 0) return current
  const linesAfter = (days: 14 | 30) =>
    survival?.findLast((entry) => entry.days === days)?.lines ??
    (proof > 0 ? null : current[`survival_${days}`])
  const lines = { survival_14: linesAfter(14), survival_30: linesAfter(30) }
  if (ai == null || proof === 0) return { ...current, ...lines }
  return {
    ...current,
    ...{ lines: ai.lines, effective_lines: ai.effective_lines, by_agent: ai.by_agent },
    ...{ provenance: ai.provenance, sessions: ai.sessions },
    ...lines,
  }
}

/** Returns a number above 0 for a better proof than the known one, 0 for an equal one. */
const compareProofs = (ai: CommitAi, before: AiRow): number =>
  rankOf(ai) - rankOf(before) || ai.lines - (before.lines ?? 0)

async function findRows(tx: ISql, orgId: string, records: readonly CommitRecord[]): Promise<AiRow[]> {
  return await tx<AiRow[]>`
    select
      a.project, a.sha, a.lines::float8 as lines, a.effective_lines::float8 as effective_lines, a.by_agent, a.provenance,
      a.sessions, a.survival_14::float8 as survival_14, a.survival_30::float8 as survival_30, a.on_default_branch
    from ${unnest(tx, records, { project: 'text', sha: 'text' })}
    join commit_ai a
      on a.org_id = ${orgId}
      and a.project = n.project
      and a.sha = n.sha`
}

/** The columns beside the commit's own. */
const COLUMNS = {
  lines: 'integer',
  effective_lines: 'integer',
  by_agent: ['json', ({ by_agent }: AiRow) => by_agent && JSON.stringify(by_agent)],
  provenance: 'text',
  sessions: ['json', ({ sessions }: AiRow) => JSON.stringify(sessions ?? [])],
  survival_14: 'integer',
  survival_30: 'integer',
  on_default_branch: 'boolean',
} as const

export async function upsertAi(tx: ISql, orgId: string, rows: readonly AiRow[]): Promise<void> {
  if (rows.length === 0) return
  const columns = Object.keys(COLUMNS)
  await tx`
    insert into commit_ai (org_id, project, sha, ${tx.unsafe(columns.join(', '))})
    select
      ${orgId}, n.project, n.sha, n.lines, n.effective_lines, n.by_agent, n.provenance,
      array(select json_array_elements_text(n.sessions)), n.survival_14, n.survival_30, n.on_default_branch
    from ${unnest(tx, rows, { project: 'text', sha: 'text', ...COLUMNS })}
    on conflict (org_id, project, sha) do update set ${replaced(tx, columns)}`
}

/** Moves what is known of a project's commits to another, which keeps what it has. */
export async function renameInCommitAi(tx: ISql, orgId: string, from: string, to: string): Promise<void> {
  await tx`
    update commit_ai a
    set project = ${to}
    where a.org_id = ${orgId}
      and a.project = ${from}
      and not exists (
        select
        from commit_ai k
        where k.org_id = ${orgId}
          and k.project = ${to}
          and k.sha = a.sha
      )`
  await deleteFrom(tx, orgId, 'commit_ai', tx`and t.project = ${from}`)
}
