import type { ISql } from '../../database/client.ts'
import { moveProject, type Renaming } from '../../database/rollups.ts'
import { updateFileRisks } from './file-risks.ts'
import { FINDING_ROLLUPS } from './finding-rollups.ts'

/** Renames the project of findings, and of the heatmap's files. Needs the organization's lock. */
export async function renameInFindings(tx: ISql, orgId: string, renaming: Renaming): Promise<void> {
  const { from, to } = renaming
  await tx`
    update findings
    set project = ${to}
    where org_id = ${orgId}
      and project = ${from}`
  for (const each of FINDING_ROLLUPS) await moveProject(tx, orgId, each, renaming)
  const files = await tx<{ file: string; file_key: string }[]>`
    select r.file, encode(r.file_key, 'hex') as file_key
    from file_risks r
    where r.org_id = ${orgId}
      and r.project = ${from}`
  await updateFileRisks(
    tx,
    orgId,
    files.flatMap((file) => [from, to].map((project) => ({ ...file, project }))),
  )
}
