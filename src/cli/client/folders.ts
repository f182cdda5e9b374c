// Folders of this user's settings and state, by platform.

import { homedir } from 'node:os'
import { join } from 'node:path'

export type Environment = Record<string, string | undefined>

/** The user's home folder: HOME where it is set, since Bun's `homedir` keeps what it was at the start. */
export const homeOf = (env: Environment): string => env.HOME || env.USERPROFILE || homedir()

export const roaming = (env: Environment): string => env.APPDATA || join(homeOf(env), 'AppData', 'Roaming')
export const local = (env: Environment): string => env.LOCALAPPDATA || join(homeOf(env), 'AppData', 'Local')

const library = (env: Environment): string => join(homeOf(env), 'Library', 'Application Support')

/** The folder of this user's settings: `%APPDATA%`, `$XDG_CONFIG_HOME`, `~/Library/Application Support` or `~/.config`. */
export function configFolder(env: Environment, platform: NodeJS.Platform = process.platform): string {
  const folder = platform === 'win32' ? undefined : env.XDG_CONFIG_HOME
  return join(folder || programFolder(env, platform), 'cloud-analytics')
}

/** The folder of what the program remembers: `$XDG_STATE_HOME`, else `%LOCALAPPDATA%`, macOS' or `~/.local/state`. */
export function stateFolder(env: Environment, platform: NodeJS.Platform = process.platform): string {
  const usual = platform === 'darwin' ? library(env) : join(homeOf(env), '.local', 'state')
  return join(env.XDG_STATE_HOME || (platform === 'win32' ? local(env) : usual), 'cloud-analytics')
}

/** Claude Code keeps its settings and transcripts in this folder. */
export const claudeFolder = (env: Environment): string =>
  env.CLAUDE_CONFIG_DIR || join(homeOf(env), '.claude')

/** Programs with a window keep their files here. */
export function programFolder(env: Environment, platform: NodeJS.Platform): string {
  if (platform === 'darwin') return library(env)
  return platform === 'win32' ? roaming(env) : env.XDG_CONFIG_HOME || join(homeOf(env), '.config')
}
