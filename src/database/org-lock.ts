// Takes the locks of an organization's writes and of its history, and moves the version of its data.

import { ApiError } from '../base/errors.ts'
import type { ISql, Sql } from './client.ts'
import { refuseNewerSchema } from './newer-schema.ts'

/** A `change` of the organization's data, or only a `note` of what is known, of which open pages are not told. */
export type Kind = 'change' | 'note'

/** Characters of a version that only a change replaces; a note replaces those behind them. Each half has some 60 random bits. */
const CHANGE_LENGTH = 19

/** The part of a version that is another one after each change. */
export const changePart = (version: string): string => version.slice(0, CHANGE_LENGTH - 1)

/**
 * Locks the organization's data for writing until the end of the transaction. Writers of one organization wait for each
 * other, so that the statements after the lock see everything that was committed before. Moves the version of the data, by
 * which responses in memory are known to be current (http/responses/response-cache.ts): a random one, so that a restored
 * database never has a version again. A transaction that began as a note may call it again as a change. Throws UNAUTHORIZED
 * when the organization was deleted: a request of one of its keys may have been on its way; and INTERNAL_ERROR with 503 when
 * a newer program has migrated the database.
 */
export async function lockOrganization(tx: ISql, orgId: string, kind: Kind = 'change'): Promise<void> {
  const version = crypto.randomUUID()
  const moved =
    kind === 'change'
      ? tx`${version}`
      : tx`(left(l.version::text, ${CHANGE_LENGTH}) || ${version.slice(CHANGE_LENGTH)})::uuid`
  // sent together, the lock first: a transaction that waited for a migration sees its schema
  const locked = tx`
    update org_locks l
    set version = ${moved}
    where l.org_id = ${orgId}`.execute()
  const [{ count }] = await Promise.all([locked, refuseNewerSchema(tx)])
  if (count === 0) throw new ApiError('UNAUTHORIZED', 'The organization was deleted')
}

/** Runs `work` in a transaction under the organization's lock. */
export const inOrganization = <Result>(
  sql: Sql,
  orgId: string,
  work: (tx: ISql) => Promise<Result>,
  kind: Kind = 'change',
): Promise<Result> =>
  sql.begin(async (tx) => {
    await lockOrganization(tx, orgId, kind)
    return await work(tx)
  }) as Promise<Result>

/**
 * Locks the organization's commits and pull requests, and what is computed of them but its rollups, for writing until the
 * end of the transaction. Their computing takes seconds, for which only their own writers wait. Take it before
 * `lockOrganization`, never after it: two writers would wait for each other.
 */
export async function lockHistory(tx: ISql, orgId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`history of ${orgId}`}, 0))`
}
