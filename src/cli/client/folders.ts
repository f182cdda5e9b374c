import { homedir } from 'node:os'
import { join } from 'node:path'

/** The variables of the process's environment. */
export type Environment = Record<string, string | undefined>

/** The user's home folder: HOME where it is set, since Bun's `homedir` keeps what it was at the start. */
export const homeOf = (env: Environment): string => env.HOME || env.USERPROFILE || homedir()

/**
 * The folder of this user's settings of the program: `%APPDATA%` on Windows; elsewhere `$XDG_CONFIG_HOME` where it is set,
 * `~/Library/Application Support` on macOS and `~/.config` on others.
 */
export function configFolder(env: Environment, platform: NodeJS.Platform = process.platform): string {
  return join(configParent(env, platform), 'cloud-analytics')
}

function configParent(env: Environment, platform: NodeJS.Platform): string {
  if (platform === 'win32') return roaming(env)
  if (env.XDG_CONFIG_HOME) return env.XDG_CONFIG_HOME
  return platform === 'darwin'
    ? join(homeOf(env), 'Library', 'Application Support')
    : join(homeOf(env), '.config')
}

/** `%APPDATA%` and `%LOCALAPPDATA%` of Windows. */
export const roaming = (env: Environment): string => env.APPDATA || join(homeOf(env), 'AppData', 'Roaming')
export const local = (env: Environment): string => env.LOCALAPPDATA || join(homeOf(env), 'AppData', 'Local')

/**
 * The folder where the program keeps what it must remember about this user: `$XDG_STATE_HOME` where it is set, else
 * `%LOCALAPPDATA%` on Windows, `~/Library/Application Support` on macOS and `~/.local/state` on others.
 */
export function stateFolder(env: Environment, platform: NodeJS.Platform = process.platform): string {
  return join(stateParent(env, platform), 'cloud-analytics')
}

function stateParent(env: Environment, platform: NodeJS.Platform): string {
  if (env.XDG_STATE_HOME) return env.XDG_STATE_HOME
  if (platform === 'win32') return local(env)
  return platform === 'darwin'
    ? join(homeOf(env), 'Library', 'Application Support')
    : join(homeOf(env), '.local', 'state')
}

/** Claude Code keeps its settings and transcripts in this folder. */
export const claudeFolder = (env: Environment): string =>
  env.CLAUDE_CONFIG_DIR || join(homeOf(env), '.claude')

/** Programs with a window keep their files here. */
export function programFolder(env: Environment, platform: NodeJS.Platform): string {
  if (platform === 'darwin') return join(homeOf(env), 'Library', 'Application Support')
  return platform === 'win32' ? roaming(env) : env.XDG_CONFIG_HOME || join(homeOf(env), '.config')
}
