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
  if (platform === 'win32') return env.APPDATA || join(homeOf(env), 'AppData', 'Roaming')
  if (env.XDG_CONFIG_HOME) return env.XDG_CONFIG_HOME
  return platform === 'darwin'
    ? join(homeOf(env), 'Library', 'Application Support')
    : join(homeOf(env), '.config')
}

/**
 * The folder where the program keeps what it must remember about this user: `$XDG_STATE_HOME` where it is set, else
 * `%LOCALAPPDATA%` on Windows, `~/Library/Application Support` on macOS and `~/.local/state` on others.
 */
export function stateFolder(env: Environment, platform: NodeJS.Platform = process.platform): string {
  return join(stateParent(env, platform), 'cloud-analytics')
}

function stateParent(env: Environment, platform: NodeJS.Platform): string {
  if (env.XDG_STATE_HOME) return env.XDG_STATE_HOME
  if (platform === 'win32') return env.LOCALAPPDATA || join(homeOf(env), 'AppData', 'Local')
  return platform === 'darwin'
    ? join(homeOf(env), 'Library', 'Application Support')
    : join(homeOf(env), '.local', 'state')
}

/** Where Claude Code keeps its settings and transcripts. */
export const claudeFolder = (env: Environment): string =>
  env.CLAUDE_CONFIG_DIR || join(homeOf(env), '.claude')

/** Where coding agents keep their sessions on this machine, whether or not a folder or file exists. */
export function agentFolders(env: Environment): string[] {
  const home = homeOf(env)
  const codex = env.CODEX_HOME || join(home, '.codex')
  const opencode = join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'opencode')
  return [
    join(claudeFolder(env), 'projects'),
    join(env.XDG_CONFIG_HOME || join(home, '.config'), 'claude', 'projects'),
    join(codex, 'sessions'),
    join(codex, 'archived_sessions'),
    join(home, '.gemini', 'tmp'),
    join(opencode, 'storage'),
    join(opencode, 'opencode.db'),
  ]
}

/** Variables that change where files are: a program started outside of the user's shell needs them again. */
export const FOLDER_VARIABLES = [
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  'XDG_DATA_HOME',
  'CLAUDE_CONFIG_DIR',
  'CODEX_HOME',
] as const
