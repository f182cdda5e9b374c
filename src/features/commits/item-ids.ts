// Parts of statements that find or delete commits, files and directories by project and name.

import type { Fragment, ISql } from '../../database/client.ts'
import { unnest } from '../../database/rows.ts'

/** Identifies a commit, file or directory of the organization: its project, and the hash or path as `name`. */
export interface ItemId {
  project: string
  name: string
}

/** Ids as the table `n (project, <column>)`. */
export const idTable = (tx: ISql, ids: readonly ItemId[], column: 'sha' | 'path' | 'directory'): Fragment =>
  unnest(tx, ids, {
    project: ['text', ({ project }) => project],
    [column]: ['text', ({ name }: ItemId) => name],
  })

export async function deleteItems(
  tx: ISql,
  orgId: string,
  table: string,
  ids: readonly ItemId[],
  column: 'sha' | 'path' | 'directory',
): Promise<void> {
  if (ids.length === 0) return
  await tx`
    delete from ${tx(table)} t
    using ${idTable(tx, ids, column)}
    where t.org_id = ${orgId}
      and t.project = n.project
      and t.${tx(column)} = n.${tx(column)}`
}

export const distinctIds = (ids: readonly ItemId[]): ItemId[] => [
  ...new Map(ids.map((id) => [`${id.project}\0${id.name}`, id])).values(),
]

/** Ends a lateral subquery by keys: PostgreSQL may else join each row with all rows of the organization. */
export const eachTime = (tx: ISql): Fragment => tx`offset 0`

export const filesOfCommits = (tx: ISql, orgId: string, commits: readonly ItemId[]) => tx`
  ${idTable(tx, commits, 'sha')}
  join commit_files f on f.org_id = ${orgId} and f.project = n.project and f.sha = n.sha`

/** The rows of commit_files of these files, given by current name, as the table `f`. */
export const historyOfFiles = (tx: ISql, orgId: string, files: readonly ItemId[]) => tx`
  ${idTable(tx, files, 'path')}
  join commit_files f on f.org_id = ${orgId} and f.project = n.project and f.file = n.path`
