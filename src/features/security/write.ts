import type { ISql } from '../../database/client.ts'
import { counting } from '../../database/rollups.ts'
import { deleteOfSessions } from '../../database/rows.ts'
import { FINDING_COLUMNS, selectFindings } from './check.ts'
import { updateFileRisks } from './file-risks.ts'
import { FINDING_ROLLUPS } from './finding-rollups.ts'

/** Writes these sessions' findings again; returns the new ones. Needs the organization's lock. */
export async function writeFindings(tx: ISql, orgId: string, ids: readonly string[]) {
  if (ids.length === 0) return []
  const changed = await findChanged(tx, orgId, ids)
  if (changed.length === 0) return []
  const sessions = [...new Set(changed.map(({ session_id }) => session_id))]
  const rows = tx`s.session_id = any(${sessions}::text[])`
  await counting(tx, orgId, FINDING_ROLLUPS, { before: rows, after: rows }, async () => {
    await deleteOfSessions(tx, orgId, sessions, 'findings')
    const columns = tx.unsafe(FINDING_COLUMNS.join(', '))
    await tx`
      insert into findings (org_id, ${columns})
      select ${orgId}, ${columns}
      from (${selectFindings(tx, orgId, tx`and i.session_id = any(${sessions}::text[])`)}) q`
  })
  const files = changed.flatMap(({ project, file, file_key }) =>
    file === null || file_key === null ? [] : [{ project, file, file_key }],
  )
  if (files.length > 0) await updateFileRisks(tx, orgId, files)
  return changed.filter(({ is_new }) => is_new)
}

interface ChangedFinding {
  session_id: string
  project: string
  file: string | null
  file_key: string | null
  fingerprint: string
  is_new: boolean
}

/** The findings that differ from those that are stored. */
async function findChanged(tx: ISql, orgId: string, ids: readonly string[]) {
  const columns = tx.unsafe(FINDING_COLUMNS.join(', '))
  return await tx<ChangedFinding[]>`
    with computed as (
      select ${columns}
      from (${selectFindings(tx, orgId, tx`and i.session_id = any(${[...ids]}::text[])`)}) q
    ),
    stored as (
      select ${columns}
      from findings f
      where f.org_id = ${orgId}
        and f.session_id = any(${[...ids]}::text[])
    )
    select
      d.session_id, d.project, d.file, encode(d.file_key, 'hex') as file_key, d.fingerprint,
      not exists (
        select from stored f where f.session_id = d.session_id and f.fingerprint = d.fingerprint
      ) as is_new
    from (
      (table computed except table stored)
      union
      (table stored except table computed)
    ) d`
}
