// Lists the agents that have a hook before a prompt, and where their settings are. All of them give it JSON with `cwd` and read
// the same answer.

import { join } from 'node:path'
import { OperatorError } from '../../base/errors.ts'
import { shellWord } from '../../base/text.ts'
import { claudeFolder, type Environment, homeOf } from '../client/folders.ts'

/** The value of a hook. Claude Code starts a program with `args` itself, without a shell, of which Windows may have any. */
export interface HookValue {
  command: string
  args?: readonly string[]
  /** Seconds, or milliseconds, that the agent waits for a hook, which ends at once. */
  timeout: number
}

export interface HookedAgent {
  name: string
  /** The variable that names another folder. */
  variable?: string
  folder: (env: Environment) => string
  file: string
  /** The event before a prompt. */
  event: string
  valueOf: (words: readonly [string, ...string[]]) => HookValue
}

const TIMEOUT_S = 5

const inShell =
  (timeout: number): HookedAgent['valueOf'] =>
  (words) => {
    if (process.platform === 'win32')
      throw new OperatorError('on Windows only the hook of Claude Code is known: nothing is changed')
    return { command: words.map(shellWord).join(' '), timeout }
  }

export const AGENTS = {
  'claude-code': {
    name: 'Claude Code',
    variable: 'CLAUDE_CONFIG_DIR',
    folder: claudeFolder,
    file: 'settings.json',
    event: 'UserPromptSubmit',
    valueOf: ([command, ...args]) => ({ command, args, timeout: TIMEOUT_S }),
  },
  codex: {
    name: 'Codex',
    variable: 'CODEX_HOME',
    folder: (env) => env.CODEX_HOME || join(homeOf(env), '.codex'),
    file: 'hooks.json',
    event: 'UserPromptSubmit',
    valueOf: inShell(TIMEOUT_S),
  },
  gemini: {
    name: 'Gemini CLI',
    folder: (env) => join(homeOf(env), '.gemini'),
    file: 'settings.json',
    event: 'BeforeAgent',
    valueOf: inShell(TIMEOUT_S * 1_000),
  },
  qwen: {
    name: 'Qwen Code',
    variable: 'QWEN_HOME',
    folder: (env) => env.QWEN_HOME || join(homeOf(env), '.qwen'),
    file: 'settings.json',
    event: 'UserPromptSubmit',
    valueOf: inShell(TIMEOUT_S * 1_000),
  },
} as const satisfies Record<string, HookedAgent>
