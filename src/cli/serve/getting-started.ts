import { resolve } from 'node:path'
import { shellWord } from '../../base/text.ts'
import { defaultDataDir } from '../../config.ts'
import type { Context } from '../command/context.ts'
import { programWords } from '../command/program-words.ts'

type Place = Pick<Context, 'config' | 'env' | 'envFile'>

/**
 * The program's path, compiled or from source, and the options that name this server's settings: its file and its data
 * directory unless that is the default. A DATABASE_URL may hold a password and is never printed.
 */
function words({ config, env, envFile }: Place): { program: string; settings: string } {
  const isElsewhere = config.databaseUrl === null && config.dataDir !== defaultDataDir(env)
  const settings =
    (envFile === undefined ? '' : ` --env-file ${shellWord(resolve(envFile))}`) +
    (isElsewhere ? ` --data-dir ${shellWord(resolve(config.dataDir))}` : '')
  return { program: programWords().map(shellWord).join(' '), settings }
}

/** Explains how the first person of an organization signs in. */
export function ownerHint(place: Place, slug: string): string {
  const { program, settings } = words(place)
  return `Nobody owns ${slug}: ${program} owner create --org ${slug} --email you@example.com --name You${settings}`
}

/** The first commands, to be pasted into another terminal. */
export function gettingStarted(place: Place, url: string): string {
  const { program, settings } = words(place)
  const where = place.config.databaseUrl === null ? '' : ', in a terminal where the same DATABASE_URL is set'
  return `There is no organization yet. By commands, beside the running server${where}:
  ${program} org create --slug acme --name Acme --plan cloud_team${settings}
  ${program} owner create --org acme --email you@example.com --name You${settings}
  KEY=$(${program} key create --org acme --name first --scopes read,write,webhooks${settings})
  curl -s ${shellWord(`${url}/v1/sessions?per_page=3`)} -H "Authorization: Bearer $KEY"
  curl -s ${shellWord(`${url}/v1/cost`)} -H "Authorization: Bearer $KEY"
Load what your coding agents left on disk:
  ${program} sync ~/.claude --org acme${settings}`
}
