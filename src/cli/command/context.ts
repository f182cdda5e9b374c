import type { Command } from 'commander'
import { type Config, flagOf, loadConfig, SETTINGS, type SettingName } from '../../config.ts'
import type { Sql } from '../../db/client.ts'
import { createLog, type Log } from '../../log.ts'

/** What the program is started with. */
export interface Surroundings {
  env: Record<string, string | undefined>
  /** Starts the worker thread; only main.ts knows from where. */
  spawnWorker: () => Worker
}

/** What every command gets: its settings, where to log, and whether to answer in JSON. */
export interface Context extends Surroundings {
  config: Config
  log: Log
  json: boolean
}

/** `--data-dir` as commander names it in its options: `dataDir`. */
const optionNameOf = (name: SettingName): string =>
  flagOf(name)
    .slice(2)
    .replace(/-(.)/g, (_match, letter: string) => letter.toUpperCase())

/** The context of a command from its flags and the environment. Throws OperatorError listing every wrong setting. */
export function contextOf(command: Command, surroundings: Surroundings): Context {
  const options: Record<string, unknown> = command.optsWithGlobals()
  const flags: Partial<Record<SettingName, string>> = {}
  for (const { name } of SETTINGS) {
    const value = options[optionNameOf(name)]
    if (typeof value === 'string') flags[name] = value
  }
  const config = loadConfig(surroundings.env, flags)
  return {
    ...surroundings,
    config,
    log: createLog(config.logLevel, config.logFormat),
    json: options.json === true,
  }
}

/** Runs `use` on the migrated database of the settings: that of a running `serve`, or one started for the while. */
export async function withDatabase<Result>(
  { config, log }: Pick<Context, 'config' | 'log'>,
  use: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const { openDatabase } = await import('../../database.ts')
  const { migrate } = await import('../../db/migrate.ts')
  const database = await openDatabase(config, 'command', log)
  try {
    await migrate(database.sql, log)
    return await use(database.sql)
  } finally {
    await database.close()
  }
}
