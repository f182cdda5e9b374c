import { OperatorError } from '../base/errors.ts'
import type { ISql } from './client.ts'

/** A table that marks a database into which a backup is restored: nothing else may use it. */
export const RESTORE_MARK = 'unfinished_restore'

export async function markRestore(tx: ISql): Promise<void> {
  await tx`create table if not exists ${tx(RESTORE_MARK)} (started_at timestamptz not null default now())`
}

export async function removeRestoreMark(tx: ISql): Promise<void> {
  await tx`drop table ${tx(RESTORE_MARK)}`
}

/** Throws OperatorError when the database is marked. */
export async function refuseUnfinishedRestore(sql: ISql): Promise<void> {
  const [row] = await sql<{ found: boolean }[]>`select to_regclass(${RESTORE_MARK}) is not null as found`
  if (row?.found !== true) return
  throw new OperatorError(
    'a restore into this database is not finished: wait for it; if it was interrupted, run `cloud-analytics restore FILE` ' +
      `again, or drop the table ${RESTORE_MARK} for an empty database`,
  )
}
