import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { FORMATS } from '../../analysis/agents/format-list.ts'
import type { Places } from '../../analysis/agents/formats/format.ts'
import { type Environment, homeOf, local, programFolder, roaming } from './folders.ts'

/** Lists the folders in which coding agents keep their sessions on this machine, whether or not they exist; `accountFiles` their accounts. */
export const agentFolders = (env: Environment, platform: NodeJS.Platform = process.platform): string[] => {
  const places = placesOf(env, platform)
  return FORMATS.flatMap((format) => format.folders?.(places) ?? [])
}

/** Agents keep what an account may use in these files. */
export const accountFiles = (env: Environment): string[] => {
  const places = placesOf(env, process.platform)
  return FORMATS.flatMap(({ account }) => (account ? join(account.folder(places), account.name) : []))
}

function placesOf(env: Environment, platform: NodeJS.Platform): Places {
  const home = homeOf(env)
  return {
    env,
    platform,
    home,
    config: env.XDG_CONFIG_HOME || join(home, '.config'),
    data: env.XDG_DATA_HOME || join(home, '.local', 'share'),
    programs: programFolder(env, platform),
    roaming: roaming(env),
    local: local(env),
    namesIn,
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

/** Variables that change where files are: a program started outside of the user's shell needs them again. */
export const FOLDER_VARIABLES: readonly string[] = [
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  'XDG_DATA_HOME',
  ...FORMATS.flatMap(({ variables }) => variables ?? []),
]
