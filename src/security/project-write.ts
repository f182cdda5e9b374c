import type { ISql } from '../db/client.ts'
import { moveSums, type ProjectSums, type Renaming } from '../db/move-sums.ts'
import { updateFileRisks } from './file-risks.ts'

const ROLLUPS: readonly ProjectSums[] = [
  {
    name: 'finding_rollups',
    key: ['grain', 'bucket', 'file_key', 'fingerprint'],
    sums: ['critical', 'high', 'medium', 'low'],
  },
  {
    name: 'file_rollups',
    key: ['grain', 'bucket', 'file_key'],
    sums: ['sessions'],
    least: ['first_seen_at'],
    greatest: ['last_seen_at'],
  },
]

/** Renames the project of findings, and of the heatmap's files. Needs the organization's lock. */
export async function renameInFindings(tx: ISql, orgId: string, renaming: Renaming): Promise<void> {
  const { from, to } = renaming
  await tx`
    update findings
    set project = ${to}
    where org_id = ${orgId}
      and project = ${from}`
  for (const table of ROLLUPS) await moveSums(tx, orgId, table, renaming)
  const files = await tx<{ file: string; fileKey: string }[]>`
    select r.file, encode(r.file_key, 'hex') as "fileKey"
    from file_risks r
    where r.org_id = ${orgId}
      and r.project = ${from}`
  await updateFileRisks(
    tx,
    orgId,
    files.flatMap((file) => [from, to].map((project) => ({ ...file, project }))),
  )
}
