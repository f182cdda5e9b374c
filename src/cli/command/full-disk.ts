import type { Config } from '../../config.ts'
import { fullDiskError } from '../../db/disk.ts'
import { OperatorError } from '../../errors.ts'

/** Runs `use`; where the database had no space left, the error says what to do. */
export async function explainFullDisk<Result>(
  { config }: { config: Pick<Config, 'dataDir' | 'databaseUrl'> },
  use: () => Promise<Result>,
): Promise<Result> {
  try {
    return await use()
  } catch (error) {
    throw error instanceof OperatorError ? error : (fullDiskError(error, config) ?? error)
  }
}
