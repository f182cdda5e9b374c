import { resolve } from 'node:path'
import { defaultDataDir } from '../../config.ts'
import type { Context } from '../command/context.ts'
import { programWords, shellWord } from '../command/program-words.ts'

/**
 * The first commands, to be pasted into another terminal: with the program's path, compiled or from source,
 * its file of settings and its data directory unless that is the default. A DATABASE_URL may hold a password and is never printed.
 */
export function gettingStarted(
  { config, env, envFile }: Pick<Context, 'config' | 'env' | 'envFile'>,
  url: string,
): string {
  const program = programWords().map(shellWord).join(' ')
  const isElsewhere = config.databaseUrl === null && config.dataDir !== defaultDataDir(env)
  const settings =
    (envFile === undefined ? '' : ` --env-file ${shellWord(resolve(envFile))}`) +
    (isElsewhere ? ` --data-dir ${shellWord(resolve(config.dataDir))}` : '')
  const where = config.databaseUrl === null ? '' : ', in a terminal where the same DATABASE_URL is set'
  return `There is no organization yet. Beside the running server${where}:
  ${program} org create --slug acme --name Acme --plan cloud_team${settings}
  KEY=$(${program} key create --org acme --name first --scopes read,write,webhooks${settings})
  curl -s ${shellWord(`${url}/v1/sessions?per_page=3`)} -H "Authorization: Bearer $KEY"
  curl -s ${shellWord(`${url}/v1/cost`)} -H "Authorization: Bearer $KEY"
Load what your coding agents left on disk:
  ${program} sync ~/.claude --org acme${settings}`
}
