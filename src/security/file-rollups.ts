import type { ISql } from '../db/client.ts'
import { unnest } from '../db/rows.ts'
import { bucketsOf, type FileFinding } from './file-findings.ts'

/** The change of one row. */
interface RollupChange {
  grain: 'month' | 'day'
  project: string
  bucket: string
  fileKey: string
  sessions: number
  /** The first of the sessions added; `infinity` and `-infinity` when there are none. */
  firstAt: string
  lastAt: string
  /** A session was removed: the first and last time must be looked up again. */
  hasRemoved: boolean
}

/**
 * Updates the counts of sessions by file; `removed` and `added` have one finding for each session and file.
 */
export async function updateFileRollups(
  tx: ISql,
  orgId: string,
  removed: readonly FileFinding[],
  added: readonly FileFinding[],
): Promise<void> {
  const byKey = new Map<string, RollupChange>()
  for (const change of removed.flatMap((finding) => changesOf(byKey, finding))) {
    change.sessions -= 1
    change.hasRemoved = true
  }
  for (const finding of added) {
    const { createdAt } = finding
    for (const change of changesOf(byKey, finding)) {
      change.sessions += 1
      if (change.firstAt === 'infinity' || createdAt < change.firstAt) change.firstAt = createdAt
      if (change.lastAt === '-infinity' || createdAt > change.lastAt) change.lastAt = createdAt
    }
  }
  const changes = [...byKey.values()]
  if (changes.length === 0) return
  await applyChanges(tx, orgId, changes)
  const shrunk = changes.filter(({ hasRemoved }) => hasRemoved)
  if (shrunk.length === 0) return
  await deleteEmpty(tx, orgId, shrunk)
  await lookUpTimes(tx, orgId, shrunk)
}

/** The rows that a finding's session is counted in. */
const changesOf = (byKey: Map<string, RollupChange>, finding: FileFinding): RollupChange[] =>
  bucketsOf(finding).map(({ grain, bucket }) => {
    const { project, fileKey } = finding
    const key = JSON.stringify([grain, bucket, project, fileKey])
    const change = byKey.get(key) ?? {
      ...{ grain, project, bucket, fileKey, sessions: 0 },
      ...{ firstAt: 'infinity', lastAt: '-infinity', hasRemoved: false },
    }
    byKey.set(key, change)
    return change
  })

async function applyChanges(tx: ISql, orgId: string, changes: readonly RollupChange[]): Promise<void> {
  await tx`
    insert into file_rollups as r (
      org_id, grain, project, bucket, file_key, sessions, first_seen_at, last_seen_at
    )
    select ${orgId}, n.*
    from ${unnest(tx, changes, {
      grain: 'text',
      project: 'text',
      bucket: 'date',
      file_key: ['bytea', ({ fileKey }) => fileKey],
      sessions: 'bigint',
      first_seen_at: ['timestamptz', ({ firstAt }) => firstAt],
      last_seen_at: ['timestamptz', ({ lastAt }) => lastAt],
    })}
    on conflict (org_id, grain, project, file_key, bucket) do update set
      sessions = r.sessions + excluded.sessions,
      first_seen_at = least(r.first_seen_at, excluded.first_seen_at),
      last_seen_at = greatest(r.last_seen_at, excluded.last_seen_at)`
}

/** Makes `using` and `from`: the changes, and the condition that selects their stored rows `r`. */
const rowsOf = (tx: ISql, orgId: string, changes: readonly RollupChange[]) => tx`
  ${unnest(tx, changes, {
    grain: 'text',
    project: 'text',
    bucket: 'date',
    file_key: ['bytea', ({ fileKey }) => fileKey],
  })}
  where r.org_id = ${orgId}
    and r.grain = n.grain
    and r.project = n.project
    and r.bucket = n.bucket
    and r.file_key = n.file_key`

async function deleteEmpty(tx: ISql, orgId: string, changes: readonly RollupChange[]): Promise<void> {
  await tx`
    delete from file_rollups r
    using ${rowsOf(tx, orgId, changes)}
      and r.sessions = 0`
}

/** Sets the first and last times again: reads two index entries for each row. */
async function lookUpTimes(tx: ISql, orgId: string, changes: readonly RollupChange[]): Promise<void> {
  await tx`
    update file_rollups r
    set (first_seen_at, last_seen_at) = (
      select min(f.created_at), max(f.created_at)
      from findings f
      where f.org_id = ${orgId}
        and f.project = r.project
        and f.file_key = r.file_key
        and f.status = 'open'
        and f.created_at >= r.bucket::timestamp at time zone 'UTC'
        and f.created_at < (r.bucket + case r.grain when 'day' then interval '1 day' else interval '1 month' end) at time zone 'UTC'
    )
    from ${rowsOf(tx, orgId, changes)}`
}
