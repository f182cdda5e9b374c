import { homedir } from 'node:os'
import { join } from 'node:path'

/** The variables of the process's environment. */
export type Environment = Record<string, string | undefined>

/** The user's home folder: HOME where it is set, since Bun's `homedir` keeps what it was at the start. */
export const homeOf = (env: Environment): string => env.HOME || homedir()

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

/** Where Claude Code keeps its settings and transcripts. */
export const claudeFolder = (env: Environment): string =>
  env.CLAUDE_CONFIG_DIR || join(homeOf(env), '.claude')

/** Where coding agents keep their sessions on this machine, whether or not a folder exists. */
export function agentFolders(env: Environment): string[] {
  const data = env.XDG_DATA_HOME || join(homeOf(env), '.local', 'share')
  return [
    join(claudeFolder(env), 'projects'),
    join(env.CODEX_HOME || join(homeOf(env), '.codex'), 'sessions'),
    join(homeOf(env), '.gemini', 'tmp'),
    join(data, 'opencode', 'storage'),
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
