import { migrate } from '../db/migrate.ts'
import { openDatabase } from '../db/open.ts'
import type { Context } from './context.ts'
import { answer } from './output.ts'

/** `migrate`: names the migrations that were missing. */
export async function migrateDatabase({ config, log, json }: Context): Promise<void> {
  const database = await openDatabase(config, 'command', log)
  try {
    const applied = await migrate(database.sql, log)
    await answer(
      json,
      { applied },
      applied.length === 0 ? 'the schema is current' : `applied ${applied.join(', ')}`,
    )
  } finally {
    await database.close()
  }
}
