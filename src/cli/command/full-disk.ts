import { noSpaceError, OperatorError } from '../../base/errors.ts'
import type { Config } from '../../config.ts'
import { fullDiskError } from '../../database/disk.ts'

/** Runs `use`; where the database or a file of the program had no space left, the error says what to do. */
export async function explainFullDisk<Result>(
  { config }: { config: Pick<Config, 'dataDir' | 'databaseUrl'> },
  use: () => Promise<Result>,
): Promise<Result> {
  try {
    return await use()
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw fullDiskError(error, config) ?? noSpaceError(error) ?? error
  }
}
