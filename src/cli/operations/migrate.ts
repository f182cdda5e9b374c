import { type DistributedTable, findMisplaced } from '../../database/citus.ts'
import { checkCluster, distribute } from '../../database/distribute.ts'
import { migrate } from '../../database/migrate.ts'
import { openDatabase } from '../../database/open.ts'
import type { Context } from '../command/context.ts'
import { printResult } from '../command/output.ts'

/** `migrate`: prints the migrations applied, with `citus` what it did with each table. Throws OperatorError where it cannot. */
export async function migrateDatabase({ config, log, json }: Context, { citus }: { citus?: true }) {
  await using database = await openDatabase(config, 'command', log)
  // a worker of a cluster refuses migrations with less to say
  if (citus) await checkCluster(database.sql)
  const applied = await migrate(database.sql, log)
  const tables = citus ? await distribute(database.sql) : []
  const misplaced = await findMisplaced(database.sql)
  const lines = [
    applied.length === 0 ? 'the schema is current' : `applied ${applied.join(', ')}`,
    ...tables.map(tableLine),
    ...(misplaced === undefined || misplaced.length === 0
      ? []
      : [`not distributed: ${misplaced.join(', ')}; \`migrate --citus\` distributes them`]),
  ]
  // only a cluster has distributed tables
  const result = {
    applied,
    ...(citus ? { tables } : {}),
    ...(misplaced === undefined ? {} : { not_distributed: misplaced }),
  }
  await printResult(json, result, lines.join('\n'))
}

const WORDS = {
  distributed: 'distributed by org_id',
  reference: 'copied to every node',
  local: 'on the coordinator',
}

const tableLine = ({ name, placement, changed }: DistributedTable): string =>
  `${name.padEnd(26)}${changed ? '' : 'was '}${WORDS[placement]}`
