import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../base/errors.ts'
import { claudeFolder, type Environment } from '../client/folders.ts'
import { installEntry, realPath, type SettingsEntry, uninstallEntry } from '../client/settings-file.ts'
import { deleteBudgets, deleteState } from '../client/state-files.ts'
import type { Context } from '../command/context.ts'
import { programWords } from '../command/program-words.ts'
import { addHook, findHook, groupOf, readSettings, removeHooks } from './settings-hook.ts'

// The hooks in the settings of Claude Code: one sends sessions when one of them has ended, one asks for budgets before a prompt.

/** Seconds that Claude Code waits for a hook, which ends at once. */
const TIMEOUT_S = 5

/** The record of the hook that sends sessions. */
export const SYNC_RECORD = { record: 'hook-claude-code.json' }

const KINDS = {
  sync: {
    ...{ run: 'run', event: 'SessionEnd', ...SYNC_RECORD },
    does: 'sessions are sent when one of Claude Code has ended',
  },
  budget: {
    ...{ run: 'budget', event: 'UserPromptSubmit', record: 'hook-claude-code-budget.json' },
    does: 'budgets are looked at before each prompt of Claude Code',
  },
}

interface Options {
  yes?: boolean
  budget?: boolean
}

function entryOf(env: Environment, { budget = false }: Options): SettingsEntry {
  const path = settingsPath(env)
  const { run, event, does, record } = KINDS[budget ? 'budget' : 'sync']
  const [command, ...words] = programWords()
  const own = ['hook', run, 'claude-code']
  const entry = { command, args: [...words, ...own] }
  const hook = { event, run: own.join(' '), value: { ...entry, timeout: TIMEOUT_S } }
  return {
    ...{ path, name: 'the hook', does, record, entry },
    shown: `hooks.${event} in ${path}:\n${JSON.stringify(groupOf(hook), null, 2)}`,
    find(text) {
      if (text === '') return undefined
      readSettings(text, path, event)
      const found = findHook(text, hook)
      return found && { command: found.value.command, args: found.value.args }
    },
    add: (text) => addHook(text === '' ? '{}\n' : text, path, hook),
    remove: (text) => removeHooks(text, path, hook),
  }
}

/** `hook install claude-code`: shows the change and makes it. Throws OperatorError without a login and for settings that cannot be read. */
export async function installHook(context: Context, options: Options): Promise<void> {
  await installEntry(context, entryOf(context.env, options), options.yes === true)
}

/**
 * `hook uninstall claude-code`: leaves the settings as they were before `install`, or takes only the hook out; deletes what is
 * remembered of servers, with --budget of budgets only.
 */
export async function uninstallHook(context: Context, options: Options): Promise<void> {
  const entry = entryOf(context.env, options)
  if (options.budget === true) deleteBudgets(context.env)
  else deleteState(context.env)
  await uninstallEntry(context, entry)
}

/** Claude Code's settings of the user. */
function settingsPath(env: Environment): string {
  const folder = claudeFolder(env)
  if (existsSync(folder)) return realPath(join(folder, 'settings.json'))
  throw new OperatorError(
    `${folder} does not exist: is Claude Code installed? CLAUDE_CONFIG_DIR names another folder`,
  )
}
