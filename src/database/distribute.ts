import { OperatorError } from '../base/errors.ts'
import { type DistributedTable, distributeTables, hasCitus } from './citus.ts'
import type { Sql } from './client.ts'
import { lockMigrations } from './migrate.ts'

/**
 * Distributes the tables of a migrated database, empty or filled, over the nodes of Citus: after an error none of them.
 * Does nothing with those that are distributed already. Throws OperatorError when the database is not the coordinator of
 * a cluster, or a table is distributed in another way.
 */
export async function distribute(sql: Sql): Promise<DistributedTable[]> {
  await checkCluster(sql)
  return await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`
    await tx`set local lock_timeout = 0`
    await lockMigrations(tx)
    return await distributeTables(tx)
  })
}

/** Throws OperatorError unless the database is that of a coordinator with workers. */
export async function checkCluster(sql: Sql): Promise<void> {
  if (!(await hasCitus(sql)))
    throw new OperatorError(
      'the database has no extension citus: `create extension citus` in it, on the coordinator and on every worker, ' +
        'then add the workers by citus_add_node',
    )
  const [row] = await sql<{ coordinators: number; workers: number; is_coordinator: boolean }[]>`
    select
      (count(*) filter (where n.groupid = 0))::integer as coordinators,
      (count(*) filter (where n.shouldhaveshards and n.isactive))::integer as workers,
      (select l.groupid = 0 from pg_dist_local_group l) as is_coordinator
    from pg_dist_node n
    where n.noderole = 'primary'`
  if (row?.is_coordinator !== true)
    throw new OperatorError('this is a worker of the cluster: give the coordinator as DATABASE_URL')
  if (row.coordinators === 0)
    throw new OperatorError(
      "the coordinator is not one of the cluster's nodes: `select citus_set_coordinator_host('HOST', PORT)`, with the " +
        'address at which the workers reach it',
    )
  if (row.workers === 0)
    throw new OperatorError("no node takes rows: add workers by `select citus_add_node('HOST', PORT)`")
}
