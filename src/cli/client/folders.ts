import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

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
const roaming = (env: Environment): string => env.APPDATA || join(homeOf(env), 'AppData', 'Roaming')
const local = (env: Environment): string => env.LOCALAPPDATA || join(homeOf(env), 'AppData', 'Local')

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

/** Coding agents keep their sessions in these places on this machine, whether or not a folder or file exists. */
export function agentFolders(env: Environment, platform: NodeJS.Platform = process.platform): string[] {
  const home = homeOf(env)
  const codex = env.CODEX_HOME || join(home, '.codex')
  const data = env.XDG_DATA_HOME || join(home, '.local', 'share')
  return [
    join(claudeFolder(env), 'projects'),
    join(env.XDG_CONFIG_HOME || join(home, '.config'), 'claude', 'projects'),
    ...coworkFolders(env, platform),
    join(codex, 'sessions'),
    join(codex, 'archived_sessions'),
    join(home, '.gemini', 'tmp'),
    ...opencodeFolders('opencode', env.OPENCODE_DB, data),
    ...opencodeFolders('kilo', undefined, data),
    join(env.COPILOT_HOME || join(home, '.copilot'), 'session-state'),
    join(env.QWEN_RUNTIME_DIR || env.QWEN_HOME || join(home, '.qwen'), 'projects'),
    join(env.PI_CODING_AGENT_DIR || join(home, '.pi', 'agent'), 'sessions'),
    join(home, '.omp', 'agent', 'sessions'),
    join(home, '.factory', 'sessions'),
    join(data, 'amp', 'threads'),
    gooseDatabase(env, data, platform),
    ...clineFolders(env),
    ...editorFolders(env, data, platform),
  ]
}

/** Claude's desktop program keeps the sessions of its agent in its own folder; on Windows it may be one from the Store. */
const coworkFolders = (env: Environment, platform: NodeJS.Platform): string[] =>
  [
    programFolder(env, platform),
    ...(platform === 'win32'
      ? [join(local(env), 'Packages', 'Claude_pzs8sxrjxfjjc', 'LocalCache', 'Roaming')]
      : []),
  ].map((folder) => join(folder, 'Claude', 'local-agent-mode-sessions'))

/** Programs with a window keep their files here. */
export function programFolder(env: Environment, platform: NodeJS.Platform): string {
  if (platform === 'darwin') return join(homeOf(env), 'Library', 'Application Support')
  return platform === 'win32' ? roaming(env) : env.XDG_CONFIG_HOME || join(homeOf(env), '.config')
}

/** OpenCode's folder and databases: versions other than the stable ones have their own, as `opencode-next.db`. */
function opencodeFolders(name: string, database: string | undefined, data: string): string[] {
  const folder = join(data, name)
  const others = names(folder).filter((each) => each.startsWith(`${name}-`) && each.endsWith('.db'))
  const named = database && database !== ':memory:' ? [resolve(folder, database)] : []
  return [
    join(folder, 'storage'),
    join(folder, `${name}.db`),
    ...others.map((each) => join(folder, each)),
    ...named,
  ]
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

function gooseDatabase(env: Environment, data: string, platform: NodeJS.Platform): string {
  const root = env.GOOSE_PATH_ROOT || (platform === 'win32' && join(roaming(env), 'Block', 'goose'))
  return join(root ? join(root, 'data') : join(data, 'goose'), 'sessions', 'sessions.db')
}

/** Folders of Cline's program, and of its newer extension. */
function clineFolders(env: Environment): string[] {
  const data = env.CLINE_DATA_DIR || join(env.CLINE_DIR || join(homeOf(env), '.cline'), 'data')
  return [env.CLINE_SESSION_DATA_DIR || join(data, 'sessions'), join(data, 'tasks')]
}

/** Editors that run the extensions of Visual Studio Code, and extensions that keep tasks in them. */
const EDITORS = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf']
const EXTENSIONS = ['saoudrizwan.claude-dev', 'rooveterinaryinc.roo-cline', 'kilocode.kilo-code']

function editorFolders(env: Environment, data: string, platform: NodeJS.Platform): string[] {
  const programs = programFolder(env, platform)
  const storage = (editor: string) => join(programs, editor, 'User', 'globalStorage')
  const zed = { darwin: join(programs, 'Zed'), win32: join(local(env), 'Zed') }[String(platform)]
  return [
    ...EDITORS.flatMap((editor) => EXTENSIONS.map((name) => join(storage(editor), name, 'tasks'))),
    join(storage('Cursor'), 'state.vscdb'),
    join(zed ?? join(data, 'zed'), 'threads', 'threads.db'),
  ]
}

/** Variables that change where files are: a program started outside of the user's shell needs them again. */
export const FOLDER_VARIABLES = [
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  'XDG_DATA_HOME',
  'CLAUDE_CONFIG_DIR',
  'CODEX_HOME',
  'COPILOT_HOME',
  'QWEN_HOME',
  'QWEN_RUNTIME_DIR',
  'PI_CODING_AGENT_DIR',
  'GOOSE_PATH_ROOT',
  'CLINE_DIR',
  'CLINE_DATA_DIR',
  'CLINE_SESSION_DATA_DIR',
] as const
