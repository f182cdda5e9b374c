import { openDatabase } from '../../database.ts'
import { migrate } from '../../db/migrate.ts'
import type { Context } from '../command/context.ts'
import { printResult } from '../command/output.ts'

/** `migrate`: prints the migrations that it has applied. */
export async function migrateDatabase({ config, log, json }: Context): Promise<void> {
  const database = await openDatabase(config, 'command', log)
  try {
    const applied = await migrate(database.sql, log)
    await printResult(
      json,
      { applied },
      applied.length === 0 ? 'the schema is current' : `applied ${applied.join(', ')}`,
    )
  } finally {
    await database.close()
  }
}
