// Gives commands their settings, log, database and organization.

import { type Command, Option } from 'commander'
import type { Actor } from '../../accounts/audit-log/append.ts'
import { noSpaceError, OperatorError } from '../../base/errors.ts'
import { createLog, type Log } from '../../base/log.ts'
import { type Config, flagOf, loadConfig, SETTINGS, type SettingName } from '../../config.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { fullDiskError } from '../../database/disk.ts'
import { commandLineActor } from './actor.ts'
import { withEnvFile } from './env-file.ts'

/** The program's environment, and what only its entry point can do. */
export interface ProcessContext {
  env: Record<string, string | undefined>
  /** Starts the worker thread; only main.ts can name its file. */
  spawnWorker: () => Worker
  /** Starts the intake thread, likewise. */
  spawnIntake: () => Worker
}

/** Every command gets this. */
export interface Context extends ProcessContext {
  config: Config
  log: Log
  /** The file of settings that `env` includes. */
  envFile?: string | undefined
  isGiven: (name: SettingName) => boolean
  /** Whether the result is printed as JSON. */
  json: boolean
}

/** A command's context from flags, --env-file and environment. Throws OperatorError listing every wrong setting, with what `check` finds. */
export function contextOf(
  command: Command,
  started: ProcessContext,
  check?: Parameters<typeof loadConfig>[2],
): Context {
  const options: Record<string, unknown> = command.optsWithGlobals()
  const flags: Partial<Record<SettingName, string>> = {}
  for (const { name } of SETTINGS) {
    const value = options[new Option(flagOf(name)).attributeName()]
    if (typeof value === 'string') flags[name] = value
  }
  const envFile = typeof options.envFile === 'string' ? options.envFile : undefined
  const env = withEnvFile(started.env, envFile)
  const config = loadConfig(env, flags, check)
  return {
    ...started,
    env,
    envFile: envFile || started.env.ENV_FILE || undefined,
    config,
    log: createLog(config.logLevel, config.logFormat),
    isGiven: (name) => (flags[name] ?? env[name] ?? '') !== '',
    json: options.json === true,
  }
}

/** A command's arguments; the first is empty where there are none. */
export type Args = [string, ...string[]]

/** Paths given as arguments; none may be. */
export const pathsOf = (args: Args): string[] => (args[0] === '' ? [] : args)

export type Run<Options> = (context: Context, options: Options, args: Args) => Promise<void>

/** Runs `use` on the migrated database of a running `serve`, or starts one. Throws OperatorError without one, unless `create`. */
export async function withDatabase<Result>(
  { config, log }: Pick<Context, 'config' | 'log'>,
  use: (sql: Sql) => Promise<Result>,
  { create = false }: { create?: boolean } = {},
): Promise<Result> {
  const { openDatabase } = await import('../../database/open.ts')
  const { migrate } = await import('../../database/migrate.ts')
  await using database = await openDatabase(config, 'command', log, { create })
  await migrate(database.sql, log)
  return await use(database.sql)
}

export async function withOrganization<Result>(
  context: Pick<Context, 'config' | 'log'>,
  slug: string,
  use: (sql: Sql, orgId: string) => Promise<Result>,
): Promise<Result> {
  const { getOrganization } = await import('../../accounts/organizations/queries.ts')
  return await withDatabase(context, async (sql) => use(sql, (await getOrganization(sql, slug)).id))
}

/** Does `work` as the command line, in a transaction that locks the organization. */
export async function changeOrganization<Result>(
  context: Context,
  slug: string,
  work: (tx: ISql, orgId: string, actor: Actor) => Promise<Result>,
): Promise<Result> {
  const { inOrganization } = await import('../../database/org-lock.ts')
  return await withOrganization(context, slug, (sql, orgId) =>
    inOrganization(sql, orgId, (tx) => work(tx, orgId, commandLineActor())),
  )
}

/** Runs `use`; where the database or a file of the program had no space left, the error says what to do. */
export async function explainFullDisk<Result>(
  { config }: Pick<Context, 'config'>,
  use: () => Promise<Result>,
): Promise<Result> {
  try {
    return await use()
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw fullDiskError(error, config) ?? noSpaceError(error) ?? error
  }
}
