import type { ISql } from '../db/client.ts'
import { unnest } from '../db/rows.ts'
import type { Severity } from '../records/finding.ts'
import { bucketsOf, type FileFinding } from './file-findings.ts'

/** The one bucket of the grain `all`. */
const ALL_TIME = { grain: 'all', bucket: '1970-01-01' } as const

/** The change of one row: numbers of sessions by severity. */
type RollupChange = Record<Severity, number> & {
  grain: 'all' | 'month' | 'day'
  project: string
  bucket: string
  fileKey: string
  fingerprint: string
}

/** Updates the counts of sessions by file, fingerprint and severity. */
export async function updateFindingRollups(
  tx: ISql,
  orgId: string,
  removed: readonly FileFinding[],
  added: readonly FileFinding[],
): Promise<void> {
  const byKey = new Map<string, RollupChange>()
  const count = (finding: FileFinding, sign: 1 | -1) => {
    const { project, fileKey, fingerprint, severity } = finding
    for (const { grain, bucket } of [ALL_TIME, ...bucketsOf(finding)]) {
      const key = JSON.stringify([grain, bucket, project, fileKey, fingerprint])
      const change = byKey.get(key) ?? {
        ...{ grain, project, bucket, fileKey, fingerprint },
        ...{ critical: 0, high: 0, medium: 0, low: 0 },
      }
      change[severity] += sign
      byKey.set(key, change)
    }
  }
  for (const finding of removed) count(finding, -1)
  for (const finding of added) count(finding, 1)
  const changes = [...byKey.values()]
  await applyChanges(tx, orgId, changes)
  if (removed.length > 0) await deleteEmpty(tx, orgId, changes)
}

async function applyChanges(tx: ISql, orgId: string, changes: readonly RollupChange[]): Promise<void> {
  await tx`
    insert into finding_rollups as r (
      org_id, grain, project, bucket, file_key, fingerprint, critical, high, medium, low
    )
    select ${orgId}, n.*
    from ${unnest(tx, changes, {
      grain: 'text',
      project: 'text',
      bucket: 'date',
      file_key: ['bytea', ({ fileKey }) => fileKey],
      fingerprint: 'text',
      critical: 'bigint',
      high: 'bigint',
      medium: 'bigint',
      low: 'bigint',
    })}
    on conflict (org_id, grain, project, file_key, bucket, fingerprint) do update set
      critical = r.critical + excluded.critical,
      high = r.high + excluded.high,
      medium = r.medium + excluded.medium,
      low = r.low + excluded.low`
}

async function deleteEmpty(tx: ISql, orgId: string, changes: readonly RollupChange[]): Promise<void> {
  await tx`
    delete from finding_rollups r
    using ${unnest(tx, changes, {
      grain: 'text',
      project: 'text',
      bucket: 'date',
      file_key: ['bytea', ({ fileKey }) => fileKey],
      fingerprint: 'text',
    })}
    where r.org_id = ${orgId}
      and r.grain = n.grain
      and r.project = n.project
      and r.bucket = n.bucket
      and r.file_key = n.file_key
      and r.fingerprint = n.fingerprint
      and r.critical + r.high + r.medium + r.low = 0`
}
